#include "bench/workloads.h"

namespace cepd::bench {
namespace {

constexpr double kMega = 1 << 20;

struct Repeated {
  Spread rate;
  Stretch last;
};

/// The share of a CPU that it had: under 1 on one lane when other programs were in the way.
double cpu_share(const Stretch& stretch) { return stretch.cpu_s / stretch.seconds; }

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

}  // namespace

CaseRates run_case(const Context& context, const RuleCase& rule_case, const std::optional<CaseBase>& base) {
  const auto& [stream, lines] = rule_case.input;
  const Load loaded = load(rule_case.files);
  const unsigned times = context.options.repeat;
  double peak_mb = 0;
  Repeated from_memory;
  {
    const Events events = decode_all(lines, loaded.network->fields());
    reset_peak();
    const std::size_t before = resident_bytes();
    from_memory = repeat(times, [&, &lines = lines] {
      EngineRun run(loaded.network, context.options);
      Limit limit(context.options);
      return run.push(events, 0, lines.size(), limit);
    });
    peak_mb = static_cast<double>(peak_resident_bytes() - before) / kMega;
  }

  double live = 0, bytes = 0;
  const Repeated from_json = repeat(times, [&, &lines = lines] {
    const std::size_t before = bytes_in_use();
    EngineRun run(loaded.network, context.options);
    Limit limit(context.options);
    const Stretch stretch = run.push(lines, 0, lines.size(), limit);
    live = static_cast<double>(run.partial_matches());
    bytes = static_cast<double>(bytes_in_use()) - static_cast<double>(before);
    return stretch;
  });

  // The loop works what the engine got done.
  const Rows rows = Rows(stream.rows).first(from_memory.last.events);
  const Repeated loop = repeat(times, [&] {
    Stopwatch watch;
    Stretch stretch;
    stretch.matches = rule_case.loop(rows);
    stretch.seconds = watch.seconds();
    stretch.events = rows.size();
    return stretch;
  });
  Result line{
      rule_case.workload, rule_case.variant, "loop", rows.size(), loop.rate, "", 0, loop.last.matches, {}, {}, {}};
  if (rows.size() == stream.rows.size()) line.expected = rule_case.known_matches;
  context.report.add(line);

  line.mode = "memory";
  line.rate = from_memory.rate;
  line.base = "loop";
  line.ratio = from_memory.rate.median / loop.rate.median;
  line.matches = from_memory.last.matches;
  line.expected = loop.last.matches;
  line.stopped = from_memory.last.stopped;
  line.figures = {{"cpu_share", cpu_share(from_memory.last)}, {"peak_mb", peak_mb}};
  // Where listing them is what takes the time.
  if (line.matches > line.events) {
    line.figures.emplace_back("ns_per_match", from_memory.last.seconds * 1e9 / static_cast<double>(line.matches));
  }
  if (base) line.figures.emplace_back("rate_against_" + base->name, from_memory.rate.median / base->rate);
  context.report.add(line);

  line.mode = "json";
  line.events = from_json.last.events;
  line.rate = from_json.rate;
  line.base = "memory";
  line.ratio = from_json.rate.median / from_memory.rate.median;
  line.matches = from_json.last.matches;
  line.expected = from_json.last.events == rows.size() ? loop.last.matches
                                                       : rule_case.loop(Rows(stream.rows).first(from_json.last.events));
  line.stopped = from_json.last.stopped;
  line.figures = {{"cpu_share", cpu_share(from_json.last)}, {"partial_matches", live}, {"state_mb", bytes / kMega}};
  if (live > 0) line.figures.emplace_back("bytes_per_partial_match", bytes / live);
  context.report.add(line);
  return {loop.rate.median, from_memory.rate.median, from_json.rate.median};
}

}  // namespace cepd::bench
