#include "dsl/check_set.h"

#include <re2/re2.h>

#include "dsl/check_kinds.h"

namespace cepd::dsl::checking {

const ast::Literal* SetContext::constant(const std::string& name, ast::Location where, Reporter& report) const {
  if (const auto it = constants.find(name); it != constants.end()) return &it->second;
  if (unread.more_constants || unread.constants.count(name) != 0) {
    report.unsure();
    return nullptr;
  }
  std::vector<std::string> names;
  if (!report.full()) {
    for (const auto& [known, value] : constants) names.push_back(known);
  }
  const std::string near = nearest(name, names);
  report.error(where, "unknown constant $" + name, near.empty() ? std::string{} : "did you mean $" + near + "?");
  return nullptr;
}

std::optional<Micros> SetContext::duration_or_zero(const ast::DurationTerm& term, std::string_view keyword,
                                                   Reporter& report) const {
  if (const auto* written = std::get_if<Micros>(&term.value)) return *written;
  const std::string& name = std::get<ast::ConstantRef>(term.value).name;
  const ast::Literal* literal = constant(name, term.where, report);
  if (literal == nullptr) return std::nullopt;
  if (const auto* value = std::get_if<Micros>(&literal->value)) return *value;
  report.error(
      term.where,
      std::string(keyword) + " needs a duration, and $" + name + " is " + with_article(constant_of(*literal).kind),
      "write it like CONST " + name + " = 5m");
  return std::nullopt;
}

std::optional<Micros> SetContext::duration(const ast::DurationTerm& term, std::string_view keyword,
                                           Reporter& report) const {
  const auto value = duration_or_zero(term, keyword, report);
  if (!value || *value > Micros(0)) return value;
  report.error(term.where, std::string(keyword) + " needs a duration greater than zero");
  return std::nullopt;
}

bool SetContext::known_type(const ast::Name& type, Reporter& report) const {
  if (!declared) return true;
  if (const auto id = fields->find(type.text); id && fields->type(*id).declared) return true;
  if (unread.more_types || unread.types.count(type.text) != 0) return true;
  if (made.count(type.text) != 0) return true;
  std::vector<std::string> names;
  if (!report.full()) {
    for (const auto& [name, fields_of_it] : made) names.push_back(name);
    for (const FieldPlan::Type& each : fields->types()) {
      if (each.declared) names.push_back(each.name);
    }
  }
  report.error(type.where, "unknown event type " + type.text, did_you_mean(type.text, names));
  return false;
}

std::shared_ptr<const re2::RE2> SetContext::regex(const std::string& pattern, ast::Location where, Reporter& report) {
  if (const auto it = regexes_.find(pattern); it != regexes_.end()) return it->second;
  RE2::Options quiet;
  quiet.set_log_errors(false);
  auto compiled = std::make_shared<const RE2>(pattern, quiet);
  if (!compiled->ok()) {
    report.error(where, "not a regular expression: " + compiled->error());
    return nullptr;
  }
  regexes_.emplace(pattern, compiled);
  return compiled;
}

plan::Constant constant_of(const ast::Literal& literal) {
  struct Visitor {
    plan::Constant operator()(const ast::Null&) const { return {}; }
    plan::Constant operator()(bool b) const { return {Kind::kBool, {}, Value::boolean(b)}; }
    plan::Constant operator()(std::int64_t i) const { return {Kind::kInt, {}, Value::integer(i)}; }
    plan::Constant operator()(double d) const {
      const Value value = Value::real(d);  // null when the text was beyond the range of a double
      return {value.kind(), {}, value};
    }
    plan::Constant operator()(const std::string& s) const { return {Kind::kString, s, {}}; }
    plan::Constant operator()(EventTime t) const { return {Kind::kTimestamp, {}, Value::timestamp(t)}; }
    plan::Constant operator()(Micros d) const { return {Kind::kDuration, {}, Value::duration(d)}; }
  };
  return std::visit(Visitor{}, literal.value);
}

}  // namespace cepd::dsl::checking
