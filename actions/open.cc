#include "actions/open.h"

#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include "actions/action_type.h"
#include "base/path.h"

namespace cepd::actions {
namespace {

using config::Node;
using config::OptionRow;
using config::Options;
using config::OptionType;

const std::vector<const ActionType*>& types() {
  static const std::vector<const ActionType*> all = {&alert_type(), &discount_type(), &file_type(),  &kafka_type(),
                                                     &log_type(),   &mqtt_type(),     &redis_type(), &webhook_type()};
  return all;
}

std::vector<std::string> type_names() {
  std::vector<std::string> names;
  for (const auto* type : types()) names.emplace_back(type->name);
  return names;
}

std::string listed_types() {
  std::string list;
  for (const auto* type : types()) list += (list.empty() ? "" : ", ") + std::string(type->name);
  return list;
}

const ActionType* find_type(std::string_view name) {
  const auto it = std::ranges::find(types(), name, &ActionType::name);
  return it == types().end() ? nullptr : *it;
}

std::vector<OptionRow> common_rows() {
  return {
      {.name = "retry_first_wait",
       .type = OptionType::kDuration,
       .default_text = "500ms",
       .help = "Wait before the first retry of a call; doubled for each further one, less a random part up to a half.",
       .min = 1'000,
       .max = 3'600'000'000},
      {.name = "retry_longest_wait",
       .type = OptionType::kDuration,
       .default_text = "1m",
       .help = "Longest wait between retries, also when a service asks for more (Retry-After). Calls are retried "
               "until they are delivered or rejected.",
       .min = 1'000,
       .max = 86'400'000'000},
      {.name = "breaker_failures",
       .type = OptionType::kInteger,
       .default_text = "5",
       .help = "After so many failed attempts in a row the action's circuit breaker opens: one call alone is tried "
               "after each wait, and the first that gets through closes it.",
       .min = 1,
       .max = 1'000'000},
      {.name = "queue_bytes",
       .type = OptionType::kBytes,
       .default_text = "256MiB",
       .help = "Most bytes of calls that wait for delivery, on the disk and a little of it in memory. Where they are "
               "more, no input is taken until some are delivered; other actions go on.",
       .min = 65'536,
       .max = std::int64_t{1} << 40}};
}

std::string section_of(const ActionType& type) { return "actions.<name> (type: " + std::string(type.name) + ")"; }

struct Entry {
  const ActionType* type = nullptr;
  Options options;
};

Options read_entry(const Node* node, const std::string& name, const ActionType& type, Diagnostics& diagnostics) {
  config::OptionTable table{"actions." + name, std::string(type.help), common_rows()};
  for (auto& row : type.rows()) table.rows.push_back(std::move(row));
  return config::read_options(node, table, {"type"}, diagnostics);
}

/// `type:` of the entry, or the entry's name. Null with a diagnostic when there is no such type.
const ActionType* type_of(const std::string& name, const Node& node, Diagnostics& diagnostics) {
  const Node* given = node.find("type");
  if (!given) {
    if (const auto* type = find_type(name)) return type;
    std::string suggestion = did_you_mean(name, type_names());
    if (suggestion.empty()) suggestion = "add `type:` with one of " + listed_types();
    diagnostics.push_back(node.problem(
        Severity::kError, "action " + name + " needs a type: it is none of the built-in actions", suggestion));
    return nullptr;
  }
  const auto* type = given->kind == Node::Kind::kScalar ? find_type(given->scalar) : nullptr;
  if (!type) {
    const std::string shown = given->kind == Node::Kind::kScalar && !given->from_secret ? " " + given->scalar : "";
    diagnostics.push_back(given->value_problem(Severity::kError,
                                               "unknown action type" + shown + ", expected one of " + listed_types(),
                                               shown.empty() ? "" : did_you_mean(given->scalar, type_names())));
  }
  return type;
}

/// Rules call actions by plain names.
bool is_plain_name(std::string_view name) { return quoted_if_needed(name) == name; }

/// All built-in and configured actions, by name. Entries with mistakes are left out.
std::map<std::string, Entry> read_entries(const Node* actions, Diagnostics& diagnostics) {
  std::map<std::string, Entry> entries;
  for (const auto* type : types()) {
    const std::string name(type->name);
    entries.emplace(name, Entry{type, read_entry(nullptr, name, *type, diagnostics)});
  }
  if (!actions || actions->kind == Node::Kind::kNull) return entries;
  if (actions->kind != Node::Kind::kMap) {
    diagnostics.push_back(actions->problem(Severity::kError, "expected a map of actions by their names"));
    return entries;
  }
  for (const auto& [name, node] : actions->fields) {
    Diagnostics found;
    if (!is_plain_name(name)) {
      found.push_back(node.problem(Severity::kError, "an action's name is letters, digits and _, no digit first"));
    } else if (node.kind != Node::Kind::kMap && node.kind != Node::Kind::kNull) {
      found.push_back(node.value_problem(Severity::kError, "expected a map of the options of action " + name));
    } else if (const auto* type = type_of(name, node, found)) {
      Entry entry{type, read_entry(&node, name, *type, found)};
      if (type->check) type->check(node, entry.options, found);
      if (entry.options.duration("retry_first_wait") > entry.options.duration("retry_longest_wait")) {
        found.push_back(node.problem(Severity::kError, "retry_first_wait is longer than retry_longest_wait"));
      }
      if (!has_errors(found)) entries.insert_or_assign(name, std::move(entry));
    }
    // An entry with a mistake must not silently act as the built-in one of that name.
    if (has_errors(found)) entries.erase(name);
    std::ranges::move(found, std::back_inserter(diagnostics));
  }
  return entries;
}

std::chrono::milliseconds millis(const Options& options, std::string_view name) {
  return std::chrono::ceil<std::chrono::milliseconds>(options.duration(name));
}

std::vector<ActionSchema> schemas(const Node* actions, Diagnostics& diagnostics) {
  std::vector<ActionSchema> schemas;
  for (const auto& [name, entry] : read_entries(actions, diagnostics)) {
    schemas.push_back(entry.type->schema(name, entry.options));
  }
  return schemas;
}

}  // namespace

ActionParameter text_parameter(std::string name, bool required, std::string help) {
  ActionParameter parameter;
  parameter.name = std::move(name);
  parameter.required = required;
  parameter.help = std::move(help);
  return parameter;
}

std::vector<config::OptionTable> option_tables() {
  config::OptionTable common{"actions.<name>", "Common to all actions.", common_rows()};
  common.rows.insert(common.rows.begin(), {.name = "type",
                                           .type = OptionType::kChoice,
                                           .default_text = "webhook",
                                           .help = "What the action does. An entry named as a type is of that type "
                                                   "unless it says otherwise.",
                                           .choices = type_names(),
                                           .required = true});
  std::vector<config::OptionTable> tables = {std::move(common)};
  for (const auto* type : types()) tables.push_back({section_of(*type), std::string(type->help), type->rows()});
  return tables;
}

std::vector<ActionSchema> built_in_schemas() {
  Diagnostics none;
  std::vector<ActionSchema> found = schemas(nullptr, none);
  // Without the configuration nobody knows whether it says the webhook's url or the file's path: a rule may leave them
  // out.
  for (ActionSchema& schema : found) {
    const auto rows = find_type(schema.name)->rows();
    for (ActionParameter& parameter : schema.parameters) {
      if (std::ranges::any_of(rows, [&](const auto& row) { return row.name == parameter.name; }))
        parameter.required = false;
    }
  }
  return found;
}

std::vector<ActionSchema> configured_schemas(const Node* actions, Diagnostics& diagnostics) {
  return schemas(actions, diagnostics);
}

std::vector<OpenedAction> open_actions(const Node* actions, Diagnostics& diagnostics) {
  std::vector<OpenedAction> opened;
  for (const auto& [name, entry] : read_entries(actions, diagnostics)) {
    opened.push_back({.name = name,
                      .schema = entry.type->schema(name, entry.options),
                      .retry = {millis(entry.options, "retry_first_wait"), millis(entry.options, "retry_longest_wait")},
                      .breaker_failures = static_cast<unsigned>(entry.options.integer("breaker_failures")),
                      .queue_bytes = static_cast<std::size_t>(entry.options.integer("queue_bytes")),
                      .sink = entry.type->open(name, entry.options)});
  }
  return opened;
}

}  // namespace cepd::actions
