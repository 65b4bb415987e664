/// Events that are joined by a field: as a KEY would, or by a KEY that never joins them.

#include <algorithm>
#include <map>
#include <numeric>

#include "dsl/check_warn_parts.h"

namespace cepd::dsl::checking {
namespace {

/// A field of an element or of an UNLESS event (numbered after the elements).
using Node = std::pair<std::size_t, FieldPath>;

/// Fields that are equal in every match, as far as top-level equalities say.
class Joins {
 public:
  explicit Joins(const WarnContext& context) : rule_(context.rule) {
    for (std::size_t i = 0; i < rule_.elements.size(); ++i) {
      const plan::Element& element = rule_.elements[i];
      for (std::size_t k = 0; k < element.test.conditions.size(); ++k) {
        add(i, element.test.conditions[k], context.text.conditions[i][k]);
      }
      for (const plan::JointCondition& joint : element.joint) add(i, joint.condition, joint_text(context));
    }
    for (std::size_t i = 0; i < rule_.unless.size(); ++i) {
      const ast::EventPattern& written = context.text.rule.unless[i];
      for (const plan::ExprPtr& condition : rule_.unless[i].conditions) {
        add(rule_.elements.size() + i, condition, {written.where, written.condition.get()});
      }
    }
  }

  /// The sets of fields of which every element and every UNLESS event has one.
  std::vector<std::vector<Node>> whole() const {
    std::map<std::size_t, std::vector<Node>> sets;
    for (const auto& [node, id] : ids_) sets[root(id)].push_back(node);
    std::vector<std::vector<Node>> out;
    for (auto& [id, nodes] : sets) {
      std::vector<bool> seen(rule_.elements.size() + rule_.unless.size());
      for (const Node& node : nodes) seen[node.first] = true;
      if (std::find(seen.begin(), seen.end(), false) == seen.end()) out.push_back(std::move(nodes));
    }
    return out;
  }
  /// The first equality in the text; requires that there is one.
  ast::Location where() const { return where_; }

 private:
  /// WHERE, whose part over several members of an AND it is.
  static WrittenCondition joint_text(const WarnContext& context) {
    const ast::Expr& where = *context.text.rule.where_condition;
    return {where.where, nullptr};
  }

  std::optional<Node> node(const plan::Expr& expr, std::size_t tested) const {
    const auto* ref = std::get_if<plan::FieldRef>(&expr.node);
    if (ref == nullptr || ref->property != plan::Property::kField) return std::nullopt;
    if (ref->subject == plan::Subject::kPrevious) return std::nullopt;
    if (ref->subject == plan::Subject::kTested) return Node{tested, ref->path};
    // b[0].f beside b[1].f: the events of a repeat are told apart, and no KEY is meant.
    if (ref->subject == plan::Subject::kIndex) return std::nullopt;
    return Node{static_cast<std::size_t>(ref->element), ref->path};
  }

  void add(std::size_t tested, const plan::ExprPtr& condition, const WrittenCondition& written) {
    std::vector<Part> parts;
    add_parts(condition, written, parts);
    for (const Part& part : parts) {
      for_each_part(part.expr, [&](const plan::ExprPtr& each) {
        const auto* equal = std::get_if<plan::Binary>(&each->node);
        if (equal == nullptr || equal->op != plan::BinaryOp::kEq) return;
        const auto left = node(*equal->left, tested), right = node(*equal->right, tested);
        if (!left || !right || left->first == right->first) return;
        if (ids_.empty() || part.where.begin < where_.begin) where_ = part.where;
        const std::size_t a = root(id(*left)), b = root(id(*right));
        parents_[a] = b;
      });
    }
  }

  std::size_t id(const Node& node) {
    const auto [it, added] = ids_.emplace(node, parents_.size());
    if (added) parents_.push_back(parents_.size());
    return it->second;
  }
  std::size_t root(std::size_t id) const {
    while (parents_[id] != id) id = parents_[id];
    return id;
  }

  const plan::Rule& rule_;
  std::map<Node, std::size_t> ids_;
  std::vector<std::size_t> parents_;
  ast::Location where_;
};

/// One KEY field: its name, and what each element calls it.
struct KeyField {
  FieldPath path;
  std::vector<FieldPath> of;
};

/// The field name that most of the elements share; each element takes its own where it has it.
KeyField key_field(const std::vector<Node>& nodes, std::size_t elements) {
  KeyField out;
  std::size_t best = 0;
  for (const Node& node : nodes) {  // in the order of the elements
    std::vector<bool> has(elements);
    for (const Node& other : nodes) {
      if (other.second == node.second) has[other.first] = true;
    }
    const auto count = static_cast<std::size_t>(std::count(has.begin(), has.end(), true));
    if (count <= best) continue;
    best = count;
    out.path = node.second;
  }
  out.of.resize(elements);
  for (const Node& node : nodes) {
    FieldPath& own = out.of[node.first];
    if (own.empty() || node.second == out.path) own = node.second;
  }
  return out;
}

std::string list(const std::vector<std::string>& items, const char* last) {
  std::string out;
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (i > 0) out += i + 1 == items.size() ? last : ", ";
    out += items[i];
  }
  return out;
}

bool looks_at_next(const plan::Rule& rule) {
  bool out = false;
  for_each_step(rule.pattern, [&](const StepPlace& at) {
    out |= at.index + (at.around == nullptr ? 0U : 1U) > 0 && at.step().link.contiguity == plan::Contiguity::kStrict;
    const auto* group = std::get_if<plan::Group>(&at.step().item);
    out |= group != nullptr && group->max > 1 && group->again == plan::Contiguity::kStrict;
  });
  return out || std::any_of(rule.slots.begin(), rule.slots.end(), [](const plan::Slot& slot) {
           return slot.max > 1 && slot.again == plan::Contiguity::kStrict;
         });
}

}  // namespace

void warn_missing_key(const WarnContext& context) {
  const plan::Rule& rule = context.rule;
  const std::size_t elements = rule.elements.size() + rule.unless.size();
  if (!rule.key.empty() || elements < 2) return;
  const Joins joins(context);
  std::vector<KeyField> key;
  for (const std::vector<Node>& nodes : joins.whole()) key.push_back(key_field(nodes, elements));
  if (key.empty()) return;
  std::sort(key.begin(), key.end(), [](const KeyField& a, const KeyField& b) { return a.path < b.path; });
  key.erase(std::unique(key.begin(), key.end(), [](const KeyField& a, const KeyField& b) { return a.path == b.path; }),
            key.end());
  constexpr std::size_t kMostFields = 4;  // each of them is right without the others
  if (key.size() > kMostFields) key.resize(kMostFields);

  std::vector<std::string> names;
  for (const KeyField& field : key) names.push_back(to_string(field.path));
  std::vector<std::string> changes{"write KEY " + list(names, ", ")};
  std::vector<std::string> joined = names;
  for (std::size_t i = 0; i < elements; ++i) {
    const bool other = std::any_of(key.begin(), key.end(), [&](const KeyField& f) { return f.of[i] != f.path; });
    if (!other) continue;
    std::vector<std::string> by;
    for (const KeyField& field : key) {
      by.push_back(to_string(field.of[i]));
      if (std::find(joined.begin(), joined.end(), by.back()) == joined.end()) joined.push_back(by.back());
    }
    const bool is_element = i < rule.elements.size();
    const ast::EventPattern& event =
        is_element ? *context.text.elements[i].events.front() : context.text.rule.unless[i - rule.elements.size()];
    std::string type = event.types.empty() ? "*" : "";
    for (const ast::Name& name : event.types) type += (type.empty() ? "" : " | ") + quoted_if_needed(name.text);
    const std::string change = type + " BY " + list(by, ", ");
    if (std::find(changes.begin(), changes.end(), change) == changes.end()) changes.push_back(change);
  }
  std::string hint = list(changes, " and ");
  if (looks_at_next(rule)) hint += ": NEXT and CONSECUTIVE then look at the events of one " + names.front();
  context.report.warn(joins.where(),
                      "events are joined by " + list(joined, " and ") +
                          ", and the rule has no KEY: every event is tried with every other",
                      hint);
}

void warn_unlike_keys(const WarnContext& context) {
  const plan::Rule& rule = context.rule;
  for (std::size_t k = 0; k < rule.key.size(); ++k) {
    std::optional<std::pair<std::size_t, Kinds>> before;
    for (std::size_t i = 0; i < rule.elements.size(); ++i) {
      const plan::FieldRef& field = rule.elements[i].test.key[k];
      const auto& types = rule.elements[i].test.types;
      const auto* name = std::get_if<std::string>(&field.path.steps.front());
      if (types.any || types.ids.empty() || name == nullptr || field.property != plan::Property::kField) continue;
      Kinds kinds;
      for (const TypeId id : types.ids) {
        const FieldPlan::Type& type = context.scope.set.fields->type(id);
        const bool checked = type.declared && context.scope.set.made.count(type.name) == 0;
        if (!checked) kinds = Kinds::all();
        if (!checked) continue;
        for (const DeclaredField& declared : *type.declared) {
          if (declared.name == *name) kinds = kinds | kinds_of(declared.type);
        }
      }
      if (!before) before.emplace(i, kinds);
      if (comparable(before->second, kinds, false)) continue;
      const std::string one = rule.elements[before->first].name, other = rule.elements[i].name;
      const bool by = field.path != rule.key[k];
      context.report.warn(by ? context.text.elements[i].events.front()->where : context.text.rule.key[k].where,
                          to_string(rule.key[k]) + " is " + with_article(before->second) + " in " + one + " and " +
                              with_article(kinds) + " in " + other + ": no event of one has the key of the other",
                          "take a field of one type, with BY where it has another name");
      break;
    }
  }
}

}  // namespace cepd::dsl::checking
