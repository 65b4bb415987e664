/// W8: how long after an event its match is told, with events coming at a steady pace.
#include <algorithm>

#include "bench/workloads.h"

namespace cepd::bench {
namespace {

constexpr const char* kRule = "RULE w8 KEY user_id MATCH cart_add THEN payment_fail WITHIN 5m AFTER MATCH NO SKIP";

/// A match, with the completing event's time to find that event by: event times are strictly increasing in the stream.
struct Told {
  EventTime time;
  Clock::time_point at;
};

struct Paced {
  std::vector<double> to_match_us;  ///< from when the completing event was due to come
  std::vector<double> to_done_us;   ///< from when an event was due to come to when it was handled; all events
};

/// An event is due at start + i / rate whatever became of those before it, and latency counts from there: a pause
/// counts for all that had to wait for its end.
template <class Next>
Paced run_paced(engine::Engine& engine, std::vector<Told>& told, Rows rows, double rate, std::size_t lanes,
                const Next& next) {
  Paced out;
  out.to_done_us.reserve(rows.size());
  const auto since = [](Clock::time_point from, Clock::time_point to) {
    return std::chrono::duration<double, std::micro>(to - from).count();
  };
  const Clock::time_point start = Clock::now();
  const auto due = [&](std::size_t i) {
    return start +
           std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(static_cast<double>(i) / rate));
  };
  for (std::size_t i = 0; i < rows.size(); ++i) {
    while (Clock::now() < due(i)) {
      // Nothing else to do: what lanes still gather is handled.
      if (lanes > 1) engine.flush();
    }
    engine.push(next(i));
    out.to_done_us.push_back(since(due(i), Clock::now()));
  }
  engine.flush();
  for (const Told& each : told) {
    const auto row = std::lower_bound(rows.begin(), rows.end(), to_us(each.time) / 1000,
                                      [](const Row& a, std::int64_t time_ms) { return a.time_ms < time_ms; });
    out.to_match_us.push_back(since(due(static_cast<std::size_t>(row - rows.begin())), each.at));
  }
  return out;
}

template <class Make>
void measure(const Context& context, const Load& loaded, const Input& input, const std::string& mode, double top_rate,
             const Make& make_next) {
  const double rate = top_rate / 2;
  // No longer than the limit.
  const auto most = static_cast<std::size_t>(rate * context.options.limit_s);
  const Rows rows = Rows(input.stream.rows).first(std::min(input.stream.rows.size(), most));
  std::vector<Told> told;
  told.reserve(rows.size());
  engine::Engine::Handlers handlers;
  handlers.match = [&](const engine::MatchView& match) { told.push_back({match.time(), Clock::now()}); };
  engine::EngineOptions engine_options;
  engine_options.lanes = context.options.lanes;
  engine::Engine engine(loaded.network, engine_options, std::move(handlers));
  const double cpu_before = cpu_seconds();
  const Stopwatch watch;
  const Paced paced = run_paced(engine, told, rows, rate, context.options.lanes, make_next());
  const double cpu_share = (cpu_seconds() - cpu_before) / watch.seconds();

  Result line{"w8", "half of the top speed", mode, rows.size()};
  line.rate = {rate, rate, rate};
  line.base = "top speed";
  line.ratio = rate / top_rate;
  line.matches = told.size();
  line.expected = loop_w1(rows, Policy::kNoSkip);
  const Percentiles match = percentiles_of(paced.to_match_us), done = percentiles_of(paced.to_done_us);
  // It waits by looking at the clock, so this is 1 when nothing else was in the way.
  line.figures = {{"cpu_share", cpu_share},      {"match_p50_us", match.p50},  {"match_p99_us", match.p99},
                  {"match_p999_us", match.p999}, {"match_max_us", match.max},  {"event_p50_us", done.p50},
                  {"event_p99_us", done.p99},    {"event_p999_us", done.p999}, {"event_max_us", done.max}};
  context.report.add(line);
}

}  // namespace

void run_w8(const Context& context) {
  const Input input(checkout::stream(context.options.events));
  const Load loaded = load({kRule});
  const auto top_rate = [&](const auto& source) {
    EngineRun run(loaded.network, context.options);
    Limit limit(context.options);
    return run.push(source, 0, input.lines.size(), limit).rate();
  };
  {
    const Events events = decode_all(input.lines, loaded.network->fields());
    measure(context, loaded, input, "memory", top_rate(events),
            [&] { return [&](std::size_t i) { return events[i]; }; });
  }
  measure(context, loaded, input, "json", top_rate(input.lines), [&] {
    return [reader = std::make_shared<LineReader>(input.lines, loaded.network->fields())](std::size_t i) {
      return reader->decode(i);
    };
  });
}

}  // namespace cepd::bench
