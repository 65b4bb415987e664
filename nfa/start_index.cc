#include "nfa/start_index.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "nfa/conjuncts.h"

namespace cepd::nfa {
namespace {

namespace plan = dsl::plan;

/// Where a field of the tested event stands.
std::optional<std::size_t> slot_of(const plan::Expr& expr, TypeId type) {
  const auto* field = std::get_if<plan::FieldRef>(&expr.node);
  if (field == nullptr || field->subject != plan::Subject::kTested || field->property != plan::Property::kField) {
    return std::nullopt;
  }
  for (const auto& [of, slot] : field->slots) {
    if (of == type) return slot;
  }
  return std::nullopt;
}

std::optional<Value> constant_of(const plan::Expr& expr) {
  const auto* constant = std::get_if<plan::Constant>(&expr.node);
  if (constant == nullptr || constant->kind == Kind::kNull) return std::nullopt;
  return constant->value();
}

plan::BinaryOp turned(plan::BinaryOp op) {
  switch (op) {
    case plan::BinaryOp::kLt:
      return plan::BinaryOp::kGt;
    case plan::BinaryOp::kLe:
      return plan::BinaryOp::kGe;
    case plan::BinaryOp::kGt:
      return plan::BinaryOp::kLt;
    case plan::BinaryOp::kGe:
      return plan::BinaryOp::kLe;
    default:
      return op;
  }
}

bool less(const Value& a, const Value& b) { return compare(a, b) == Ordering::kLess; }

}  // namespace

StartIndex::Family StartIndex::family_of(const Value& value) {
  switch (value.kind()) {
    case Kind::kBool:
      return Family::kBool;
    case Kind::kInt:
    case Kind::kDouble:
      return Family::kNumber;
    case Kind::kString:
      return Family::kText;
    case Kind::kTimestamp:
      return Family::kTime;
    case Kind::kDuration:
      return Family::kDuration;
    case Kind::kNull:
    case Kind::kJson:
      break;
  }
  return Family::kOther;
}

bool StartIndex::add_equality(std::uint32_t place, const plan::Expr& condition, TypeId type) {
  std::optional<std::size_t> slot;
  std::vector<Value> constants;
  if (const auto* equal = std::get_if<plan::Binary>(&condition.node)) {
    if (equal->op != plan::BinaryOp::kEq) return false;
    const bool field_first = slot_of(*equal->left, type).has_value();
    slot = slot_of(field_first ? *equal->left : *equal->right, type);
    const auto constant = constant_of(field_first ? *equal->right : *equal->left);
    if (!constant) return false;
    constants.push_back(*constant);
  } else if (const auto* in = std::get_if<plan::In>(&condition.node)) {
    if (in->negated) return false;
    slot = slot_of(*in->operand, type);
    for (const plan::ExprPtr& item : in->list) {
      const auto constant = constant_of(*item);
      if (!constant) return false;
      constants.push_back(*constant);
    }
  }
  if (!slot || constants.empty()) return false;
  const Family family = family_of(constants.front());
  for (const Value& constant : constants) {
    if (family_of(constant) != family || family == Family::kOther) return false;
  }
  auto table = std::find_if(equalities_.begin(), equalities_.end(),
                            [&](const Equality& each) { return each.slot == *slot && each.family == family; });
  if (table == equalities_.end()) {
    equalities_.push_back({*slot, family, {}, {}});
    table = std::prev(equalities_.end());
  }
  for (const Value& constant : constants) {
    std::vector<std::uint32_t>& places = table->places[equality_hash(constant)];
    if (places.empty() || places.back() != place) places.push_back(place);
  }
  table->all.push_back(place);
  return true;
}

bool StartIndex::add_range(std::uint32_t place, const plan::Expr& condition, TypeId type) {
  const auto* binary = std::get_if<plan::Binary>(&condition.node);
  if (binary == nullptr) return false;
  const bool field_first = slot_of(*binary->left, type).has_value();
  const auto slot = slot_of(field_first ? *binary->left : *binary->right, type);
  const auto constant = constant_of(field_first ? *binary->right : *binary->left);
  if (!slot || !constant) return false;
  const Family family = family_of(*constant);
  if (family == Family::kOther || family == Family::kBool) return false;
  const plan::BinaryOp op = field_first ? binary->op : turned(binary->op);
  const bool above = op == plan::BinaryOp::kGt || op == plan::BinaryOp::kGe;
  if (!above && op != plan::BinaryOp::kLt && op != plan::BinaryOp::kLe) return false;
  auto range = std::find_if(ranges_.begin(), ranges_.end(), [&](const Range& each) {
    return each.slot == *slot && each.family == family && each.above == above;
  });
  if (range == ranges_.end()) {
    ranges_.push_back({*slot, family, above, {}});
    range = std::prev(ranges_.end());
  }
  range->bounds.push_back({*constant, place});
  return true;
}

void StartIndex::add(std::uint32_t place, const plan::Rule& rule, plan::ElementSet elements, TypeId type) {
  for (; elements != 0; elements &= elements - 1) {
    const std::vector<const plan::Expr*> conjuncts =
        conjuncts_of(rule.elements[static_cast<std::size_t>(__builtin_ctzll(elements))].test);
    const auto any = [&](bool (StartIndex::*index)(std::uint32_t, const plan::Expr&, TypeId)) {
      return std::any_of(conjuncts.begin(), conjuncts.end(),
                         [&](const plan::Expr* each) { return (this->*index)(place, *each, type); });
    };
    if (any(&StartIndex::add_equality) || any(&StartIndex::add_range)) continue;
    always_.push_back(place);
  }
}

void StartIndex::finish() {
  for (Range& range : ranges_) {
    std::stable_sort(range.bounds.begin(), range.bounds.end(),
                     [](const Bound& a, const Bound& b) { return less(a.constant, b.constant); });
  }
}

void StartIndex::find(const Event& event, std::vector<std::uint32_t>& out) const {
  const std::size_t before = out.size();
  out.insert(out.end(), always_.begin(), always_.end());
  for (const Equality& equality : equalities_) {
    const Value& value = event.field(equality.slot);
    if (value.is_null()) continue;
    if (family_of(value) != equality.family) {
      out.insert(out.end(), equality.all.begin(), equality.all.end());
      continue;
    }
    const auto it = equality.places.find(equality_hash(value));
    if (it != equality.places.end()) out.insert(out.end(), it->second.begin(), it->second.end());
  }
  for (const Range& range : ranges_) {
    const Value& value = event.field(range.slot);
    if (value.is_null()) continue;
    auto first = range.bounds.begin(), last = range.bounds.end();
    if (family_of(value) == range.family) {
      const auto below = [](const Bound& bound, const Value& of) { return less(bound.constant, of); };
      const auto above = [](const Value& of, const Bound& bound) { return less(of, bound.constant); };
      if (range.above) {
        last = std::upper_bound(first, last, value, above);
      } else {
        first = std::lower_bound(first, last, value, below);
      }
    }
    for (; first != last; ++first) out.push_back(first->place);
  }
  const auto begin = out.begin() + static_cast<std::ptrdiff_t>(before);
  if (out.size() - before < 2) return;
  if (!std::is_sorted(begin, out.end())) std::sort(begin, out.end());
  out.erase(std::unique(begin, out.end()), out.end());
}

}  // namespace cepd::nfa
