#include "dsl/check_facts.h"

#include <algorithm>
#include <set>
#include <string>

#include "dsl/plan_print.h"
#include "dsl/plan_walk.h"

namespace cepd::dsl::checking {
namespace {

using plan::Subject;

template <class Node>
plan::ExprPtr make(Node node) {
  return std::make_shared<const plan::Expr>(plan::Expr{std::move(node)});
}

plan::Constant int_constant(std::int64_t i) { return {Kind::kInt, {}, Value::integer(i)}; }
plan::Constant duration_constant(Micros d) { return {Kind::kDuration, {}, Value::duration(d)}; }

std::uint32_t product(std::uint64_t a, std::uint64_t b) {
  if (a == 0 || b == 0) return 0;
  if (a >= plan::kUnbounded || b >= plan::kUnbounded) return plan::kUnbounded;
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(a * b, plan::kUnbounded));
}

/// n[0].f and n[-1].f of an element that is one event are n.f.
bool is_the_event(const plan::FieldRef& ref) {
  switch (ref.subject) {
    case Subject::kFirst:
    case Subject::kLast:
      return true;
    case Subject::kIndex:
      return ref.index == 0 || ref.index == -1;
    default:
      return false;
  }
}

const plan::FieldRef* time_ref(const plan::Expr& expr) {
  const auto* ref = std::get_if<plan::FieldRef>(&expr.node);
  return ref != nullptr && ref->property == plan::Property::kTime ? ref : nullptr;
}

}  // namespace

RuleFacts::RuleFacts(const plan::Rule& rule, const SetContext& set)
    : rule_(rule), set_(set), counts_(rule.elements.size()), places_(rule.elements.size()) {
  place(rule.pattern, 1, 1, false);
}

void RuleFacts::place(const plan::Sequence& sequence, std::uint64_t least, std::uint64_t most, bool in_group) {
  for (const plan::Step& step : sequence.steps) {
    if (const auto* id = std::get_if<plan::SlotId>(&step.item)) {
      const plan::Slot& slot = rule_.slots[static_cast<std::size_t>(*id)];
      for (const plan::ElementSet member : slot.members) {
        const bool alone = (member & (member - 1)) == 0;
        for (std::size_t i = 0; i < counts_.size(); ++i) {
          if ((member >> i & 1) == 0) continue;
          counts_[i] = {alone ? product(least, slot.min) : 0, product(most, slot.max)};
          if (slot.members.size() > 1) places_[i].all = *id;
          places_[i].in_group = in_group;
        }
      }
    } else if (const auto* group = std::get_if<plan::Group>(&step.item)) {
      const bool repeats = group->repeats();
      place(group->body, product(least, group->min), product(most, group->max), in_group || repeats);
    } else if (const auto* alternatives = std::get_if<plan::Alternatives>(&step.item)) {
      for (const plan::Sequence& branch : alternatives->branches) place(branch, 0, most, in_group);
    }
  }
}

bool RuleFacts::sure(std::size_t element) const {
  const CountRange& range = counts_[element];
  return range.least == 1 && range.most == 1;
}

bool RuleFacts::bound_before(std::size_t sure, std::optional<std::size_t> element) const {
  if (!element) return true;
  const auto all = places_[*element].all;
  return sure < *element && !(all && all == places_[sure].all);
}

// ---- one way of writing ----

plan::ExprPtr RuleFacts::key_value(const plan::FieldRef& ref, std::size_t element) const {
  if (ref.property != plan::Property::kField) return nullptr;
  const auto& key = rule_.elements[element].test.key;
  for (std::size_t i = 0; i < key.size(); ++i) {
    if (key[i].property == plan::Property::kField && key[i].path == ref.path) return make(plan::KeyRef{i});
  }
  return nullptr;
}

plan::ExprPtr RuleFacts::normal(const plan::ExprPtr& expr, std::optional<std::size_t> tested, bool as_bound) const {
  return rewritten(expr, [&](const plan::Expr& part) -> plan::ExprPtr {
    const auto* ref = std::get_if<plan::FieldRef>(&part.node);
    if (ref == nullptr) return nullptr;
    std::size_t element = 0;
    if (ref->subject == Subject::kTested) {
      if (!tested) return nullptr;
      element = *tested;
    } else if (is_the_event(*ref) && sure(static_cast<std::size_t>(ref->element))) {
      element = static_cast<std::size_t>(ref->element);
    } else {
      return nullptr;
    }
    if (plan::ExprPtr key = key_value(*ref, element)) return key;
    if (ref->subject == Subject::kTested && !as_bound) return nullptr;
    plan::FieldRef bound = *ref;
    bound.subject = Subject::kLast;
    bound.index = 0;
    bound.element = static_cast<plan::ElementId>(element);
    return make(std::move(bound));
  });
}

plan::ExprPtr RuleFacts::tested(const plan::ExprPtr& condition, std::size_t element) const {
  return normal(condition, element, false);
}

plan::ExprPtr RuleFacts::bound(const plan::ExprPtr& condition, std::size_t element) const {
  bool lasting = true;
  walk(*condition, [&](const plan::Expr& part) {
    if (std::holds_alternative<plan::Aggregate>(part.node)) lasting = false;
    const auto* ref = std::get_if<plan::FieldRef>(&part.node);
    if (ref == nullptr || ref->subject == Subject::kTested) return;
    lasting &= is_the_event(*ref) && sure(static_cast<std::size_t>(ref->element));
  });
  return lasting ? normal(condition, element, true) : nullptr;
}

plan::ExprPtr RuleFacts::whole(const plan::ExprPtr& condition) const { return normal(condition, std::nullopt, false); }

// ---- what values may be ----

Cases RuleFacts::at(std::size_t element) const { return cases({element, &rule_.elements[element].test.types}); }
Cases RuleFacts::at_end() const { return cases({}); }
Cases RuleFacts::for_events(const plan::Types& types) const { return cases({std::nullopt, &types}); }

Cases RuleFacts::cases(Where where) const {
  return Cases([this, where](const plan::Expr& expr) { return domain(expr, where); });
}

Cases::Domain RuleFacts::domain(const plan::Expr& expr, const Where& where) const {
  constexpr Kinds kKey = Kinds(Kind::kBool) | Kinds::number() | Kind::kString;
  const auto or_null = [](Kinds kinds) { return ValueSet::of(kinds) | ValueSet::null(); };
  if (const auto* ref = std::get_if<plan::FieldRef>(&expr.node)) return field(*ref, where);
  if (std::holds_alternative<plan::KeyRef>(expr.node)) return {ValueSet::of(kKey), false};
  if (const auto* aggregate = std::get_if<plan::Aggregate>(&expr.node)) return counted(*aggregate, where);
  if (const auto* call = std::get_if<plan::FunctionCall>(&expr.node)) {
    for (const plan::FunctionInfo& info : plan::functions()) {
      if (info.function == call->function && info.result) return {or_null(*info.result), false};
    }
    return {};
  }
  if (std::holds_alternative<plan::Matches>(expr.node)) return {or_null(Kind::kBool), false};
  if (const auto* binary = std::get_if<plan::Binary>(&expr.node)) {
    switch (binary->op) {
      case plan::BinaryOp::kSub:
        return difference(*binary->left, *binary->right, where);
      case plan::BinaryOp::kAdd:
      case plan::BinaryOp::kMul:
      case plan::BinaryOp::kDiv:
      case plan::BinaryOp::kMod:
        return {or_null(Kinds::number() | Kind::kTimestamp | Kind::kDuration), false};
      default:
        return {or_null(Kind::kBool), false};
    }
  }
  return {};
}

Cases::Domain RuleFacts::field(const plan::FieldRef& ref, const Where& where) const {
  const plan::Types* types = nullptr;
  bool there = false;  // the event it is read from is there for sure
  if (ref.subject == Subject::kTested) {
    types = where.types;
    there = true;
  } else if (ref.subject != Subject::kPrevious) {
    const auto element = static_cast<std::size_t>(ref.element);
    types = &rule_.elements[element].test.types;
    there = ref.subject == Subject::kLast && sure(element) && bound_before(element, where.element);
  }
  const auto with_null = [&](ValueSet values) { return there ? values : values | ValueSet::null(); };
  if (ref.property == plan::Property::kTime) return {with_null(ValueSet::of(Kind::kTimestamp)), false};
  if (types == nullptr || types->any || types->ids.empty()) {
    return {ref.property == plan::Property::kType ? with_null(ValueSet::of(Kind::kString)) : ValueSet::all(), false};
  }
  ValueSet out;
  Kinds kinds;
  for (const TypeId id : types->ids) {
    const FieldPlan::Type& type = set_.fields->type(id);
    if (ref.property == plan::Property::kType) {
      out = out | ValueSet::point({Kind::kString, type.name, {}});
      continue;
    }
    // Events that rules make are not checked against a declaration one by one.
    if (!type.declared || set_.made.count(type.name) != 0 || ref.path.steps.size() > 1) return {};
    const auto* name = std::get_if<std::string>(&ref.path.steps.front());
    const auto it = std::find_if(type.declared->begin(), type.declared->end(),
                                 [&](const DeclaredField& f) { return name != nullptr && f.name == *name; });
    if (it == type.declared->end()) {
      out = out | ValueSet::null();
      continue;
    }
    kinds = kinds | kinds_of(it->type);
    out = out | ValueSet::of(kinds_of(it->type));
    if (it->nullable) out = out | ValueSet::null();
  }
  return {with_null(out), !kinds.overlaps(Kind::kDouble)};
}

Cases::Domain RuleFacts::difference(const plan::Expr& left, const plan::Expr& right, const Where& where) const {
  const plan::FieldRef* later = time_ref(left);
  const plan::FieldRef* earlier = time_ref(right);
  if (later == nullptr || earlier == nullptr) {
    return {ValueSet::of(Kinds::number() | Kind::kTimestamp | Kind::kDuration) | ValueSet::null(), false};
  }
  const auto in_match = [&](const plan::FieldRef& ref) {
    if (ref.subject != Subject::kTested) return true;
    return where.element && rule_.elements[*where.element].role == plan::Role::kTake;
  };
  ValueSet out = ValueSet::of(Kind::kDuration);
  const auto limit = [&](plan::BinaryOp op, Micros d) { out = out & ValueSet::where(op, duration_constant(d)); };
  if (rule_.within && in_match(*later) && in_match(*earlier)) {
    limit(plan::BinaryOp::kLe, *rule_.within);
    limit(plan::BinaryOp::kGe, -*rule_.within);
  }
  const auto position = [](const plan::FieldRef& ref) { return static_cast<std::size_t>(ref.element); };
  const auto is_sure = [&](const plan::FieldRef& ref) { return ref.subject == Subject::kLast && sure(position(ref)); };
  const bool in_order = later->subject == Subject::kTested
                            ? earlier->subject != Subject::kTested
                            : is_sure(*later) && is_sure(*earlier) && position(*later) != position(*earlier) &&
                                  bound_before(position(*earlier), position(*later));
  if (in_order) limit(plan::BinaryOp::kGe, Micros(0));
  return {out | ValueSet::null(), false};
}

Cases::Domain RuleFacts::counted(const plan::Aggregate& aggregate, const Where& where) const {
  const bool number = aggregate.kind == plan::AggregateKind::kCount || aggregate.kind == plan::AggregateKind::kDistinct;
  if (!number) return {};
  const auto element = static_cast<std::size_t>(aggregate.element);
  CountRange range = counts_[element];
  if (where.types != nullptr) {
    const bool complete = where.element && *where.element != element && bound_before(element, where.element) &&
                          rule_.elements[*where.element].role == plan::Role::kTake && !places_[element].in_group;
    if (!complete) range.least = 0;
    // The tested event is one more.
    if (where.element == element && range.most != plan::kUnbounded) --range.most;
  }
  if (aggregate.field) range.least = 0;  // nulls are left out
  ValueSet out = ValueSet::where(plan::BinaryOp::kGe, int_constant(range.least));
  if (range.most != plan::kUnbounded) out = out & ValueSet::where(plan::BinaryOp::kLe, int_constant(range.most));
  return {out, true};
}

// ---- what is known besides ----

void RuleFacts::assume_bound(Cases& cases, std::optional<std::size_t> element) const {
  for (std::size_t i = 0; i < rule_.elements.size(); ++i) {
    const plan::Element& earlier = rule_.elements[i];
    if (i == element || earlier.role != plan::Role::kTake || !sure(i) || !bound_before(i, element)) continue;
    for (const plan::ExprPtr& condition : earlier.test.conditions) {
      for_each_part(condition, [&](const plan::ExprPtr& part) {
        if (const plan::ExprPtr lasting = bound(part, i)) cases.assume(*lasting);
      });
    }
  }
}

void RuleFacts::assume_from(Cases& cases, const plan::EventTest& from, std::size_t element) const {
  if (!from.types.any) {
    plan::In of_type;
    plan::FieldRef type;
    type.property = plan::Property::kType;
    type.path = FieldPath::of("type");
    of_type.operand = make(std::move(type));
    for (const TypeId id : from.types.ids) {
      of_type.list.push_back(make(plan::Constant{Kind::kString, set_.fields->type(id).name, {}}));
    }
    cases.assume(plan::Expr{std::move(of_type)});
  }
  for (const plan::ExprPtr& condition : from.conditions) cases.assume(*tested(condition, element));
}

// ---- what follows from what ----

bool looks_at(const plan::Expr& condition, std::size_t element) {
  bool found = false;
  walk(condition, [&](const plan::Expr& part) {
    if (const auto* aggregate = std::get_if<plan::Aggregate>(&part.node)) {
      found |= static_cast<std::size_t>(aggregate->element) == element;
    }
    const auto* ref = std::get_if<plan::FieldRef>(&part.node);
    if (ref == nullptr || ref->subject == Subject::kTested) return;
    found |= ref->subject == Subject::kPrevious || static_cast<std::size_t>(ref->element) == element;
  });
  return found;
}

bool follows(const Cases& cases, const std::vector<plan::ExprPtr>& wide) {
  constexpr std::size_t kMost = 64;  // longer ones were written by a program, and each costs a copy of the cases
  return wide.size() <= kMost && std::all_of(wide.begin(), wide.end(), [&](const plan::ExprPtr& condition) {
           Cases otherwise = cases;
           otherwise.assume(*condition, kFalse | kUnknown);
           return !otherwise.possible();
         });
}

bool implies(const RuleFacts& one, std::size_t narrow, const RuleFacts& other, std::size_t wide) {
  const plan::Element& from = one.rule().elements[narrow];
  const plan::Element& to = other.rule().elements[wide];
  const auto& ids = to.test.types.ids;
  const auto& own = from.test.types.ids;
  const bool typed =
      to.test.types.any || (!from.test.types.any && std::includes(ids.begin(), ids.end(), own.begin(), own.end()));
  if (!typed || !from.joint.empty() || !to.joint.empty() || from.test.key.size() != to.test.key.size()) return false;
  for (std::size_t i = 0; i < from.test.key.size(); ++i) {
    if (from.test.key[i].path != to.test.key[i].path) return false;
  }
  std::vector<plan::ExprPtr> assumed, wanted;
  std::set<std::string> texts;
  for (const plan::ExprPtr& condition : from.test.conditions) {
    assumed.push_back(one.tested(condition, narrow));
    texts.insert(print(*assumed.back()));
  }
  for (const plan::ExprPtr& condition : to.test.conditions) {
    plan::ExprPtr normal = other.tested(condition, wide);
    if (texts.count(print(*normal)) == 0) wanted.push_back(std::move(normal));
  }
  if (wanted.empty()) return true;
  Cases cases = one.at(narrow);
  for (const plan::ExprPtr& condition : assumed) cases.assume(*condition);
  return follows(cases, wanted);
}

}  // namespace cepd::dsl::checking
