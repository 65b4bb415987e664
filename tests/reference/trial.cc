#include "tests/reference/trial.h"

#include "dsl/parse.h"
#include "tests/reference/reload.h"

namespace cepd::reference {
namespace {

void append_scalar(std::string& out, const Scalar& scalar) {
  if (const auto* b = std::get_if<bool>(&scalar)) return append_json(out, Value::boolean(*b));
  if (const auto* i = std::get_if<std::int64_t>(&scalar)) return append_json(out, Value::integer(*i));
  if (const auto* d = std::get_if<double>(&scalar)) return append_json(out, Value::real(*d));
  if (const auto* s = std::get_if<std::string>(&scalar)) return append_json(out, Value::string(*s));
  append_json(out, Value::null());
}

std::string fields_text(const std::map<std::string, Scalar>& fields, bool quoted) {
  std::string out;
  for (const auto& [name, scalar] : fields) {
    out += out.empty() ? "" : ", ";
    if (quoted) {
      append_json_string(out, name);
    } else {
      out += name;
    }
    out += ": ";
    append_scalar(out, scalar);
  }
  return out;
}

std::shared_ptr<Event> event_of(const Given& given) {
  auto out = std::make_shared<Event>();
  out->type = given.type;
  out->time = event_time_us(given.time_us);
  out->position = {SourceId(given.source), given.partition, given.offset};
  for (const auto& [name, scalar] : given.fields) {
    Value& value = out->fields[name];
    if (const auto* b = std::get_if<bool>(&scalar)) value = Value::boolean(*b);
    if (const auto* i = std::get_if<std::int64_t>(&scalar)) value = Value::integer(*i);
    if (const auto* d = std::get_if<double>(&scalar)) value = Value::real(*d);
    if (const auto* s = std::get_if<std::string>(&scalar)) value = Value::string(out->arena.copy(*s));
  }
  return out;
}

}  // namespace

std::string json_of(const Given& given, const std::string& type_field, const std::string& time_field) {
  std::string out = "{";
  append_json_string(out, type_field);
  out += ": ";
  append_json_string(out, given.type);
  out += ", ";
  append_json_string(out, time_field);
  out += ": " + std::to_string(given.time_us);
  const std::string fields = fields_text(given.fields, true);
  return out + (fields.empty() ? "" : ", ") + fields + "}";
}

dsl::Checked checked(const std::string& rules, const FieldPlan* before) {
  dsl::Parsed parsed = dsl::parse("random.rules", rules);
  dsl::CheckOptions options;
  options.actions = {ActionSchema{"log", {{"message", ArgumentType::kText, true, {}, {}, ""}}, false}};
  dsl::Checked out = dsl::check({parsed.file}, options, before);
  if (!parsed.diagnostics.empty()) out.rules = nullptr;
  out.diagnostics.insert(out.diagnostics.begin(), parsed.diagnostics.begin(), parsed.diagnostics.end());
  return out;
}

std::string refusal(const std::string& rules) {
  const dsl::Checked result = checked(rules, nullptr);
  if (result.rules != nullptr) return {};
  for (const Diagnostic& diagnostic : result.diagnostics) {
    if (diagnostic.severity == Severity::kError) return diagnostic.message;
  }
  return "refused";
}

std::vector<Result> results_of(const Trial& trial) {
  const Constants constants = constants_of(trial.rules);
  std::vector<Rule> rules;
  for (const dsl::ast::Statement& statement : trial.rules.statements) {
    if (const auto* rule = std::get_if<dsl::ast::Rule>(&statement)) rules.push_back(make_rule(*rule, constants));
  }
  TotalOrder order;
  for (const auto& [source, delay] : trial.max_delay) order.set_max_delay(SourceId(source), delay);
  for (const Given& given : trial.input) order.arrive(event_of(given));
  order.end();
  return results_of(rules, order.handled(), order.watermark());
}

Lines by_reference(const Trial& trial) {
  Lines lines;
  for (const Result& result : results_of(trial)) lines.push_back(result.text);
  return lines;
}

std::string printed(const Trial& trial) {
  std::string out = trial.rules.text;
  if (trial.cap) out += "# at most " + std::to_string(*trial.cap) + " partial matches of a rule and key\n";
  if (trial.state_ttl) out += "# state TTL " + format_duration(*trial.state_ttl) + "\n";
  for (const Reload& reload : trial.reloads) {
    out += "# before event " + std::to_string(reload.before) + " a reload, " + text_of(trial, reload) + "\n";
  }
  bool as_test = true;
  for (const auto& [source, delay] : trial.max_delay) as_test &= source == "s";
  for (const Given& given : trial.input) as_test &= given.source == "s" && given.partition == 0;
  if (!as_test) {
    out += "# input:\n";
    for (const auto& [source, delay] : trial.max_delay) {
      out += "#   source " + source + ", max_delay " + format_duration(delay) + "\n";
    }
    for (const Given& given : trial.input) {
      out += given.source + "/" + std::to_string(given.partition) + "/" + std::to_string(given.offset) + " " +
             json_of(given, "type", "ts_us") + "\n";
    }
    return out;
  }
  for (const dsl::ast::Statement& statement : trial.rules.statements) {
    const auto* rule = std::get_if<dsl::ast::Rule>(&statement);
    if (rule == nullptr) continue;
    out += "\nTEST case_" + rule->name.text + " FOR " + rule->name.text;
    if (!trial.max_delay.empty()) out += " MAX DELAY " + format_duration(trial.max_delay.begin()->second);
    out += "\n  GIVEN  ";
    for (const Given& given : trial.input) {
      out += given.type + " @" + format_duration(Micros(given.time_us)) + " {" + fields_text(given.fields, false) +
             "}\n         ";
    }
    out += "WATERMARK @1d\n  EXPECT NOTHING\n";
  }
  return out;
}

}  // namespace cepd::reference
