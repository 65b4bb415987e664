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
    with([&](Trial& t) {
      t.input.erase(t.input.begin() + static_cast<std::ptrdiff_t>(i));
      for (Reload& reload : t.reloads) reload.before -= reload.before > i ? 1 : 0;
    });
  }
  for (std::size_t i = 0; i < trial.reloads.size(); ++i) {
    with([&](Trial& t) { t.reloads.erase(t.reloads.begin() + static_cast<std::ptrdiff_t>(i)); });
    if (trial.reloads[i].change != Change::kNothing) with([&](Trial& t) { t.reloads[i].change = Change::kNothing; });
  }
  if (trial.cap) with([](Trial& t) { t.cap = std::nullopt; });
  if (trial.state_ttl) with([](Trial& t) { t.state_ttl = std::nullopt; });
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

std::vector<std::vector<dsl::ast::Statement>> simpler_files(const std::vector<dsl::ast::Statement>& statements) {
  std::vector<std::vector<dsl::ast::Statement>> out;
  for (std::size_t i = 0; i < statements.size() && statements.size() > 1; ++i) {
    out.push_back(statements);
    out.back().erase(out.back().begin() + static_cast<std::ptrdiff_t>(i));
  }
  for (std::size_t i = 0; i < statements.size(); ++i) {
    const auto* rule = std::get_if<dsl::ast::Rule>(&statements[i]);
    if (rule == nullptr) continue;
    for (dsl::ast::Rule& simpler : simpler_rules(*rule)) {
      out.push_back(statements);
      out.back()[i] = std::move(simpler);
    }
  }
  return out;
}

Trial with_rules(const Trial& trial, const std::vector<dsl::ast::Statement>& statements) {
  std::string text;
  for (const dsl::ast::Statement& statement : statements) text += dsl::print(statement) + "\n";
  Trial out = trial;
  out.rules = dsl::parse("random.rules", text).file;
  return out;
}

Trial shrunk(Trial trial, const std::function<bool(const Trial&)>& fails) {
  for (bool smaller = true; smaller;) {
    smaller = false;
    for (const auto& statements : simpler_files(trial.rules.statements)) {
      Trial candidate = with_rules(trial, statements);
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
