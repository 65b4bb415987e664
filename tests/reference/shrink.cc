#include "tests/reference/shrink.h"

#include <algorithm>

#include "dsl/parse.h"
#include "dsl/print.h"

namespace cepd::reference {

std::vector<Trial> simpler_inputs(const Trial& trial) {
  std::vector<Trial> out;
  const auto with = [&](auto change) {
    out.push_back(trial);
    change(out.back());
  };
  for (std::size_t i = 0; i < trial.input.size(); ++i) {
    with([&](Trial& t) { t.input.erase(t.input.begin() + static_cast<std::ptrdiff_t>(i)); });
  }
  if (!trial.max_delay.empty()) {
    with([](Trial& t) {  // one source, in order
      t.max_delay.clear();
      std::stable_sort(t.input.begin(), t.input.end(),
                       [](const Given& a, const Given& b) { return a.time_us < b.time_us; });
      for (std::size_t i = 0; i < t.input.size(); ++i) {
        t.input[i].source = std::string("s");
        t.input[i].partition = 0;
        t.input[i].offset = static_cast<std::int64_t>(i);
      }
    });
  }
  for (std::size_t i = 0; i < trial.input.size(); ++i) {
    for (const auto& [name, value] : trial.input[i].fields) with([&](Trial& t) { t.input[i].fields.erase(name); });
    // Whole seconds apart, in order.
    const std::int64_t before = i == 0 ? 0 : trial.input[i - 1].time_us;
    for (const std::int64_t gap :
         {i == 0 ? std::int64_t{0} : std::int64_t{1'000'000}, trial.input[i].time_us - before - 1'000'000}) {
      const std::int64_t shift = trial.input[i].time_us - before - gap;
      if (shift <= 0 || gap < 0) continue;
      with([&](Trial& t) {
        for (std::size_t k = i; k < t.input.size(); ++k) t.input[k].time_us -= shift;
      });
    }
  }
  return out;
}

Trial with_rule(const Trial& trial, const dsl::ast::Rule& rule) {
  Trial out = trial;
  out.rules = dsl::parse("random.rules", dsl::print(rule) + "\n").file;
  return out;
}

Trial shrunk(Trial trial, const std::function<bool(const Trial&)>& fails) {
  for (bool smaller = true; smaller;) {
    smaller = false;
    for (const dsl::ast::Rule& rule : simpler_rules(std::get<dsl::ast::Rule>(trial.rules.statements.front()))) {
      Trial candidate = with_rule(trial, rule);
      if (!refusal(candidate.rules.text).empty() || !fails(candidate)) continue;
      trial = std::move(candidate);
      smaller = true;
      break;
    }
    if (smaller) continue;
    for (Trial& candidate : simpler_inputs(trial)) {
      if (!fails(candidate)) continue;
      trial = std::move(candidate);
      smaller = true;
      break;
    }
  }
  return trial;
}

}  // namespace cepd::reference
