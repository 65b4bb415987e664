/// Calls: prev, first, last, aggregates over an element, and plain functions.

#include <date/tz.h>

#include <algorithm>
#include <array>
#include <boost/algorithm/string/predicate.hpp>
#include <stdexcept>
#include <tuple>

#include "dsl/aggregates.h"
#include "dsl/check_expr.h"

namespace cepd::dsl::checking {
namespace {

std::string example(const std::string& function, const std::string& element, bool field_needed) {
  std::string out = function + "(" + element + (field_needed ? ".amount" : "");
  if (function == "percentile") out += ", 95";
  return out + ")";
}

/// What other languages call a function, or where it is not needed.
struct ForeignFunction {
  std::string_view name, suggestion;
};
constexpr ForeignFunction kForeign[] = {
    {"now", "no function reads the clock; ts is the time of the event"},
    {"current_timestamp", "no function reads the clock; ts is the time of the event"},
    {"mean", "write avg"},
    {"average", "write avg"},
    {"median", "write percentile(name.field, 50)"},
    {"count_distinct", "write distinct"},
    {"len", "write length"},
    {"substring", "write substr"},
    {"ifnull", "write coalesce"},
    {"nvl", "write coalesce"},
    {"isnull", "write IS NULL after the field"},
    {"regexp_like", "write MATCHES after the field"},
    {"power", "write pow"},
    {"log", "write ln"},
};

bool takes_zone(plan::Function function) {
  return function == plan::Function::kHour || function == plan::Function::kMinute ||
         function == plan::Function::kDayOfWeek || function == plan::Function::kDate;
}

}  // namespace

Built ExprBuilder::call(const ast::Call& node, ast::Location where) {
  const std::string& name = node.function.text;
  if (name == "prev") return previous(node, where);
  if (name == "first" || name == "last") return first_or_last(node, where);
  for (const auto& [known, kind] : kAggregates) {
    if (known == name) return aggregate(kind, node, where);
  }
  for (const plan::FunctionInfo& info : plan::functions()) {
    if (info.name == name) return function(info, node, where);
  }
  for (const auto& [known, suggestion] : kForeign) {
    if (!boost::algorithm::iequals(name, known)) continue;
    scope_.report.error(node.function.where, "unknown function " + name, std::string(suggestion));
    return {};
  }
  std::vector<std::string> names(kPickers.begin(), kPickers.end());
  for (const auto& [known, kind] : kAggregates) names.emplace_back(known);
  for (const plan::FunctionInfo& info : plan::functions()) names.emplace_back(info.name);
  scope_.report.error(node.function.where, "unknown function " + name, did_you_mean(name, names));
  return {};
}

/// False, with an error, for a literal that names no time zone.
bool ExprBuilder::known_zone(const plan::Expr& zone, ast::Location where) {
  const auto* literal = std::get_if<plan::Constant>(&zone.node);
  if (literal == nullptr || literal->kind != Kind::kString) return true;
  const auto& zones = date::get_tzdb().zones;
  std::vector<std::string> names{"UTC"};
  for (const date::time_zone& each : zones) names.push_back(each.name());
  try {
    date::locate_zone(literal->text);
    return true;
  } catch (const std::runtime_error&) {
    scope_.report.error(where, "unknown time zone " + literal->text + ", expected a name like Europe/Berlin",
                        did_you_mean(literal->text, names));
    return false;
  }
}

Built ExprBuilder::function(const plan::FunctionInfo& info, const ast::Call& node, ast::Location where) {
  std::vector<Built> arguments;
  bool ok = true;
  bool declared = false;
  for (const ast::ExprPtr& each : node.arguments) {
    arguments.push_back(build(*each));
    ok &= static_cast<bool>(arguments.back());
  }
  const std::string name(info.name);
  const std::size_t given = arguments.size();
  if (given < info.min_arguments || given > info.max_arguments) {
    std::string wanted = std::to_string(info.min_arguments);
    if (info.max_arguments > info.min_arguments) wanted += " to " + std::to_string(info.max_arguments);
    scope_.report.error(where, name + " takes " + wanted + (wanted == "1" ? " argument" : " arguments") + ", not " +
                                   std::to_string(given));
    return {};
  }
  if (!ok) return {};
  plan::FunctionCall out{info.function, {}};
  for (std::size_t i = 0; i < given; ++i) {
    declared |= arguments[i].declared;
    const Kinds wanted = argument_kinds(info.function, i);
    if (!arguments[i].kinds.empty() && !arguments[i].kinds.overlaps(wanted)) {
      // A literal of the wrong kind can never be meant.
      const bool sure = arguments[i].declared || std::holds_alternative<plan::Constant>(arguments[i].expr->node);
      ok &= misfit(sure, node.arguments[i]->where,
                   name + " takes " + with_article(wanted) + " here, and this is " + with_article(arguments[i].kinds));
    }
    out.arguments.push_back(arguments[i].expr);
  }
  if (!ok) return {};
  if (takes_zone(info.function) && given == 2 && !known_zone(*arguments[1].expr, node.arguments[1]->where)) return {};
  Kinds kinds = info.result ? Kinds(*info.result) : Kinds::all();
  using plan::Function;
  switch (info.function) {
    case Function::kAbs:
      kinds = arguments[0].kinds & argument_kinds(info.function, 0);
      break;
    case Function::kRound:
    case Function::kFloor:
    case Function::kCeil:
      kinds = Kinds::number();
      break;
    case Function::kLeast:
    case Function::kGreatest:
    case Function::kCoalesce:
      kinds = Kinds();
      for (const Built& each : arguments) kinds = kinds | each.kinds;
      break;
    case Function::kIf:
      kinds = arguments[1].kinds | arguments[2].kinds;
      break;
    default:
      break;
  }
  return {scope_.set.share.make(std::move(out)), kinds, declared};
}

Built ExprBuilder::previous(const ast::Call& node, ast::Location where) {
  if (place_ != Place::kElement && place_ != Place::kUnless) {
    scope_.report.error(where, "prev looks back from the event being tested and stands only in the [ ] of the pattern",
                        place_ == Place::kWhere ? "put the condition in the [ ] of the element" : "");
    return {};
  }
  const auto* path = node.arguments.size() == 1 ? std::get_if<ast::PathRef>(&node.arguments[0]->node) : nullptr;
  const bool names_element = path != nullptr && !path->from_this && path->path.steps.size() > 1 &&
                             scope_.names.count(std::get<std::string>(path->path.steps[0])) != 0;
  if (path == nullptr || names_element) {
    scope_.report.error(where, "prev takes a field of the event bound before, like prev(price)");
    return {};
  }
  // The event bound before may be of any element that stands earlier, or of this one where it is repeated.
  plan::Types types;
  std::vector<TypeId>& ids = types.ids.edit();
  for (std::size_t i = 0; i < scope_.elements.size(); ++i) {
    const plan::Element& element = scope_.elements[i];
    if (element.role != plan::Role::kTake) continue;
    // In a repeated group the event before may be of an element that is written later.
    if (own_ && !scope_.places[*own_].in_group && !scope_.places[*own_].all &&
        (i > *own_ || (i == *own_ && !scope_.repeated(i)))) {
      continue;
    }
    types.any |= element.test.types.any;
    ids.insert(ids.end(), element.test.types.ids.begin(), element.test.types.ids.end());
  }
  std::sort(ids.begin(), ids.end());
  ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
  plan::FieldRef ref = field_ref(scope_.set, types, path->path, path->quoted);
  ref.subject = plan::Subject::kPrevious;
  return field(std::move(ref), types, node.arguments[0]->where);
}

std::optional<std::size_t> ExprBuilder::element_argument(const ast::Call& node, ast::Location where,
                                                         bool field_needed) {
  const std::string& name = node.function.text;
  const std::vector<std::string> known = scope_.bound_names();
  const auto refuse = [&](ast::Location at, const std::string& meant = {}) {
    const std::string element = quoted_if_needed(!meant.empty() ? meant : known.empty() ? "name" : known.back());
    scope_.report.error(at, field_needed ? name + " takes a field of an element, like " + example(name, element, true)
                                         : name + " takes an element or a field of one, like " +
                                               example(name, element, false) + " or " + example(name, element, true));
  };
  const auto* path = node.arguments.empty() ? nullptr : std::get_if<ast::PathRef>(&node.arguments[0]->node);
  const std::size_t most = name == "percentile" ? 2 : 1;
  if (path == nullptr || node.arguments.size() > most || path->from_this) {
    refuse(where);
    return std::nullopt;
  }
  const ast::Location at = node.arguments[0]->where;
  const auto& steps = path->path.steps;
  const auto it = scope_.names.find(std::get<std::string>(steps[0]));
  if (it == scope_.names.end()) {
    if (const std::string near = nearest(std::get<std::string>(steps[0]), known); !near.empty()) {
      scope_.report.error(at, "unknown element " + std::get<std::string>(steps[0]), "did you mean " + near + "?");
    } else {
      refuse(at);
    }
    return std::nullopt;
  }
  const bool indexed = steps.size() > 1 && std::holds_alternative<std::int64_t>(steps[1]);
  if (indexed || (field_needed && steps.size() == 1)) {
    refuse(at, it->first);
    return std::nullopt;
  }
  const FieldPath rest{{steps.begin() + 1, steps.end()}};
  if (!may_look_at(it->second, where, rest, true)) return std::nullopt;
  return it->second;
}

Built ExprBuilder::first_or_last(const ast::Call& node, ast::Location where) {
  const auto element = element_argument(node, where, true);
  if (!element) return {};
  const auto& [from_this, path, quoted] = std::get<ast::PathRef>(node.arguments[0]->node);
  const plan::Types& types = scope_.elements[*element].test.types;
  plan::FieldRef ref = field_ref(scope_.set, types, FieldPath{{path.steps.begin() + 1, path.steps.end()}}, quoted);
  ref.subject = node.function.text == "first" ? plan::Subject::kFirst : plan::Subject::kLast;
  ref.element = static_cast<plan::ElementId>(*element);
  return field(std::move(ref), types, node.arguments[0]->where);
}

std::optional<double> ExprBuilder::percentage(const ast::Expr& expr) {
  const Built built = build(expr);
  if (!built) return std::nullopt;
  const auto* constant = std::get_if<plan::Constant>(&built.expr->node);
  if (constant != nullptr && constant->scalar.is_number()) {
    const double p = constant->scalar.number();
    if (p >= 0 && p <= 100) return p;
  }
  scope_.report.error(expr.where, "percentile takes a number from 0 to 100 as its second argument");
  return std::nullopt;
}

Built ExprBuilder::aggregate(plan::AggregateKind kind, const ast::Call& node, ast::Location where) {
  using plan::AggregateKind;
  if (kind == AggregateKind::kCollect && place_ != Place::kEmit && place_ != Place::kAction) {
    scope_.report.error(where, "collect makes a list and stands only in EMIT and DO");
    return {};
  }
  const auto element = element_argument(node, where, kind != AggregateKind::kCount);
  if (!element) return {};
  plan::Aggregate out;
  out.kind = kind;
  out.element = static_cast<plan::ElementId>(*element);
  if (kind == AggregateKind::kPercentile) {
    if (node.arguments.size() != 2) {
      scope_.report.error(where, "percentile takes a field and a number from 0 to 100, like " +
                                     example("percentile", scope_.elements[*element].name, true));
      return {};
    }
    const auto p = percentage(*node.arguments[1]);
    if (!p) return {};
    out.percentile = *p;
  }

  Kinds kinds = Kinds::all();
  bool declared = false;
  const auto& [from_this, path, quoted] = std::get<ast::PathRef>(node.arguments[0]->node);
  if (path.steps.size() > 1) {
    const plan::Types& types = scope_.elements[*element].test.types;
    plan::FieldRef ref = field_ref(scope_.set, types, FieldPath{{path.steps.begin() + 1, path.steps.end()}}, quoted);
    const auto known = field_kinds(scope_.set, types, ref, node.arguments[0]->where, scope_.report);
    if (!known) return {};
    std::tie(kinds, declared) = *known;
    out.field = std::move(ref);
  }
  const auto over = [&](Kinds wanted) {
    if (kinds.overlaps(wanted)) return true;
    return misfit(
        declared, node.arguments[0]->where,
        "unlike types: " + node.function.text + " is over numbers or durations, and this is " + with_article(kinds));
  };
  switch (kind) {
    case AggregateKind::kCount:
    case AggregateKind::kDistinct:
      kinds = Kind::kInt;
      break;
    case AggregateKind::kCollect:
      kinds = Kind::kJson;
      break;
    case AggregateKind::kMin:
    case AggregateKind::kMax:
      break;
    case AggregateKind::kSum:
    case AggregateKind::kAvg:
    case AggregateKind::kStddev:
    case AggregateKind::kPercentile:
      if (!over(Kinds::number() | Kind::kDuration)) return {};
      kinds = kinds & (Kinds::number() | Kind::kDuration);
      if (kind != AggregateKind::kSum && kinds.overlaps(Kinds::number())) kinds = kinds | Kind::kDouble;
      break;
  }
  return {scope_.set.share.make(std::move(out)), kinds, declared};
}

}  // namespace cepd::dsl::checking
