#include "dsl/share.h"

#include <bit>
#include <boost/container_hash/hash.hpp>
#include <type_traits>
#include <variant>

namespace cepd::dsl::checking {
namespace {

template <class... Parts>
std::size_t hash_of_all(const Parts&... parts) {
  std::size_t seed = 0;
  (boost::hash_combine(seed, parts), ...);
  return seed;
}

// What tells most of them apart; what these leave out is compared.

std::size_t hash_of(const plan::ExprPtr& expr) { return std::hash<plan::ExprPtr>()(expr); }
std::size_t hash_of(TypeId type) { return hash_of_all(static_cast<std::uint32_t>(type)); }
std::size_t hash_of(const std::pair<TypeId, std::uint32_t>& slot) {
  return hash_of_all(static_cast<std::uint32_t>(slot.first), slot.second);
}
std::size_t hash_of(const FieldPath& path) {
  std::size_t seed = path.steps.size();
  for (const FieldPath::Step& step : path.steps) {
    if (const auto* name = std::get_if<std::string>(&step)) boost::hash_combine(seed, *name);
  }
  return seed;
}
std::size_t hash_of(const plan::FieldRef& ref) {
  return hash_of_all(static_cast<int>(ref.subject), static_cast<unsigned>(ref.element), hash_of(ref.path),
                     ref.slots.data());
}
std::size_t hash_of(const plan::JointCondition& joint) { return hash_of_all(hash_of(joint.condition), joint.others); }
std::size_t hash_of(const plan::EventTest& test) {
  return hash_of_all(test.types.any, test.types.ids.data(), test.key.data(), test.conditions.data());
}
std::size_t hash_of(const plan::Slot& slot) { return hash_of_all(slot.members, slot.min, slot.max); }
std::size_t hash_of(const plan::Step& step) {
  const auto within = step.link.within.value_or(Micros{0});
  return hash_of_all(step.item.index(), static_cast<int>(step.link.contiguity), within.count());
}
std::size_t hash_of(const plan::Item& item) { return hash_of_all(item.name, hash_of(item.value)); }
std::size_t hash_of(const plan::ActionArgument& argument) {
  return hash_of_all(argument.name, hash_of(argument.value));
}
std::size_t hash_of(const plan::Action& action) { return hash_of_all(action.name, action.arguments.data()); }

struct NodeHash {
  std::size_t operator()(const plan::Constant& node) const {
    return hash_of_all(
        static_cast<int>(node.kind), node.text,
        node.kind == Kind::kDouble ? std::bit_cast<std::int64_t>(node.scalar.as_double()) : node.scalar.as_int());
  }
  std::size_t operator()(const plan::FieldRef& node) const { return hash_of(node); }
  std::size_t operator()(const plan::KeyRef& node) const { return node.index; }
  std::size_t operator()(const plan::EmitRef& node) const { return node.index; }
  std::size_t operator()(const plan::Aggregate& node) const {
    return hash_of_all(static_cast<int>(node.kind), static_cast<unsigned>(node.element));
  }
  std::size_t operator()(const plan::Unary& node) const {
    return hash_of_all(static_cast<int>(node.op), hash_of(node.operand));
  }
  std::size_t operator()(const plan::Binary& node) const {
    return hash_of_all(static_cast<int>(node.op), hash_of(node.left), hash_of(node.right));
  }
  std::size_t operator()(const plan::In& node) const { return hash_of_all(hash_of(node.operand), all(node.list)); }
  std::size_t operator()(const plan::Between& node) const {
    return hash_of_all(hash_of(node.operand), hash_of(node.low), hash_of(node.high));
  }
  std::size_t operator()(const plan::Matches& node) const {
    return hash_of_all(hash_of(node.operand), node.pattern.get());
  }
  std::size_t operator()(const plan::IsNull& node) const { return hash_of(node.operand); }
  std::size_t operator()(const plan::FunctionCall& node) const {
    return hash_of_all(static_cast<int>(node.function), all(node.arguments));
  }
  std::size_t operator()(const plan::Template& node) const {
    std::size_t seed = node.parts.size();
    for (const auto& part : node.parts) {
      const auto* text = std::get_if<std::string>(&part);
      boost::hash_combine(seed, text != nullptr ? hash_of_all(*text) : hash_of(std::get<plan::ExprPtr>(part)));
    }
    return seed;
  }

 private:
  static std::size_t all(const std::vector<plan::ExprPtr>& list) {
    std::size_t seed = list.size();
    for (const plan::ExprPtr& each : list) boost::hash_combine(seed, hash_of(each));
    return seed;
  }
};

/// Puts the one list that equals `list` in its place.
template <class T>
void share_list(ListSet<T>& set, List<T>& list) {
  if (list.empty()) {
    list = {};
    return;
  }
  const auto [it, added] = set.insert(list);
  if (!added) list = *it;
}

}  // namespace

std::size_t ExprHash::operator()(const plan::ExprPtr& expr) const {
  return hash_of_all(expr->node.index(), std::visit(NodeHash{}, expr->node));
}

template <class T>
std::size_t ListHash<T>::operator()(const List<T>& list) const {
  std::size_t seed = list.size();
  for (const T& each : list) boost::hash_combine(seed, hash_of(each));
  return seed;
}

List<std::pair<TypeId, std::uint32_t>> Sharing::slots(List<std::pair<TypeId, std::uint32_t>> list) {
  share_list(slots_, list);
  return list;
}

void Sharing::share(plan::EventTest& test) {
  share_list(types_, test.types.ids);
  share_list(fields_, test.key);
  share_list(conditions_, test.conditions);
}

void Sharing::share(List<plan::EventTest>& tests) {
  if (tests.empty()) return;
  for (plan::EventTest& test : tests.edit()) share(test);
  share_list(tests_, tests);
}

void Sharing::share(List<plan::Action>& actions) {
  if (actions.empty()) return;
  for (plan::Action& action : actions.edit()) share_list(arguments_, action.arguments);
  share_list(actions_, actions);
}

void Sharing::share(plan::Rule& rule) {
  share_list(paths_, rule.key);
  if (rule.from) share(*rule.from);
  if (!rule.elements.empty()) {
    for (plan::Element& element : rule.elements.edit()) {
      share(element.test);
      share_list(joints_, element.joint);
    }
    rule.elements.edit().shrink_to_fit();
  }
  share_list(slot_lists_, rule.slots);
  share_list(steps_, rule.pattern.steps);
  share(rule.unless);
  share_list(conditions_, rule.having);
  share_list(items_, rule.emit);
  share_list(items_, rule.labels);
  share(rule.actions);
  if (rule.on_timeout) {
    share_list(items_, rule.on_timeout->emit);
    share(rule.on_timeout->actions);
  }
}

}  // namespace cepd::dsl::checking
