/// cepd replay: a file through the rules, matches to standard output (language.md section 9).

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <iostream>
#include <vector>

#include "app/back_test.h"
#include "app/commands.h"
#include "app/file_run.h"
#include "app/made_types.h"
#include "app/rule_messages.h"

namespace cepd::app {
namespace {

struct Replay {
  const ReplayArguments& arguments;
  std::shared_ptr<const nfa::Network> network;
  FileRun run;
  std::string out;  // lines not yet written
  BadLines bad;
  std::uint64_t late = 0;
  std::vector<std::uint64_t> late_by_rule;  // events of a type that the rule names
  MadeTypes made_types;

  Replay(const ReplayArguments& args, std::shared_ptr<const nfa::Network> rules, const InputOptions& options)
      : arguments(args),
        network(std::move(rules)),
        run(network, options,
            {[this](MatchPtr match) { print(*match); }, [this](const Event& event) { note_late(event); },
             [this](std::int64_t line, const adapters::DecodeError& error) { bad.note(line, error); },
             [this](const Event& event) { warn_of_made(event); }}),
        bad(args.events.input),
        late_by_rule(network->rules().rules.size()) {}

  void print(const Match& match) {
    out += to_json(match, arguments.full_events ? EventsForm::kFull : EventsForm::kLines);
    out += '\n';
    if (out.size() > 1 << 16) flush();
  }
  void flush() {
    std::cout.write(out.data(), static_cast<std::streamsize>(out.size()));
    std::cout.flush();
    out.clear();
  }
  void note_late(const Event& event) {
    ++late;
    for (const nfa::RuleInput& input : network->inputs(event.type)) ++late_by_rule[input.rule];
  }
  void warn_of_made(const Event& event) {
    if (const auto warning = made_types.from_source(*network, event.type)) {
      std::cerr << arguments.events.input << ":" << event.position.offset + 1 << ": warning: " << *warning << "\n";
    }
  }
};

void print_summary(const Replay& replay) {
  std::cerr << replay.run.engine().events() << " events";
  if (replay.bad.count() > 0) std::cerr << ", " << replay.bad.count() << " bad lines";
  if (replay.late > 0) std::cerr << ", " << replay.late << " late";
  std::cerr << "\n";
  const auto counts = replay.run.engine().counts();
  std::size_t width = 4;
  for (const engine::RuleCounts& each : counts) width = std::max(width, each.rule.size());
  std::fprintf(stderr, "%-*s %9s %9s %9s %9s %9s %9s\n", static_cast<int>(width), "rule", "matches", "timeouts",
               "by HAVING", "by policy", "by LIMIT", "late");
  for (std::size_t i = 0; i < counts.size(); ++i) {
    const engine::RuleCounts& each = counts[i];
    std::fprintf(stderr, "%-*s %9llu %9llu %9llu %9s %9llu %9llu\n", static_cast<int>(width), each.rule.c_str(),
                 static_cast<unsigned long long>(each.matches), static_cast<unsigned long long>(each.timeouts),
                 static_cast<unsigned long long>(each.by_having), each.by_policy_text().c_str(),
                 static_cast<unsigned long long>(each.suppressed),
                 static_cast<unsigned long long>(replay.late_by_rule[i]));
  }
  for (const engine::RuleCounts& each : counts) {
    if (each.expression_errors > 0) {
      std::cerr << each.rule << ": " << each.expression_errors
                << " conditions or values were unknown because of unlike types, overflow or division by zero\n";
    }
    if (each.over_cap > 0)
      std::cerr << each.rule << ": " << each.over_cap << " partial matches dropped at the cap of one key\n";
  }
}

/// `counts`: at the end of the input, before time went to its end.
void print_costs(const std::vector<engine::RuleCounts>& counts) {
  std::size_t width = 4;
  for (const engine::RuleCounts& each : counts) width = std::max(width, each.rule.size());
  std::fprintf(stderr, "%-*s %12s %9s %12s %12s\n", static_cast<int>(width), "rule", "tested", "ms", "partial",
               "bytes");
  for (const engine::RuleCounts& each : counts) {
    std::fprintf(stderr, "%-*s %12llu %9.1f %12llu %12llu\n", static_cast<int>(width), each.rule.c_str(),
                 static_cast<unsigned long long>(each.tested), static_cast<double>(each.time_ns) / 1e6,
                 static_cast<unsigned long long>(each.partial_matches), static_cast<unsigned long long>(each.bytes));
  }
}

std::int64_t steady_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

}  // namespace

int replay_command(const ReplayArguments& arguments) {
  auto options = read_options("replay", arguments.events);
  if (!options) return kWrongUse;
  options->decoding.keep_raw = options->engine.keep_raw = arguments.full_events;
  options->engine.lanes = arguments.lanes;
  if (arguments.costs) options->engine.clock_ns = steady_ns;
  if (!arguments.against.empty()) return back_test(arguments, *options);

  auto network = load_network(arguments.rules, TestFiles::kLeaveOut, arguments.config);
  if (!network) return kFailed;
  Replay replay(arguments, std::move(network), *options);
  if (!for_each_line("replay", arguments.events.input, [&](const auto& message) { replay.run.take(message); })) {
    return kFailed;
  }
  std::vector<engine::RuleCounts> costs;
  if (arguments.costs) {
    replay.run.engine().flush();
    costs = replay.run.engine().counts();
  }
  replay.run.finish();
  replay.flush();
  print_summary(replay);
  if (arguments.costs) print_costs(costs);
  return arguments.strict && replay.bad.count() > 0 ? kBadInput : kGood;
}

}  // namespace cepd::app
