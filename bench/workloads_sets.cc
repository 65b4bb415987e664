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
      std::string rule = "RULE w4 MATCH A THEN ANY B THEN ANY C WITHIN ";
      rule += within_ms >= 1000 ? std::to_string(within_ms / 1000) + "s" : "";
      rule += std::to_string(within_ms % 1000) + "ms";
      if (policy == Policy::kNoSkip) rule += " AFTER MATCH NO SKIP";
      const CaseRates rates =
          run_case(context,
                   {"w4",
                    (policy == Policy::kNoSkip ? "list all, window " : "update, window ") + std::to_string(size.window),
                    {rule},
                    input,
                    [&](Rows rows) { return loop_w4(rows, policy, within_ms); },
                    whole && policy == Policy::kNoSkip ? size.matches : std::nullopt},
                   smallest);
      if (!smallest) smallest = CaseBase{"window_100", rates.memory};
    }
  }
}

}  // namespace cepd::bench
