#include "dsl/check_rule.h"

#include <algorithm>
#include <set>

#include "dsl/check_action.h"
#include "dsl/check_chain.h"
#include "dsl/check_into.h"
#include "dsl/check_null.h"
#include "dsl/check_pattern.h"
#include "dsl/check_warn.h"
#include "dsl/plan_print.h"

namespace cepd::dsl::checking {
namespace {

plan::Policy plan_policy(ast::Policy policy) {
  switch (policy) {
    case ast::Policy::kConsume:
      return plan::Policy::kConsume;
    case ast::Policy::kNoSkip:
      return plan::Policy::kNoSkip;
    case ast::Policy::kSkipPastLast:
      return plan::Policy::kSkipPastLast;
    case ast::Policy::kSkipToNext:
      return plan::Policy::kSkipToNext;
    case ast::Policy::kSkipToFirst:
      return plan::Policy::kSkipToFirst;
    case ast::Policy::kSkipToLast:
      return plan::Policy::kSkipToLast;
  }
  return plan::Policy::kConsume;
}

class RuleChecker {
 public:
  RuleChecker(const ast::Rule& rule, SetContext& set, Reporter& report)
      : rule_(rule), report_(report), scope_{set, report, {}, {}, {}, {}, {}} {}

  plan::Rule check(RuleNote& note) {
    const std::size_t before = report_.errors();
    plan::Rule out;
    out.name = rule_.name.text;
    out.status = rule_.status == ast::RuleStatus::kShadow ? plan::Status::kShadow : plan::Status::kEnabled;
    key();
    if (rule_.within) out.within = scope_.set.duration(*rule_.within, "WITHIN", report_);
    pattern_ = build_pattern(rule_, scope_);
    if (rule_.on_timeout && !rule_.within && !has_bound(rule_.pattern)) {
      report_.error(rule_.on_timeout->where, "ON TIMEOUT needs a bound: the pattern has no WITHIN");
    }
    if (rule_.limit) out.limit = limit(*rule_.limit);
    if (pattern_.written.empty()) return out;  // conditions of a pattern that is not understood would only be misread

    element_tests();
    from(out);
    for (const ast::EventPattern& event : rule_.unless) out.unless.edit().push_back(event_test(event, Place::kUnless));
    where();
    could_start();
    if (rule_.having) {
      ExprBuilder builder(scope_, Place::kHaving);
      if (auto condition = builder.condition(*rule_.having)) out.having = {std::move(condition)};
    }
    policy(out);
    results(out, note);
    note.has_timeout = rule_.on_timeout.has_value();
    out.key = scope_.key;
    out.elements = std::move(scope_.elements);
    out.slots = std::move(pattern_.slots);
    out.pattern = std::move(pattern_.tree);  // what points to its steps still does
    out.bounded = out.within.has_value() || !pattern_.waiting;
    note.sound = report_.errors() == before;
    if (!note.sound) return out;
    warn_shadow_input(rule_, scope_.set, report_);
    warn(RuleText{rule_, pattern_.written, pattern_.groups, conditions_, pattern_.waiting}, out, scope_, report_);
    out.fingerprint = hash_match_id(meaning(out, *scope_.set.fields));
    scope_.set.share.share(out);
    return out;
  }

 private:
  void key() {
    for (const ast::KeyField& field : rule_.key) {
      if (std::count(scope_.key.begin(), scope_.key.end(), field.path) != 0) {
        report_.error(field.where, "two fields of KEY are called " + to_string(field.path));
      }
      scope_.key.push_back(field.path);
    }
    scope_.key_kinds.assign(scope_.key.size(), Kinds());
  }

  std::optional<plan::Limit> limit(const ast::Limit& written) {
    const auto per = scope_.set.duration(written.per, "PER", report_);
    if (written.count == 0) report_.error(written.where, "LIMIT needs a number of at least 1");
    if (!per) return std::nullopt;
    return plan::Limit{written.count, *per};
  }

  void key_refs(const ast::EventPattern& event, plan::EventTest& test) {
    if (!event.by.empty() && rule_.key.empty()) {
      report_.error(event.where, "BY says where KEY comes from, and the rule has no KEY");
      return;
    }
    if (!event.by.empty() && event.by.size() != rule_.key.size()) {
      report_.error(event.where, "BY needs as many fields as KEY: " + std::to_string(rule_.key.size()) + ", not " +
                                     std::to_string(event.by.size()));
      return;
    }
    for (std::size_t i = 0; i < rule_.key.size(); ++i) {
      const bool by = !event.by.empty();
      const ast::Location where = by ? event.where : rule_.key[i].where;
      const bool quoted = !by && rule_.key[i].quoted;
      test.key.edit().push_back(field_ref(scope_.set, test.types, by ? event.by[i] : rule_.key[i].path, quoted));
      if (test.types.any) scope_.key_kinds[i] = Kinds::all();
      // Every type must have the field, or none of its events has the key.
      for (const TypeId type : test.types.ids) {
        const auto kinds = field_kinds(scope_.set, plan::Types{false, {type}}, test.key.back(), where, report_);
        if (kinds) scope_.key_kinds[i] = scope_.key_kinds[i] | kinds->first;
      }
    }
  }

  plan::EventTest event_test(const ast::EventPattern& event, Place place) {
    plan::EventTest out;
    out.types = build_types(event, scope_);
    if (!out.types.any && out.types.ids.empty()) return out;
    key_refs(event, out);
    if (event.condition) {
      ExprBuilder builder(scope_, place, out.types);
      if (auto condition = builder.condition(*event.condition)) out.conditions = {std::move(condition)};
    }
    return out;
  }

  /// WITHIN in a link or a group.
  static bool has_bound(const ast::Sequence& sequence) {
    for (const ast::Step& step : sequence.steps) {
      if ((&step != &sequence.steps.front() && step.link.within) || sequence.within) return true;
      for (const ast::Both& both : step.choice.alternatives) {
        for (const ast::Element& element : both.members) {
          const auto* group = std::get_if<std::shared_ptr<const ast::Sequence>>(&element.item);
          if (group != nullptr && has_bound(**group)) return true;
        }
      }
    }
    return false;
  }

  void element_tests() {
    conditions_.resize(pattern_.written.size());
    // Keys first: conditions may speak of them.
    for (std::size_t i = 0; i < pattern_.written.size(); ++i) {
      const auto& events = pattern_.written[i].events;
      key_refs(*events.front(), scope_.elements[i].test);
      for (const ast::EventPattern* event : events) {
        if (event->by != events.front()->by) {
          report_.error(event->where, "alternatives under one name take their key from the same fields",
                        "write the same BY in each of them, or give each its own name");
        }
      }
    }
    for (std::size_t i = 0; i < pattern_.written.size(); ++i) {
      const auto& events = pattern_.written[i].events;
      if (events.size() > 1) {
        alternatives_test(i);
      } else if (events.front()->condition) {
        ExprBuilder builder(scope_, Place::kElement, i);
        const ast::Expr& written = *events.front()->condition;
        add_condition(i, builder.condition(written), {written.where, &written});
      }
    }
  }

  /// `(a[x > 1] OR b) AS name` is one element whose condition depends on the type.
  void alternatives_test(std::size_t element) {
    const auto& events = pattern_.written[element].events;
    plan::ExprPtr any;
    for (const ast::EventPattern* event : events) {
      const plan::Types types = build_types(*event, scope_);
      plan::FieldRef made;
      made.property = plan::Property::kMade;
      plan::In of_type;
      of_type.operand = scope_.set.share.make(field_ref(scope_.set, types, FieldPath::of("type"), false));
      for (const TypeId id : types.ids) {
        of_type.list.push_back(
            scope_.set.share.make(plan::Constant{Kind::kString, scope_.set.fields->type(id).name, {}}));
      }
      plan::ExprPtr one =
          types.any ? scope_.set.share.make(plan::Unary{plan::UnaryOp::kNot, scope_.set.share.make(std::move(made))})
                    : scope_.set.share.make(std::move(of_type));
      if (event->condition) {
        ExprBuilder builder(scope_, Place::kElement, element, types);
        const plan::ExprPtr condition = builder.condition(*event->condition);
        if (condition == nullptr) return;
        one = scope_.set.share.make(plan::Binary{plan::BinaryOp::kAnd, one, condition});
      }
      any = any == nullptr ? one : scope_.set.share.make(plan::Binary{plan::BinaryOp::kOr, any, one});
    }
    add_condition(element, any, {pattern_.written[element].element->where, nullptr});
  }

  void add_condition(std::size_t element, plan::ExprPtr condition, WrittenCondition written) {
    if (condition == nullptr) return;
    scope_.elements[element].test.conditions.edit().push_back(std::move(condition));
    conditions_[element].push_back(written);
  }

  void from(plan::Rule& out) {
    const bool any_element = std::any_of(scope_.elements.begin(), scope_.elements.end(),
                                         [](const plan::Element& e) { return e.test.types.any; });
    if (!rule_.from) {
      // `*` without FROM: the input is every event with the key.
      if (any_element) out.from.emplace().edit().push_back(event_test(ast::EventPattern{}, Place::kFrom));
      return;
    }
    std::set<TypeId> types;
    bool any = rule_.from->any;
    out.from.emplace();
    if (any) out.from->edit().push_back(event_test(ast::EventPattern{}, Place::kFrom));
    for (const ast::EventPattern& event : rule_.from->inputs) {
      out.from->edit().push_back(event_test(event, Place::kFrom));
      any |= out.from->back().types.any;
      types.insert(out.from->back().types.ids.begin(), out.from->back().types.ids.end());
    }
    for (const WrittenElement& each : pattern_.written) {
      for (const ast::EventPattern* event : each.events) {
        for (const ast::Name& type : event->types) stands_in_from(type, types, any);
      }
    }
  }

  /// A type of the pattern against what FROM names; `any`: a `*` is among it.
  void stands_in_from(const ast::Name& type, const std::set<TypeId>& from, bool any) {
    const bool made = scope_.set.made.count(type.text) != 0;
    const auto id = scope_.set.fields->find(type.text);
    if (!id || from.count(*id) != 0 || (any && !made)) return;
    if (any) {
      report_.error(type.where, type.text + " is made by rules, and * in FROM is what comes from sources",
                    "add " + quoted_if_needed(type.text) + " to FROM");
    } else {
      report_.error(type.where, type.text + " stands in the pattern and not in FROM: none would ever come",
                    "add it to FROM");
    }
  }

  // ---- WHERE: each part of its top-level AND goes to the last element that it names ----

  void where() {
    if (rule_.where_condition) where_part(*rule_.where_condition);
  }

  void where_part(const ast::Expr& expr) {
    if (const auto* binary = std::get_if<ast::Binary>(&expr.node); binary && binary->op == ast::BinaryOp::kAnd) {
      where_part(*binary->left);
      where_part(*binary->right);
      return;
    }
    std::vector<std::size_t> named;  // sorted
    for_each_path(expr, [&](const ast::PathRef& ref, bool counted) {
      if (ref.from_this || (ref.path.steps.size() == 1 && !counted)) return;
      const auto* first = std::get_if<std::string>(&ref.path.steps.front());
      const auto it = first == nullptr ? scope_.names.end() : scope_.names.find(*first);
      if (it != scope_.names.end()) named.push_back(it->second);
    });
    std::sort(named.begin(), named.end());
    named.erase(std::unique(named.begin(), named.end()), named.end());
    if (named.empty()) {
      // A part that names no element belongs to the first: of an OR or AND to each that may be the first.
      const ElementPlace& first = scope_.places.front();
      for (std::size_t i = 0; i < scope_.elements.size(); ++i) {
        const ElementPlace& place = scope_.places[i];
        if (i == 0 || (place.starts && (place.excludes(first) || (place.all && place.all == first.all)))) {
          own_part(expr, i, 0);
        }
      }
      return;
    }
    give_part(expr, named, 0);
  }

  /// Gives a part to the last of the elements that it names: in every alternative of an OR that it names, and to every
  /// member of an AND, since each may come last. `depth`: how many ORs around the last one are dealt with.
  void give_part(const ast::Expr& expr, const std::vector<std::size_t>& named, std::size_t depth) {
    const ElementPlace& last = scope_.places[named.back()];
    if (depth < last.alternatives.size()) {
      const std::size_t choice = last.alternatives[depth].first;
      std::set<std::size_t> branches;
      const auto branch_of = [&](std::size_t element) -> std::optional<std::size_t> {
        const auto& around = scope_.places[element].alternatives;
        if (depth >= around.size() || around[depth].first != choice) return std::nullopt;
        return around[depth].second;
      };
      for (const std::size_t element : named) {
        if (const auto branch = branch_of(element)) branches.insert(*branch);
      }
      for (const std::size_t branch : branches) {
        std::vector<std::size_t> here;
        for (const std::size_t element : named) {
          if (branch_of(element).value_or(branch) == branch) here.push_back(element);
        }
        give_part(expr, here, depth + 1);
      }
      return;
    }
    plan::ElementSet members = 0;
    if (last.all) {
      for (const std::size_t element : named) {
        if (scope_.places[element].all == last.all) members |= plan::element_bit(static_cast<plan::ElementId>(element));
      }
    }
    for (const std::size_t element : named) {
      const plan::ElementSet own = plan::element_bit(static_cast<plan::ElementId>(element));
      if ((members & own) != 0) own_part(expr, element, members & ~own);
    }
    if (members == 0) own_part(expr, named.back(), 0);
  }

  void own_part(const ast::Expr& expr, std::size_t own, plan::ElementSet others) {
    ExprBuilder builder(scope_, Place::kWhere, own);
    plan::ExprPtr condition = builder.condition(expr);
    if (condition == nullptr) return;
    if (others == 0) return add_condition(own, std::move(condition), {expr.where, &expr});
    scope_.elements[own].joint.edit().push_back({std::move(condition), others});
  }

  // ---- an element whose condition can never hold on its first event ----

  void could_start() {
    for (std::size_t i = 0; i < scope_.elements.size(); ++i) {
      const plan::Element& element = scope_.elements[i];
      if (element.role != plan::Role::kTake) continue;
      const bool start = scope_.places[i].starts;
      for (std::size_t k = 0; k < element.test.conditions.size(); ++k) {
        const plan::Expr& condition = *element.test.conditions[k];
        const auto id = static_cast<plan::ElementId>(i);
        constexpr auto kNobody = static_cast<plan::ElementId>(UINT16_MAX);
        if (!can_be_true(condition, {false, kNobody}) || can_be_true(condition, {start, id})) continue;
        const bool previous = !can_be_true(condition, {start, kNobody});
        const std::string what = previous ? "prev is null on the first event of a match"
                                          : element.name + " has taken nothing yet when its first event is tested";
        const std::string hint = std::string("say what holds then, like ") +
                                 (previous ? "prev(x) IS NULL OR …" : "count(" + element.name + ") = 0 OR …");
        if (start) {
          report_.error(conditions_[i][k].where, what + ": this is never true there, and the rule could not start",
                        hint);
        } else {
          report_.warn(conditions_[i][k].where, what + ": this is never true there, and it never takes one", hint);
        }
      }
    }
  }

  void policy(plan::Rule& out) {
    if (!rule_.after_match) return;
    const ast::AfterMatch& written = *rule_.after_match;
    out.policy = plan_policy(written.policy);
    if (!written.element) return;
    const ast::Name& name = *written.element;
    const auto it = scope_.names.find(name.text);
    if (it == scope_.names.end()) {
      report_.error(name.where, "unknown element " + name.text, did_you_mean(name.text, scope_.bound_names()));
      return;
    }
    out.policy_element = static_cast<plan::ElementId>(it->second);
    const plan::Element& element = scope_.elements[it->second];
    const ElementPlace& place = scope_.places[it->second];
    const bool last = written.policy == ast::Policy::kSkipToLast;
    if (element.role == plan::Role::kNot) {
      report_.error(name.where, name.text + " is a NOT: no event is ever bound to it");
    } else if (place.in_group || !place.alternatives.empty()) {
      report_.error(name.where, name.text +
                                    (place.in_group ? " stands in a repeated or optional group" : " stands in an OR") +
                                    ": it may be bound to nothing, or more than once");
    } else if (place.optional) {
      report_.error(name.where, name.text + " may be bound to nothing, and there would be nothing to skip to");
    } else if (place.starts && !(last && place.at_least_two)) {
      report_.error(name.where,
                    std::string("the ") + (last ? "last " : "first ") + name.text +
                        " may be the first event of the match, and skipping to it would drop nothing",
                    "SKIP TO NEXT drops what started on that event");
    }
  }

  // ---- what is done with a match ----

  void results(plan::Rule& out, RuleNote& note) {
    Items emit = build_items(scope_, rule_.emit ? &*rule_.emit : nullptr);
    out.into = build_into(scope_, rule_.emit ? &*rule_.emit : nullptr, emit);
    const std::vector<plan::Item> labels = build_labels(scope_, rule_.labels);
    if (!rule_.actions.empty()) {
      out.actions = build_actions(scope_, rule_.actions, emit, labels);
    } else if (!out.into) {
      out.actions = {log_action(scope_, emit, false)};
    }
    out.labels = labels;
    for (const plan::Item& item : emit.items) note.emitted.push_back(item.name);
    out.emit = std::move(emit.items);
    if (!rule_.on_timeout) return;
    const ast::OnTimeout& written = *rule_.on_timeout;
    Items late = build_items(scope_, written.emit ? &*written.emit : nullptr);
    out.on_timeout.emplace();
    out.on_timeout->into = build_into(scope_, written.emit ? &*written.emit : nullptr, late);
    if (!written.actions.empty()) {
      out.on_timeout->actions = build_actions(scope_, written.actions, late, labels);
    } else if (!out.on_timeout->into) {
      out.on_timeout->actions = {log_action(scope_, late, true)};
    }
    for (const plan::Item& item : late.items) note.emitted_on_timeout.push_back(item.name);
    out.on_timeout->emit = std::move(late.items);
  }

  const ast::Rule& rule_;
  Reporter& report_;
  RuleScope scope_;
  Pattern pattern_;
  std::vector<std::vector<WrittenCondition>> conditions_;  // of each element's conditions, in their order
};

}  // namespace

void register_types(const ast::Rule& rule, SetContext& set) {
  for (const ast::Name* type : made_types(rule)) {
    set.fields->add_type(type->text);
    set.made[type->text].shadow_only &= rule.status == ast::RuleStatus::kShadow;
  }
  for_each_event(rule, [&](const ast::EventPattern& event) {
    for (const ast::Name& type : event.types) set.fields->set_named(set.fields->add_type(type.text));
  });
}

plan::Rule check_rule(const ast::Rule& rule, SetContext& set, Reporter& report, RuleNote& note) {
  return RuleChecker(rule, set, report).check(note);
}

}  // namespace cepd::dsl::checking
