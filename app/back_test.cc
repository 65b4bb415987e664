#include "app/back_test.h"

#include <algorithm>
#include <cstdio>
#include <iostream>
#include <map>

#include "app/rule_messages.h"

namespace cepd::app {
namespace {

/// What makes a match the same under both sets: rule, kind, key, time and the events bound. Names of elements and what
/// is emitted may change.
std::string identity(const Match& match) {
  std::string out(match_kind_name(match.kind));
  out += '\0' + match.rule + '\0';
  for (const auto& [path, value] : match.key) append_canonical(out, value);
  out += '\0' + std::to_string(to_us(match.time));
  std::vector<std::string> events;
  for (const Binding& binding : match.bindings) {
    for (const EventPtr& event : binding.events) {
      events.push_back(event->maker() != nullptr ? to_string(*event->maker()) : std::to_string(event->position.offset));
    }
  }
  std::sort(events.begin(), events.end());
  for (const std::string& event : events) out += '\0' + event;
  return out;
}

/// Matches of one set that the other has not reported (yet).
class Differences {
 public:
  struct One {
    char sign;
    EventTime time;
    std::string rule, line;
  };

  void add(char sign, const Match& match, EventsForm form) {
    auto& same = open_[identity(match)];
    if (!same.empty() && same.back().sign != sign) {
      same.pop_back();
      return;
    }
    // After the brace: one object still, and the change stands first.
    std::string line = to_json(match, form);
    line.replace(0, 1, std::string("{\"change\":\"") + sign + "\",");
    same.push_back({sign, match.time, match.rule, std::move(line)});
  }

  /// By time; of one time the new ones first.
  std::vector<One> take() {
    std::vector<One> out;
    for (auto& [id, list] : open_) std::move(list.begin(), list.end(), std::back_inserter(out));
    open_.clear();
    std::stable_sort(out.begin(), out.end(),
                     [](const One& a, const One& b) { return a.time != b.time ? a.time < b.time : a.sign < b.sign; });
    return out;
  }

 private:
  std::map<std::string, std::vector<One>> open_;
};

/// One row of the table.
struct Row {
  const engine::RuleCounts* before = nullptr;
  const engine::RuleCounts* after = nullptr;
  std::uint64_t gone = 0, come = 0;
};

std::string pair_text(const Row& row, std::uint64_t engine::RuleCounts::*count) {
  const auto text = [&](const engine::RuleCounts* counts) {
    return counts == nullptr ? std::string("-") : std::to_string(counts->*count);
  };
  return text(row.before) + " -> " + text(row.after);
}

void print_table(const std::map<std::string, Row>& rows) {
  std::size_t width = 4;
  for (const auto& [rule, row] : rows) width = std::max(width, rule.size());
  const auto line = [&](const std::string& rule, const std::string& matches, const std::string& timeouts,
                        const std::string& limit, const std::string& come, const std::string& gone,
                        const std::string& note) {
    std::fprintf(stderr, "%-*s %18s %18s %18s %9s %9s%s\n", static_cast<int>(width), rule.c_str(), matches.c_str(),
                 timeouts.c_str(), limit.c_str(), come.c_str(), gone.c_str(), note.c_str());
  };
  line("rule", "matches", "timeouts", "by LIMIT", "+", "-", "");
  for (const auto& [rule, row] : rows) {
    line(rule, pair_text(row, &engine::RuleCounts::matches), pair_text(row, &engine::RuleCounts::timeouts),
         pair_text(row, &engine::RuleCounts::suppressed), std::to_string(row.come), std::to_string(row.gone),
         row.before == nullptr  ? "  added"
         : row.after == nullptr ? "  removed"
                                : "");
  }
}

}  // namespace

int back_test(const ReplayArguments& arguments, const InputOptions& options) {
  const auto after = load_network(arguments.rules, TestFiles::kLeaveOut, arguments.config);
  const auto before = load_network(arguments.against, TestFiles::kLeaveOut, arguments.config);
  if (!after || !before) return kFailed;

  Differences differences;
  BadLines bad(arguments.events.input);
  std::uint64_t bad_before = 0, late = 0;
  const EventsForm form = arguments.full_events ? EventsForm::kFull : EventsForm::kLines;
  FileRun run_after(after, options,
                    {[&](const MatchPtr& match) { differences.add('+', *match, form); },
                     [&](const Event&) { ++late; },
                     [&](std::int64_t line, const adapters::DecodeError& error) { bad.note(line, error); },
                     {}});
  FileRun run_before(before, options,
                     {[&](const MatchPtr& match) { differences.add('-', *match, form); },
                      [](const Event&) {},
                      [&](std::int64_t, const adapters::DecodeError&) { ++bad_before; },
                      {}});
  const bool read = for_each_line("replay", arguments.events.input, [&](const adapters::Message& message) {
    run_after.take(message);
    run_before.take(message);
  });
  if (!read) return kFailed;
  run_after.finish();
  run_before.finish();

  const auto counts_after = run_after.engine().counts(), counts_before = run_before.engine().counts();
  std::map<std::string, Row> rows;
  for (const engine::RuleCounts& each : counts_after) rows[each.rule].after = &each;
  for (const engine::RuleCounts& each : counts_before) rows[each.rule].before = &each;
  const auto all = differences.take();
  for (const Differences::One& one : all) {
    std::cout << one.line << "\n";
    ++(one.sign == '+' ? rows[one.rule].come : rows[one.rule].gone);
  }
  std::cerr << run_after.engine().events() << " events";
  if (bad.count() > 0) std::cerr << ", " << bad.count() << " bad lines";
  if (bad.count() != bad_before) std::cerr << " (" << bad_before << " by the older rules)";
  if (late > 0) std::cerr << ", " << late << " late";
  std::cerr << "\n";
  print_table(rows);
  if (arguments.strict && bad.count() > 0) return kBadInput;
  return arguments.fail_on_change && !all.empty() ? kFailed : kGood;
}

}  // namespace cepd::app
