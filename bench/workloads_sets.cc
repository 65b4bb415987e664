/// W4 to W7: many partial matches that wait together.
#include "bench/workloads.h"

namespace cepd::bench {

void run_w4(const Context& context) {
  // Of the whole stream with NO SKIP, by the reference program of the other engines' benchmarks.
  struct Size {
    std::int64_t window;
    std::optional<std::uint64_t> matches;
  };
  std::vector<Size> sizes{{100, 45'404}, {1'000, 4'686'805}, {10'000, 470'496'265}, {100'000, std::nullopt}};
  if (context.options.quick) sizes.resize(2);
  const bool whole = context.options.events == 2'000'000;
  const Input input(abc::stream(context.options.events));
  // Update: one match is listed at each C. Listing: all of them are.
  for (const Policy policy : {Policy::kConsume, Policy::kNoSkip}) {
    std::optional<CaseBase> smallest;
    for (const Size& size : sizes) {
      const std::int64_t within_ms = size.window - 1;  // of N events from first to last
      std::string rule = "RULE w4 MATCH A THEN ANY B THEN ANY C WITHIN " + std::to_string(within_ms) + "ms";
      if (policy == Policy::kNoSkip) rule += " AFTER MATCH NO SKIP";
      const double rate =
          run_case(context,
                   {"w4",
                    (policy == Policy::kNoSkip ? "list all, window " : "update, window ") + std::to_string(size.window),
                    {rule},
                    input,
                    [&](Rows rows) { return loop_w4(rows, policy, within_ms); },
                    whole && policy == Policy::kNoSkip ? size.matches : std::nullopt},
                   smallest);
      if (!smallest) smallest = CaseBase{"window_100", rate};
    }
  }
}

void run_w5(const Context& context) {
  std::vector<std::size_t> sizes{100, 10'000, 100'000, 1'000'000};
  if (context.options.quick) sizes = {100, 1'000};
  const std::size_t timed = context.options.events / 2;
  std::optional<CaseBase> smallest;
  for (const std::size_t live : sizes) {
    const std::size_t window = live * 10 / 9;  // nine events of ten start a partial match
    const Input input(one_key::stream(window + timed + 1));
    const auto within_ms = static_cast<std::int64_t>(window);
    const double rate = run_filled(context,
                                   {"w5", std::to_string(live) + " partial matches",
                                    "RULE w5 KEY merchant MATCH open THEN step THEN close WITHIN " +
                                        std::to_string(within_ms) + "ms AFTER MATCH NO SKIP",
                                    input, window, 1, [&](Rows rows) { return loop_w5(rows, within_ms); }},
                                   smallest);
    if (!smallest) smallest = CaseBase{"100 of them", rate};
  }
}

void run_w6(const Context& context) {
  std::vector<std::size_t> sizes{100, 10'000, 100'000};
  if (context.options.quick) sizes = {100, 1'000};
  const auto run = [&](const std::string& what, Stream (*stream)(std::size_t, std::size_t, std::uint64_t),
                       std::uint64_t seed, const std::string& next, std::uint64_t (*loop)(Rows)) {
    std::optional<CaseBase> smallest;
    for (const std::size_t open : sizes) {
      const Input input(stream(open, open + context.options.events / 2, seed));
      const double rate =
          run_filled(context,
                     {"w6", std::to_string(open) + " open " + what,
                      "RULE w6 KEY merchant MATCH order AS o THEN " + next + " WITHIN 1h AFTER MATCH NO SKIP", input,
                      open, 0, loop},
                     smallest);
      if (!smallest) smallest = CaseBase{"100 of them", rate};
    }
  };
  run("orders", orders::stream, orders::kSeed, "payment[order_id = o.order_id]", loop_w6);
  run("limits", limits::stream, limits::kSeed, "trade[price >= o.price]", loop_w6_limits);
}

void run_w7(const Context& context) {
  const Input input(ticks::stream(context.options.events));
  run_case(context, {"w7",
                     "avg and sum over a repeat",
                     {"RULE w7 KEY symbol MATCH tick[volume > 500] AS spike "
                      "THEN tick[price > coalesce(avg(up.price), spike.price)]+ AS up "
                      "THEN tick[price < spike.price] AS drop WITHIN 5m "
                      "HAVING sum(up.volume) > 1000 AND count(up) >= 2 AFTER MATCH NO SKIP"},
                     input,
                     loop_w7});
}

}  // namespace cepd::bench
