#include "bench/isolated.h"

namespace cepd::bench {
namespace {

/// Fills a new engine, then times the rest.
struct Filled {
  Stretch fill, timed, last;
  StateSize state;
};

template <class Source>
Filled run_once(const Context& context, const FilledCase& filled_case, const Load& loaded, const Source& source) {
  Filled out;
  const std::size_t before = bytes_in_use();
  EngineRun run(loaded.network, context.options);
  const std::size_t end = filled_case.input.lines.size() - filled_case.last;
  Limit limit(context.options);
  out.fill = run.push(source, 0, filled_case.fill, limit);
  if (out.fill.stopped.empty()) out.timed = run.push(source, filled_case.fill, end, limit);
  out.state = state_size(run, before);
  if (out.fill.stopped.empty() && out.timed.stopped.empty() && filled_case.last > 0) {
    out.last = run.push(source, end, end + filled_case.last, limit);
  }
  return out;
}

/// What a single event may take, expired partial matches and all: filled once more, then each push timed, in µs.
Percentiles single_pushes(const Context& context, const FilledCase& filled_case, const Load& loaded,
                          const Events& events) {
  EngineRun run(loaded.network, context.options);
  Limit limit(context.options);
  if (!run.push(events, 0, filled_case.fill, limit).stopped.empty()) return {};
  return percentiles_of(run.push_each_timed(events, filled_case.fill, events.size() - filled_case.last, limit));
}

template <class Source>
Result measure(const Context& context, const FilledCase& filled_case, const Load& loaded, const Source& source,
               const std::string& mode) {
  std::vector<double> rates;
  std::optional<StateSize> state;  // of the first run: pools are full afterwards
  Filled last;
  for (unsigned i = 0; i < context.options.repeat; ++i) {
    last = run_once(context, filled_case, loaded, source);
    rates.push_back(last.timed.rate());
    if (!state) state = last.state;
    if (!last.fill.stopped.empty() || !last.timed.stopped.empty()) break;
  }
  Result line{filled_case.workload, filled_case.variant, mode};
  line.events = last.timed.events;
  line.rate = spread_of(rates);
  line.matches = last.fill.matches + last.timed.matches + last.last.matches;
  line.expected = filled_case.loop(
      Rows(filled_case.input.stream.rows).first(last.fill.events + last.timed.events + last.last.events));
  line.stopped = last.fill.stopped.empty() ? last.timed.stopped : last.fill.stopped + " while filling";
  line.figures = {{"fill_events", static_cast<double>(last.fill.events)}, {"fill_s", last.fill.seconds}};
  add_cpu(line, last.timed);
  if (last.last.matches > 0) {
    line.figures.emplace_back("ns_per_match", last.last.seconds * 1e9 / static_cast<double>(last.last.matches));
  }
  // From memory the events are not the engine's alone.
  if (mode == "json") state->add_to(line);
  return line;
}

double run_here(const Context& context, const FilledCase& filled_case, const std::optional<CaseBase>& base) {
  const Load loaded = load({filled_case.rule});
  const Result json = measure(context, filled_case, loaded, filled_case.input.lines, "json");
  const Events events = decode_all(filled_case.input.lines, loaded.network->fields());
  Result memory = measure(context, filled_case, loaded, events, "memory");
  set_base(memory, base);
  const Percentiles pushes = single_pushes(context, filled_case, loaded, events);
  if (pushes.count > 0) {
    memory.figures.emplace_back("push_p50_us", pushes.p50);
    memory.figures.emplace_back("push_p999_us", pushes.p999);
    memory.figures.emplace_back("push_max_us", pushes.max);
  }
  context.report.add(memory);
  context.report.add(json);
  return memory.rate.median;
}

}  // namespace

double run_filled(const Context& context, const FilledCase& filled_case, const std::optional<CaseBase>& base) {
  return isolated(context, filled_case.workload, filled_case.variant,
                  [&](const Context& inside) { return run_here(inside, filled_case, base); });
}

}  // namespace cepd::bench
