/// cepd replay: a file through the rules, matches to standard output (language.md section 9).

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <vector>

#include "adapters/decoder.h"
#include "app/commands.h"
#include "app/made_types.h"
#include "app/rule_messages.h"
#include "engine/engine.h"

namespace cepd::app {
namespace {

struct Replay {
  const ReplayArguments& arguments;
  std::shared_ptr<const nfa::Network> network;
  adapters::JsonDecoder decoder;
  engine::Engine engine;
  std::string out;  // lines not yet written
  std::uint64_t bad = 0, late = 0;
  std::vector<std::uint64_t> late_by_rule;  // events of a type that the rule names
  MadeTypes made_types;

  Replay(const ReplayArguments& args, std::shared_ptr<const nfa::Network> rules, adapters::DecoderOptions decoding,
         engine::EngineOptions options)
      : arguments(args),
        network(std::move(rules)),
        decoder(std::move(decoding)),
        engine(
            network, options,
            {[this](MatchPtr match) { print(*match); }, [this](const Event& event, DropReason) { note_late(event); }}),
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
  void note_bad(std::int64_t line, const adapters::DecodeError& error) {
    ++bad;
    constexpr std::uint64_t kMostShown = 20;
    if (bad <= kMostShown) {
      std::cerr << arguments.input << ":" << line + 1 << ": " << drop_reason_name(error.reason) << ": " << error.detail
                << "\n";
    } else if (bad == kMostShown + 1) {
      std::cerr << "further bad lines are only counted\n";
    }
  }
};

bool read_options(const ReplayArguments& arguments, adapters::DecoderOptions& decoding, Micros& max_delay,
                  engine::EngineOptions& options) {
  const auto unit = parse_time_unit(arguments.time_unit);
  const auto delay = parse_duration(arguments.max_delay);
  if (!unit) std::cerr << "cepd replay: --time-unit is one of s, ms, us, ns\n";
  if (!delay) std::cerr << "cepd replay: --max-delay is a duration such as 5s or 1m30s\n";
  if (!arguments.state_ttl.empty()) {
    const auto ttl = parse_duration(arguments.state_ttl);
    if (!ttl) {
      std::cerr << "cepd replay: --state-ttl is a duration such as 7d\n";
      return false;
    }
    if (ttl->count() > 0) options.state_ttl = ttl;
  }
  if (!unit || !delay) return false;
  decoding.time_unit = *unit;
  const auto type_field = field_path_of(arguments.type_field);
  const auto time_field = field_path_of(arguments.time_field);
  if (!type_field) std::cerr << "cepd replay: --type-field is a field such as type or payload.kind\n";
  if (!time_field) std::cerr << "cepd replay: --time-field is a field such as ts or payload.time\n";
  if (!type_field || !time_field) return false;
  decoding.type_field = *type_field;
  decoding.time_field = *time_field;
  decoding.keep_raw = arguments.full_events;
  options.keep_raw = arguments.full_events;
  options.lanes = arguments.lanes;
  max_delay = *delay;
  return true;
}

void print_summary(const Replay& replay) {
  std::cerr << replay.engine.events() << " events";
  if (replay.bad > 0) std::cerr << ", " << replay.bad << " bad lines";
  if (replay.late > 0) std::cerr << ", " << replay.late << " late";
  std::cerr << "\n";
  const auto counts = replay.engine.counts();
  std::size_t width = 4;
  for (const engine::RuleCounts& each : counts) width = std::max(width, each.rule.size());
  std::fprintf(stderr, "%-*s %9s %9s %9s %9s %9s %9s\n", static_cast<int>(width), "rule", "matches", "timeouts",
               "by HAVING", "by policy", "by LIMIT", "late");
  for (std::size_t i = 0; i < counts.size(); ++i) {
    const engine::RuleCounts& each = counts[i];
    std::fprintf(stderr, "%-*s %9llu %9llu %9llu %9llu %9llu %9llu\n", static_cast<int>(width), each.rule.c_str(),
                 static_cast<unsigned long long>(each.matches), static_cast<unsigned long long>(each.timeouts),
                 static_cast<unsigned long long>(each.by_having), static_cast<unsigned long long>(each.by_policy),
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

}  // namespace

int replay_command(const ReplayArguments& arguments) {
  adapters::DecoderOptions decoding;
  engine::EngineOptions options;
  Micros max_delay{0};
  if (!read_options(arguments, decoding, max_delay, options)) return kWrongUse;

  const auto network = load_network(arguments.rules, TestFiles::kLeaveOut, arguments.config);
  if (!network) return kFailed;
  std::ifstream file;
  if (arguments.input != "-") {
    file.open(arguments.input, std::ios::binary);
    std::error_code unknown;
    if (std::filesystem::is_directory(arguments.input, unknown)) {
      std::cerr << "cepd replay: " << arguments.input << " is a directory, expected a file of JSON lines\n";
      return kFailed;
    }
    if (!file) {
      std::cerr << "cepd replay: cannot read " << arguments.input << ": " << std::strerror(errno) << "\n";
      return kFailed;
    }
  }
  std::istream& in = arguments.input == "-" ? std::cin : file;

  Replay replay(arguments, network, decoding, options);
  // Not the file's name: a match keeps its id when the file moves.
  const SourceId source("input");
  replay.engine.set_max_delay(source, max_delay);
  std::vector<std::shared_ptr<Event>> all;  // of --sort
  adapters::Message message;
  for (std::int64_t line = 0; std::getline(in, message.bytes); ++line) {
    if (!message.bytes.empty() && message.bytes.back() == '\r') message.bytes.pop_back();
    if (message.bytes.find_first_not_of(" \t") == std::string::npos) continue;
    message.position = {source, 0, line};
    auto decoded = replay.decoder.decode(message, network->fields());
    if (const auto* error = std::get_if<adapters::DecodeError>(&decoded)) {
      replay.note_bad(line, *error);
      continue;
    }
    auto& event = std::get<std::shared_ptr<Event>>(decoded);
    if (const auto warning = replay.made_types.from_source(*network, event->type)) {
      std::cerr << arguments.input << ":" << line + 1 << ": warning: " << *warning << "\n";
    }
    if (arguments.sort) {
      all.push_back(std::move(event));
    } else {
      replay.engine.push(std::move(event));
    }
  }
  if (in.bad()) {
    std::cerr << "cepd replay: cannot read " << arguments.input << ": " << std::strerror(errno) << "\n";
    return kFailed;
  }
  std::stable_sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a->time < b->time; });
  for (auto& event : all) replay.engine.push(std::move(event));
  replay.engine.finish();
  replay.flush();
  print_summary(replay);
  return arguments.strict && replay.bad > 0 ? kBadInput : kGood;
}

}  // namespace cepd::app
