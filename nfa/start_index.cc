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

/// The same value with its text, if any, behind `texts`, which has room for it.
Value kept(const Value& value, std::vector<char>& texts) {
  if (!value.is_text()) return value;
  const std::size_t at = texts.size();
  texts.insert(texts.end(), value.text().begin(), value.text().end());
  return Value::string({texts.data() + at, value.text().size()});
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

bool StartIndex::add_equality(Found found, const plan::Expr& condition, TypeId type) {
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
    equalities_.push_back({*slot, family, {}, {}, {}, {}, {}});
    table = std::prev(equalities_.end());
  }
  for (const Value& constant : constants) table->equals.push_back({equality_hash(constant), constant, found});
  return true;
}

bool StartIndex::add_range(Found found, const plan::Expr& condition, TypeId type) {
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
    ranges_.push_back({static_cast<std::uint32_t>(*slot), family, above, {}});
    range = std::prev(ranges_.end());
  }
  range->bounds.push_back({*constant, found, op == plan::BinaryOp::kGe || op == plan::BinaryOp::kLe});
  return true;
}

void StartIndex::add(std::uint32_t place, const plan::Rule& rule, plan::ElementSet elements, TypeId type) {
  const bool one_element = (elements & (elements - 1)) == 0;
  for (; elements != 0; elements &= elements - 1) {
    const plan::EventTest& test = rule.elements[static_cast<std::size_t>(__builtin_ctzll(elements))].test;
    const std::vector<const plan::Expr*> conjuncts = conjuncts_of(test);
    // What is asked is then that comparison alone.
    const Found found(place, one_element && conjuncts.size() == 1);
    const auto any = [&](bool (StartIndex::*index)(Found, const plan::Expr&, TypeId)) {
      return std::any_of(conjuncts.begin(), conjuncts.end(),
                         [&](const plan::Expr* each) { return (this->*index)(found, *each, type); });
    };
    if (any(&StartIndex::add_equality) || any(&StartIndex::add_range)) continue;
    always_.emplace_back(place, one_element && conjuncts.empty());
  }
}

void StartIndex::finish() {
  for (Equality& equality : equalities_) {
    auto& equals = equality.equals;
    std::stable_sort(equals.begin(), equals.end(), [](const auto& a, const auto& b) { return a.hash < b.hash; });
    std::size_t text_bytes = 0;
    for (const Equality::Equal& each : equals) text_bytes += each.constant.is_text() ? each.constant.text().size() : 0;
    equality.texts.reserve(text_bytes);
    equality.constants.reserve(equals.size());
    equality.found.reserve(equals.size());
    for (const Equality::Equal& each : equals) {
      const auto at = static_cast<std::uint32_t>(equality.found.size());
      equality.by_hash.try_emplace(each.hash, Equality::Places{at, at}).first->second.end = at + 1;
      // Of many rules with one constant it is kept once.
      const Value* const last = equality.constants.empty() ? nullptr : &equality.constants.back();
      if (last != nullptr && each.constant.is_text() && last->text() == each.constant.text()) {
        equality.constants.push_back(*last);
      } else {
        equality.constants.push_back(kept(each.constant, equality.texts));
      }
      equality.found.push_back(each.found);
    }
    equals = {};
  }
  for (Range& range : ranges_) {
    std::stable_sort(range.bounds.begin(), range.bounds.end(), [&](const Range::Bound& a, const Range::Bound& b) {
      return range.above ? less(a.constant, b.constant) : less(b.constant, a.constant);
    });
    range.bounds.shrink_to_fit();
  }
  equalities_.shrink_to_fit();
  ranges_.shrink_to_fit();
  always_.shrink_to_fit();
}

void StartIndex::find_equal(const Equality& equality, const Value& value, std::vector<Found>& out) {
  if (value.is_null()) return;
  if (family_of(value) != equality.family) {
    for (const Found& each : equality.found) out.push_back(each.undecided());
    return;
  }
  const auto it = equality.by_hash.find(equality_hash(value));
  if (it == equality.by_hash.end()) return;
  bool equal = false;
  for (std::uint32_t i = it->second.begin; i < it->second.end; ++i) {
    const Value& constant = equality.constants[i];
    const bool as_before =
        i > it->second.begin && constant.is_text() && constant.text().data() == equality.constants[i - 1].text().data();
    if (!as_before) equal = compare(constant, value) == Ordering::kEqual;
    if (equal) out.push_back(equality.found[i]);
  }
}

void StartIndex::Range::find(const Event& event, std::vector<Found>& out) const {
  const Value& value = event.field(slot);
  if (value.is_null()) return;
  if (family_of(value) != family) {
    for (const Bound& each : bounds) out.push_back(each.found.undecided());
    return;
  }
  const Ordering beyond = above ? Ordering::kLess : Ordering::kGreater;
  for (const Bound& each : bounds) {
    const Ordering order = compare(each.constant, value);
    if (order != beyond && order != Ordering::kEqual) return;
    if (order == beyond || each.itself) out.push_back(each.found);
  }
}

std::optional<StartIndex::Range> StartIndex::take_only_range() {
  if (!equalities_.empty() || !always_.empty() || ranges_.size() != 1) return std::nullopt;
  return std::exchange(ranges_, {}).front();
}

void StartIndex::find(const Event& event, std::vector<Found>& out) const {
  const std::size_t before = out.size();
  out.insert(out.end(), always_.begin(), always_.end());
  for (const Equality& equality : equalities_) find_equal(equality, event.field(equality.slot), out);
  for (const Range& range : ranges_) range.find(event, out);
  if (out.size() - before < 2) return;
  const auto begin = out.begin() + static_cast<std::ptrdiff_t>(before);
  if (!std::is_sorted(begin, out.end())) std::sort(begin, out.end());
  out.erase(std::unique(begin, out.end()), out.end());
}

}  // namespace cepd::nfa
