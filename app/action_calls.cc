#include "app/action_calls.h"

#include <map>

namespace cepd::app {
namespace {
std::vector<state::OutboxArgument> rendered(const std::vector<NamedValue>& values) {
  std::vector<state::OutboxArgument> out;
  for (const NamedValue& each : values) {
    state::OutboxArgument argument{each.name, {}, {}};
    append_text(argument.text, each.value);
    append_json(argument.json, each.value);
    out.push_back(std::move(argument));
  }
  return out;
}
}  // namespace

std::vector<state::OutboxRecord> action_calls(const Match& match) {
  std::vector<state::OutboxRecord> out;
  if (match.actions.empty()) return out;
  const std::string match_json = to_json(match, EventsForm::kPositions);
  std::map<std::string, unsigned> calls_of;
  for (const ActionCall& call : match.actions) {
    state::OutboxRecord record;
    record.action = call.action;
    record.idempotency_key = to_string(match.id);
    if (const unsigned number = ++calls_of[call.action]; number > 1)
      record.idempotency_key += "-" + std::to_string(number);
    record.rule = match.rule;
    record.time = match.time;
    record.arguments = rendered(call.arguments);
    record.labels = rendered(match.labels);
    record.match_json = match_json;
    out.push_back(std::move(record));
  }
  return out;
}

}  // namespace cepd::app
