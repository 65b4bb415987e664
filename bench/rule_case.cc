#include <algorithm>

#include "bench/isolated.h"

namespace cepd::bench {
namespace {

constexpr double kMega = 1 << 20;

struct Repeated {
  Spread rate;
  Stretch last;
};

/// Ends after a run that was stopped: more would take as long and say no more.
template <class Once>
Repeated repeat(unsigned times, const Once& once) {
  Repeated out;
  std::vector<double> rates;
  for (unsigned i = 0; i < times && out.last.stopped.empty(); ++i) {
    out.last = once();
    rates.push_back(out.last.rate());
  }
  out.rate = spread_of(rates);
  return out;
}

void fill_in(Result& line, const Repeated& runs) {
  line.events = runs.last.events;
  line.rate = runs.rate;
  line.matches = runs.last.matches;
  line.stopped = runs.last.stopped;
  line.figures.clear();
  add_cpu(line, runs.last);
}

Repeated from_memory(const Context& context, const RuleCase& rule_case, const Load& loaded) {
  const Events events = decode_all(rule_case.input.lines, loaded.network->fields());
  return repeat(context.options.repeat, [&] {
    EngineRun run(loaded.network, context.options);
    Limit limit(context.options);
    return run.push(events, 0, events.size(), limit);
  });
}

/// Memory is told of the first run: pools are full afterwards.
struct FromJson {
  Repeated runs;
  std::optional<StateSize> state;
  double peak_mb = 0;
};
FromJson from_json(const Context& context, const RuleCase& rule_case, const Load& loaded) {
  const Lines& lines = rule_case.input.lines;
  FromJson out;
  reset_peak();
  const std::size_t resident = resident_bytes();
  out.runs = repeat(context.options.repeat, [&] {
    const std::size_t before = bytes_in_use();
    EngineRun run(loaded.network, context.options);
    Limit limit(context.options);
    const Stretch stretch = run.push(lines, 0, lines.size(), limit);
    if (!out.state) {
      out.state = state_size(run, before);
      out.peak_mb = static_cast<double>(peak_resident_bytes() - resident) / kMega;
    }
    return stretch;
  });
  return out;
}

double run_here(const Context& context, const RuleCase& rule_case, const std::optional<CaseBase>& base) {
  const Load loaded = load(rule_case.files);
  const FromJson json = from_json(context, rule_case, loaded);
  const Repeated memory = from_memory(context, rule_case, loaded);

  // Where the engine was stopped early: enough for a rate, and no more than that where the loop is slow too.
  constexpr std::size_t kEnough = 200'000;
  const Rows all(rule_case.input.stream.rows);
  const Rows rows = all.first(std::max(memory.last.events, std::min(all.size(), kEnough)));
  const Repeated loop = repeat(context.options.repeat, [&] {
    const double cpu_before = cpu_seconds();
    Stopwatch watch;
    Stretch stretch;
    stretch.matches = rule_case.loop(rows);
    stretch.seconds = watch.seconds();
    stretch.cpu_s = cpu_seconds() - cpu_before;
    stretch.events = rows.size();
    return stretch;
  });
  const auto matches_in = [&](std::size_t events) {
    return events == rows.size() ? loop.last.matches : rule_case.loop(all.first(events));
  };

  Result line{rule_case.workload, rule_case.variant, "loop"};
  fill_in(line, loop);
  if (rows.size() == all.size()) line.expected = rule_case.known_matches;
  context.report.add(line);

  line.mode = "memory";
  fill_in(line, memory);
  line.expected = matches_in(line.events);
  line.base = "loop";
  line.ratio = memory.rate.median / loop.rate.median;
  // Where listing them is what takes the time.
  if (line.matches > line.events) {
    line.figures.emplace_back("ns_per_match", memory.last.seconds * 1e9 / static_cast<double>(line.matches));
  }
  if (base) line.figures.emplace_back("rate_against_" + base->name, memory.rate.median / base->rate);
  context.report.add(line);

  line.mode = "json";
  fill_in(line, json.runs);
  line.expected = matches_in(line.events);
  line.base = "memory";
  line.ratio = json.runs.rate.median / memory.rate.median;
  line.figures.emplace_back("peak_mb", json.peak_mb);
  json.state->add_to(line);
  context.report.add(line);
  return memory.rate.median;
}

}  // namespace

void add_cpu(Result& line, const Stretch& stretch) {
  if (stretch.seconds <= 0 || stretch.cpu_s <= 0) return;
  // Of a CPU: under 1 on one lane when other programs were in the way.
  line.figures.emplace_back("cpu_share", stretch.cpu_s / stretch.seconds);
  line.figures.emplace_back("events_per_cpu_s", static_cast<double>(stretch.events) / stretch.cpu_s);
}

void set_base(Result& line, const std::optional<CaseBase>& base) {
  if (!base || base->rate <= 0) return;
  line.base = base->name;
  line.ratio = line.rate.median / base->rate;
}

StateSize state_size(const EngineRun& run, std::size_t bytes_before) {
  const auto bytes = static_cast<double>(bytes_in_use()) - static_cast<double>(bytes_before);
  return {static_cast<double>(run.partial_matches()), bytes};
}

void StateSize::add_to(Result& line) const {
  line.figures.emplace_back("partial_matches", partial_matches);
  line.figures.emplace_back("state_mb", bytes / kMega);
  if (partial_matches > 0) line.figures.emplace_back("bytes_per_partial_match", bytes / partial_matches);
}

double run_case(const Context& context, const RuleCase& rule_case, const std::optional<CaseBase>& base) {
  return isolated(context, rule_case.workload, rule_case.variant,
                  [&](const Context& inside) { return run_here(inside, rule_case, base); });
}

}  // namespace cepd::bench
