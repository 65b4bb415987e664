/// W1 to W3: rules with a key, on the streams that other engines were measured on.
#include "bench/workloads.h"

namespace cepd::bench {
namespace {

/// Of the whole streams with their seeds, by the reference program of the other engines' benchmarks.
constexpr std::size_t kKnownEvents = 2'000'000;
std::optional<std::uint64_t> known(const Context& context, std::uint64_t matches) {
  return context.options.events == kKnownEvents ? std::optional(matches) : std::nullopt;
}

}  // namespace

void run_w1(const Context& context) {
  const Input input(checkout::stream(context.options.events));
  const std::string rule = "RULE w1 KEY user_id MATCH cart_add THEN payment_fail WITHIN 5m";
  run_case(context, {"w1",
                     "NO SKIP",
                     {rule + " AFTER MATCH NO SKIP"},
                     input,
                     [](Rows rows) { return loop_w1(rows, Policy::kNoSkip); },
                     known(context, 246'316)});
  run_case(context,
           {"w1", "default (CONSUME)", {rule}, input, [](Rows rows) { return loop_w1(rows, Policy::kConsume); }});
}

std::string w2_rule(std::uint32_t i) {
  constexpr std::uint32_t kItems = 10'000;
  return "RULE r" + std::to_string(i) + " KEY user_id MATCH cart_add[item = \"i" + std::to_string(i % kItems) +
         "\"] THEN payment_fail[price > " + std::to_string(std::uint64_t{37} * i % 150) +
         "] WITHIN 5m AFTER MATCH NO SKIP\n";
}

std::vector<std::string> w2_files(std::uint32_t count) {
  constexpr std::size_t kFileBytes = 1'000'000;  // dsl::kMaxFileBytes is a little more
  std::vector<std::string> files(1);
  for (std::uint32_t i = 0; i < count; ++i) {
    std::string rule = w2_rule(i);
    if (files.back().size() + rule.size() > kFileBytes) files.emplace_back();
    files.back() += rule;
  }
  return files;
}

void run_w2(const Context& context) {
  struct Size {
    std::uint32_t rules;
    std::optional<std::uint64_t> matches;
  };
  std::vector<Size> sizes{{1, 30},         {10, 218},         {100, 2'138},
                          {1'000, 21'935}, {10'000, 218'239}, {100'000, std::nullopt}};
  if (context.options.quick) sizes.resize(3);
  const Input input(checkout::stream(context.options.events));
  std::optional<CaseBase> one;
  for (const Size& size : sizes) {
    const double rate = run_case(context,
                                 {"w2", std::to_string(size.rules) + (size.rules == 1 ? " rule" : " rules"),
                                  w2_files(size.rules), input, [&](Rows rows) { return loop_w2(rows, size.rules); },
                                  size.matches ? known(context, *size.matches) : std::nullopt},
                                 one);
    if (!one) one = CaseBase{"1_rule", rate};
  }
}

void run_w3(const Context& context) {
  const Input input(ticks::stream(context.options.events));
  const std::string pattern =
      "RULE w3 KEY symbol MATCH tick AS a NEXT tick[price > prev(price)]+ CONSECUTIVE AS up NEXT tick[price ";
  run_case(context, {"w3", "default (CONSUME)", {pattern + "< prev(price)] WITHIN 1m"}, input, [](Rows rows) {
                       return loop_w3(rows, Policy::kConsume, false);
                     }});
  run_case(context, {"w3", "NO SKIP", {pattern + "< prev(price)] WITHIN 1m AFTER MATCH NO SKIP"}, input, [](Rows rows) {
                       return loop_w3(rows, Policy::kNoSkip, false);
                     }});
  // The other engines' form: what does not rise ends the run.
  run_case(context, {"w3",
                     "NO SKIP, <= at the end",
                     {pattern + "<= prev(price)] WITHIN 1m AFTER MATCH NO SKIP"},
                     input,
                     [](Rows rows) { return loop_w3(rows, Policy::kNoSkip, true); },
                     known(context, 922'832)});
}

}  // namespace cepd::bench
