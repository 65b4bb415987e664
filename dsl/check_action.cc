#include "dsl/check_action.h"

#include <algorithm>
#include <set>

namespace cepd::dsl::checking {
namespace {

/// Numbers in messages: 100, 0.5.
std::string number_text(double value) {
  std::string out;
  const auto whole = static_cast<std::int64_t>(value);
  append_text(out, static_cast<double>(whole) == value ? Value::integer(whole) : Value::real(value));
  return out;
}

std::string signature(const ActionSchema& schema) {
  std::string out = schema.name + "(";
  for (std::size_t i = 0; i < schema.parameters.size(); ++i) {
    out += (i == 0 ? "" : ", ") + schema.parameters[i].name + (schema.parameters[i].required ? "" : "?");
  }
  if (schema.open) out += schema.parameters.empty() ? "..." : ", ...";
  return out + ")";
}

std::string range_text(const ActionParameter& parameter) {
  if (parameter.min && parameter.max)
    return "from " + number_text(*parameter.min) + " to " + number_text(*parameter.max);
  if (parameter.min) return "of at least " + number_text(*parameter.min);
  return "of at most " + number_text(*parameter.max);
}

/// One call of DO.
class CallChecker {
 public:
  CallChecker(RuleScope& scope, const ast::Action& call, const ActionSchema& schema, const ActionNames& names)
      : scope_(scope), call_(call), schema_(schema), names_(names) {}

  plan::Action build() {
    plan::Action out;
    out.name = schema_.name;
    bool named = false;
    for (std::size_t i = 0; i < call_.arguments.size(); ++i) {
      const ast::Argument& argument = call_.arguments[i];
      if (argument.name) {
        named = true;
      } else if (named) {
        scope_.report.error(argument.value->where, "an argument without a name stands after one with a name",
                            signature(schema_));
        continue;
      }
      if (auto built = build_argument(argument, i)) out.arguments.edit().push_back(std::move(*built));
    }
    for (const ActionParameter& parameter : schema_.parameters) {
      if (parameter.required && given_.count(parameter.name) == 0) {
        scope_.report.error(call_.name.where, schema_.name + " needs " + parameter.name, signature(schema_));
      }
    }
    return out;
  }

 private:
  std::optional<plan::ActionArgument> build_argument(const ast::Argument& argument, std::size_t position) {
    const ActionParameter* parameter = nullptr;
    std::string name;
    if (argument.name) {
      name = argument.name->text;
      const auto it = std::find_if(schema_.parameters.begin(), schema_.parameters.end(),
                                   [&](const ActionParameter& p) { return p.name == name; });
      if (it != schema_.parameters.end()) parameter = &*it;
      if (parameter == nullptr && !schema_.open) {
        std::vector<std::string> known;
        for (const ActionParameter& each : schema_.parameters) known.push_back(each.name);
        const std::string near = did_you_mean(name, known);
        scope_.report.error(argument.name->where, schema_.name + " has no argument " + name,
                            near.empty() ? signature(schema_) : near);
        return std::nullopt;
      }
    } else {
      if (position >= schema_.parameters.size()) {
        scope_.report.error(
            argument.value->where,
            schema_.name + " takes at most " + std::to_string(schema_.parameters.size()) + " arguments without a name",
            signature(schema_));
        return std::nullopt;
      }
      parameter = &schema_.parameters[position];
      name = parameter->name;
    }
    if (!given_.insert(name).second) {
      scope_.report.error(argument.name ? argument.name->where : argument.value->where, name + " is given twice");
      return std::nullopt;
    }
    plan::ActionArgument out;
    out.name = name;
    out.type = parameter == nullptr ? ArgumentType::kAny : parameter->type;
    const Built built = value(*argument.value, out.type);
    if (!built || (parameter != nullptr && !fits(built, *parameter, argument.value->where))) return std::nullopt;
    out.value = built.expr;
    return out;
  }

  Built value(const ast::Expr& expr, ArgumentType type) {
    ExprBuilder builder(scope_, ActionNames{names_.emit, names_.emit_kinds, nullptr});
    const bool text = type != ArgumentType::kNumber && type != ArgumentType::kDuration;
    const ast::Literal* literal = std::get_if<ast::Literal>(&expr.node);
    if (const auto* constant = std::get_if<ast::ConstantRef>(&expr.node)) {
      literal = scope_.set.constant(constant->name, expr.where, scope_.report);
      if (literal == nullptr) return {};
    }
    const std::string* string = literal == nullptr ? nullptr : std::get_if<std::string>(&literal->value);
    return text && string != nullptr ? build_template(scope_, names_, *string, expr.where) : builder.build(expr);
  }

  /// False when the text's beginning is known and is no URL's.
  static bool may_be_url(const plan::Expr& expr) {
    std::string begin;
    if (const auto* constant = std::get_if<plan::Constant>(&expr.node)) {
      if (constant->kind != Kind::kString) return false;
      begin = constant->text;
    } else if (const auto* text = std::get_if<plan::Template>(&expr.node)) {
      const auto* first = text->parts.empty() ? nullptr : std::get_if<std::string>(&text->parts.front());
      if (first == nullptr) return !text->parts.empty();
      begin = *first;
    } else {
      return true;
    }
    return begin.starts_with("http://") || begin.starts_with("https://");
  }

  bool fits(const Built& built, const ActionParameter& parameter, ast::Location where) {
    const std::string what = parameter.name + " of " + schema_.name;
    if (parameter.type == ArgumentType::kDuration && !built.kinds.overlaps(Kind::kDuration)) {
      scope_.report.error(where, what + " is a duration, like 5m, and this is " + with_article(built.kinds));
      return false;
    }
    if (parameter.type == ArgumentType::kUrl && !may_be_url(*built.expr)) {
      scope_.report.error(where, what + " is a URL that begins with http:// or https://");
      return false;
    }
    if (parameter.type != ArgumentType::kNumber) return true;
    if (!built.kinds.overlaps(Kinds::number())) {
      scope_.report.error(where, what + " is a number, and this is " + with_article(built.kinds));
      return false;
    }
    const auto* constant = std::get_if<plan::Constant>(&built.expr->node);
    if (constant == nullptr) return true;  // checked when the action runs
    const double number = constant->scalar.number();
    if ((parameter.min && number < *parameter.min) || (parameter.max && number > *parameter.max)) {
      scope_.report.error(where, what + " is a number " + range_text(parameter) + ", not " + number_text(number));
      return false;
    }
    return true;
  }

  RuleScope& scope_;
  const ast::Action& call_;
  const ActionSchema& schema_;
  const ActionNames& names_;
  std::set<std::string> given_;
};

/// True when an item that shows `ref` shows the value of KEY field `path`: the element's key comes from that field.
bool shows_key(const RuleScope& scope, const plan::Expr& expr, std::size_t key) {
  if (const auto* ref = std::get_if<plan::KeyRef>(&expr.node)) return ref->index == key;
  const auto* ref = std::get_if<plan::FieldRef>(&expr.node);
  if (ref == nullptr || ref->property != plan::Property::kField) return false;
  const auto& refs = scope.elements[static_cast<std::size_t>(ref->element)].test.key;
  return key < refs.size() && refs[key].property == plan::Property::kField && refs[key].path == ref->path;
}

/// The last name of a path; null when it ends in an index.
const std::string* last_name(const FieldPath& path) {
  return path.empty() ? nullptr : std::get_if<std::string>(&path.steps.back());
}

}  // namespace

Items build_items(RuleScope& scope, const ast::Emit* emit) {
  Items out;
  if (emit == nullptr) {
    for (std::size_t i = 0; i < scope.key.size(); ++i) {
      // Two keys may end in the same name: `src.id`, `dst.id`.
      const std::string* last = last_name(scope.key[i]);
      const auto same = [&](const FieldPath& key) {
        const std::string* other = last_name(key);
        return last != nullptr && other != nullptr && *last == *other;
      };
      const bool unique = last != nullptr && std::count_if(scope.key.begin(), scope.key.end(), same) == 1;
      out.items.push_back({unique ? *last : to_string(scope.key[i]), scope.set.share.make(plan::KeyRef{i})});
      out.kinds.push_back(scope.key_kinds[i]);
    }
    return out;
  }
  for (const ast::Item& item : emit->items) {
    ExprBuilder builder(scope, Place::kEmit);
    const Built built = builder.build(*item.value);
    std::string name;
    ast::Location where = item.value->where;
    if (item.as) {
      name = item.as->text;
      where = item.as->where;
    } else {
      const auto* path = std::get_if<ast::PathRef>(&item.value->node);
      const std::string* last = path == nullptr ? nullptr : last_name(path->path);
      if (last == nullptr) {
        scope.report.error(item.value->where, "an expression in EMIT needs a name",
                           "write " + std::string(scope.report.text_at(item.value->where)) + " AS name");
        continue;
      }
      name = *last;
    }
    if (std::any_of(out.items.begin(), out.items.end(), [&](const plan::Item& i) { return i.name == name; })) {
      scope.report.error(where, "two items of EMIT are called " + name, item.as ? "" : "give one a name with AS");
      continue;
    }
    if (!built) {
      // The name is known all the same: DO may use it without further errors.
      out.items.push_back({name, scope.set.share.make(plan::Constant{})});
      out.kinds.push_back(Kinds::all());
      continue;
    }
    for (std::size_t i = 0; i < scope.key.size(); ++i) {
      if (scope.key[i] == FieldPath::of(name) && !shows_key(scope, *built.expr, i)) {
        scope.report.error(where, "an item called " + name + " must be the key field " + name,
                           item.as ? "give it another name" : "give it another name with AS");
      }
    }
    out.items.push_back({name, built.expr});
    out.kinds.push_back(built.kinds);
  }
  return out;
}

std::vector<plan::Item> build_labels(RuleScope& scope, const std::vector<ast::Label>& labels) {
  std::vector<plan::Item> out;
  for (const ast::Label& label : labels) {
    ExprBuilder builder(scope, Place::kEmit);
    const bool name_only = std::holds_alternative<ast::PathRef>(label.value->node);
    const Built built = name_only ? Built{} : builder.build(*label.value);
    const bool constant = built && std::holds_alternative<plan::Constant>(built.expr->node);
    if (name_only || (built && !constant)) {
      scope.report.error(label.value->where, "a label's value is a literal or a constant",
                         "what differs from match to match belongs into EMIT");
    }
    if (std::any_of(out.begin(), out.end(), [&](const plan::Item& i) { return i.name == label.name.text; })) {
      scope.report.error(label.name.where, "two labels are called " + label.name.text);
      continue;
    }
    out.push_back({label.name.text, constant ? built.expr : scope.set.share.make(plan::Constant{})});
  }
  return out;
}

std::vector<plan::Action> build_actions(RuleScope& scope, const std::vector<ast::Action>& actions, const Items& emit,
                                        const std::vector<plan::Item>& labels) {
  std::vector<plan::Action> out;
  const ActionNames names{&emit.items, &emit.kinds, &labels};
  for (const ast::Action& action : actions) {
    const auto& known = scope.set.options.actions;
    const auto it =
        std::find_if(known.begin(), known.end(), [&](const ActionSchema& s) { return s.name == action.name.text; });
    if (it == known.end()) {
      std::vector<std::string> all;
      for (const ActionSchema& each : known) all.push_back(each.name);
      std::string suggestion = did_you_mean(action.name.text, all);
      if (suggestion.empty()) {
        for (const std::string& each : all) suggestion += (suggestion.empty() ? "there are " : ", ") + each;
      }
      scope.report.error(action.name.where, "unknown action " + action.name.text, suggestion);
      continue;
    }
    out.push_back(CallChecker(scope, action, *it, names).build());
  }
  return out;
}

plan::Action log_action(RuleScope& scope, const Items& emit, bool timeout) {
  plan::Template line;
  std::string text = timeout ? "timeout" : "";
  for (std::size_t i = 0; i < emit.items.size(); ++i) {
    if (i > 0 || timeout) text += " ";
    line.parts.emplace_back(text + emit.items[i].name + "=");
    line.parts.emplace_back(scope.set.share.make(plan::EmitRef{i}));
    text.clear();
  }
  if (emit.items.empty()) line.parts.emplace_back(timeout ? std::string("timeout") : std::string("match"));
  return {"log", {plan::ActionArgument{"message", ArgumentType::kText, scope.set.share.make(std::move(line))}}};
}

}  // namespace cepd::dsl::checking
