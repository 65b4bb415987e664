#include "tests/reference/rule.h"

#include <algorithm>
#include <functional>
#include <set>

#include "tests/reference/names.h"

namespace cepd::reference {
namespace {

/// Makes the pattern's nodes out of the syntax tree, in pattern order.
class PatternMaker {
 public:
  PatternMaker(const Constants& constants, std::vector<Slot>& slots) : constants_(constants), slots_(slots) {}

  Sequence sequence(const ast::Sequence& written) {
    Sequence out;
    for (const ast::Step& step : written.steps) {
      out.push_back({link(step.link), std::make_shared<Node>(choice(step.choice))});
    }
    return out;
  }

 private:
  Link link(const ast::Link& written) const {
    Link out;
    out.kind = written.kind;
    if (written.within) out.within = duration_of(*written.within, constants_);
    if (written.after) out.after = duration_of(*written.after, constants_);
    return out;
  }

  /// "Alternatives that are single elements without quantifier act as one element …; an event that several accept is
  /// given to the one written first. Any other alternative is a branch of its own."
  Node choice(const ast::Choice& written) {
    if (written.alternatives.size() == 1) return both(written.alternatives.front());
    Or out;
    std::optional<std::size_t> singles;  // the branch of all single alternatives
    for (const ast::Both& each : written.alternatives) {
      Node node = both(each);
      auto* element = is_single(each) ? std::get_if<Element>(&node.what) : nullptr;
      if (element != nullptr && singles) {
        auto& into = std::get<Element>(out.branches[*singles].front().node->what).alternatives;
        into.insert(into.end(), element->alternatives.begin(), element->alternatives.end());
        continue;
      }
      if (element != nullptr) singles = out.branches.size();
      out.branches.push_back({Step{{}, std::make_shared<Node>(std::move(node))}});
    }
    if (out.branches.size() == 1) return std::move(*out.branches.front().front().node);
    return {std::move(out)};
  }

  /// A single event pattern without quantifier, or an OR of such in parentheses without a bound.
  static bool is_single(const ast::Both& both) {
    if (both.members.size() != 1) return false;
    const ast::Element& element = both.members.front();
    if (element.negated || element.quantifier) return false;
    const auto* group = std::get_if<std::shared_ptr<const ast::Sequence>>(&element.item);
    return group == nullptr || is_single(**group);
  }
  static bool is_single(const ast::Sequence& group) {
    return !group.within && group.steps.size() == 1 &&
           std::all_of(group.steps[0].choice.alternatives.begin(), group.steps[0].choice.alternatives.end(),
                       [](const ast::Both& each) { return is_single(each); });
  }

  Node both(const ast::Both& written) {
    if (written.members.size() == 1) return element(written.members.front());
    And out;
    const std::size_t place = ++places_;
    for (const ast::Element& each : written.members) {
      Node node = element(each);
      out.members.push_back(std::get<Element>(std::move(node.what)));
      for (Single& single : out.members.back().alternatives) single.place = place;
    }
    return {std::move(out)};
  }

  Node element(const ast::Element& written) {
    const auto* group = std::get_if<std::shared_ptr<const ast::Sequence>>(&written.item);
    if (written.negated) return not_element(written);
    // "`(A)` around one element without quantifier changes nothing"
    if (group == nullptr || is_single(**group)) return repeated(written);
    Group out;
    out.body = sequence(**group);
    if ((*group)->within) out.within = duration_of(*(*group)->within, constants_);
    if (written.quantifier && !(written.quantifier->min == 1 && written.quantifier->max == 1)) {
      out.repeated = true;
      out.min = may_be_empty(out.body) ? 0 : written.quantifier->min;  // "empty repeats only fill up the minimum"
      out.max = written.quantifier->max;
      out.between = contiguity(*written.quantifier);
    }
    return {std::move(out)};
  }

  static ast::LinkKind contiguity(const ast::Quantifier& quantifier) {
    return quantifier.consecutive    ? ast::LinkKind::kNext
           : quantifier.combinations ? ast::LinkKind::kThenAny
                                     : ast::LinkKind::kThen;
  }

  Node repeated(const ast::Element& written) {
    Element out;
    singles(written, out.alternatives, {});
    if (written.quantifier) {
      out.min = written.quantifier->min;
      out.max = written.quantifier->max;
      out.between = contiguity(*written.quantifier);
      out.greedy = written.quantifier->greedy;
      if (written.quantifier->until) out.until = &*written.quantifier->until;
    }
    return {std::move(out)};
  }

  Node not_element(const ast::Element& written) {
    Not out;
    singles(written, out.any_of, {});
    return {std::move(out)};
  }

  /// `slot`: of a named OR around it.
  void singles(const ast::Element& written, std::vector<Single>& out, std::optional<std::size_t> slot) {
    if (written.as && !slot) {
      slot = slots_.size();
      slots_.push_back({written.as->text, true});
    }
    if (const auto* event = std::get_if<ast::EventPattern>(&written.item)) {
      if (!slot) {
        slot = slots_.size();
        slots_.push_back({});
      }
      const bool same_element = !out.empty() && out.back().slot == *slot;  // an OR under one name
      out.push_back({event, *slot, same_element ? places_ : ++places_, {}});
      return;
    }
    for (const ast::Both& each : std::get<1>(written.item)->steps.front().choice.alternatives) {
      singles(each.members.front(), out, slot);
    }
  }

  const Constants& constants_;
  std::vector<Slot>& slots_;
  std::size_t places_ = 0;
};

void visit(const Sequence& sequence, bool nots, const std::function<void(Single&)>& see);
void visit(Node& node, bool nots, const std::function<void(Single&)>& see) {
  if (auto* element = std::get_if<Element>(&node.what)) {
    for (Single& single : element->alternatives) see(single);
  } else if (auto* negated = std::get_if<Not>(&node.what)) {
    if (nots) {
      for (Single& single : negated->any_of) see(single);
    }
  } else if (auto* both = std::get_if<And>(&node.what)) {
    for (Element& member : both->members) {
      for (Single& single : member.alternatives) see(single);
    }
  } else if (auto* either = std::get_if<Or>(&node.what)) {
    for (const Sequence& branch : either->branches) visit(branch, nots, see);
  } else {
    visit(std::get<Group>(node.what).body, nots, see);
  }
}
void visit(const Sequence& sequence, bool nots, const std::function<void(Single&)>& see) {
  for (const Step& step : sequence) visit(*step.node, nots, see);
}

std::string types_text(const ast::EventPattern& event) {
  if (event.types.empty()) return "*";
  std::string out;
  for (const ast::Name& type : event.types) out += (out.empty() ? "" : "|") + type.text;
  return out;
}

/// "An element without AS is called by its type if it is the only nameless element of that one type (NOTs aside) and no
/// AS uses the word; otherwise … stands in the output as A#1, A#2 in pattern order."
void name_slots(const Sequence& pattern, std::vector<Slot>& slots) {
  std::map<std::string, std::size_t> nameless, numbers;
  std::set<std::string> taken;
  for (const Slot& slot : slots) {
    if (slot.named) taken.insert(slot.name);
  }
  std::vector<const ast::EventPattern*> events(slots.size(), nullptr);  // of elements without AS, in pattern order
  visit(pattern, false, [&](Single& single) {
    if (slots[single.slot].name.empty()) events[single.slot] = single.event;
  });
  for (const ast::EventPattern* event : events) {
    if (event != nullptr) ++nameless[types_text(*event)];
  }
  for (std::size_t i = 0; i < slots.size(); ++i) {
    if (events[i] == nullptr) continue;
    Slot& slot = slots[i];
    const std::string types = types_text(*events[i]);
    slot.named = events[i]->types.size() == 1 && nameless[types] == 1 && taken.count(types) == 0;
    if (slot.named) {
      slot.name = types;
      continue;
    }
    do {
      slot.name = types + "#" + std::to_string(++numbers[types]);
    } while (taken.count(slot.name) != 0);
  }
}

void mark_last(const Sequence& sequence) {
  if (sequence.empty()) return;
  Node& node = *sequence.back().node;
  if (auto* element = std::get_if<Element>(&node.what)) element->last = true;
  if (auto* group = std::get_if<Group>(&node.what)) mark_last(group->body);
  if (auto* either = std::get_if<Or>(&node.what)) {
    for (const Sequence& branch : either->branches) mark_last(branch);
  }
}

/// Gives a part of WHERE to the elements it belongs to (language-details.md section 4): "of the elements a part names
/// it belongs to the one that is bound last (AND members: whichever comes last in time; OR: each on its own branch,
/// names of other branches null)".
class WhereOwner {
 public:
  WhereOwner(ast::ExprPtr part, const std::set<std::size_t>& named) : part_(std::move(part)), named_(named) {}

  bool names(const Sequence& sequence) const {
    bool found = false;
    visit(sequence, true, [&](Single& single) { found |= named_.count(single.slot) != 0; });
    return found;
  }
  void give(const Sequence& sequence) const {
    for (auto step = sequence.rbegin(); step != sequence.rend(); ++step) {
      if (!names({*step})) continue;
      give(*step->node);
      return;
    }
  }

 private:
  void give(std::vector<Single>& singles, const std::vector<std::size_t>& members) const {
    for (Single& single : singles) {
      if (named_.count(single.slot) != 0) single.where.push_back({part_, members});
    }
  }
  void give(Node& node) const {
    if (auto* element = std::get_if<Element>(&node.what)) {
      give(element->alternatives, {});
    } else if (auto* negated = std::get_if<Not>(&node.what)) {
      give(negated->any_of, {});
    } else if (auto* both = std::get_if<And>(&node.what)) {
      std::vector<std::size_t> members;
      for (std::size_t i = 0; i < both->members.size(); ++i) {
        const auto& alternatives = both->members[i].alternatives;
        if (std::any_of(alternatives.begin(), alternatives.end(),
                        [&](const Single& single) { return named_.count(single.slot) != 0; })) {
          members.push_back(i);
        }
      }
      for (const std::size_t i : members) give(both->members[i].alternatives, members);
    } else if (auto* either = std::get_if<Or>(&node.what)) {
      for (const Sequence& branch : either->branches) give(branch);
    } else {
      give(std::get<Group>(node.what).body);
    }
  }

  ast::ExprPtr part_;
  const std::set<std::size_t>& named_;
};

/// "WHERE is split at its top-level ANDs."
void split(const ast::ExprPtr& condition, std::vector<ast::ExprPtr>& parts) {
  const auto* binary = std::get_if<ast::Binary>(&condition->node);
  if (binary != nullptr && binary->op == ast::BinaryOp::kAnd) {
    split(binary->left, parts);
    split(binary->right, parts);
  } else {
    parts.push_back(condition);
  }
}

bool may_be_empty(const Node& node) {
  if (const auto* element = std::get_if<Element>(&node.what)) return element->min == 0;
  if (std::holds_alternative<Not>(node.what)) return true;
  if (std::holds_alternative<And>(node.what)) return false;
  if (const auto* either = std::get_if<Or>(&node.what)) {
    return std::any_of(either->branches.begin(), either->branches.end(),
                       [](const Sequence& branch) { return may_be_empty(branch); });
  }
  const auto& group = std::get<Group>(node.what);
  return group.min == 0 || may_be_empty(group.body);
}

}  // namespace

bool may_be_empty(const Sequence& sequence) {
  return std::all_of(sequence.begin(), sequence.end(), [](const Step& step) { return may_be_empty(*step.node); });
}

std::vector<const Single*> singles_of(const Sequence& sequence) {
  std::vector<const Single*> out;
  visit(sequence, true, [&](Single& single) { out.push_back(&single); });
  return out;
}

std::optional<std::size_t> Rule::slot(const std::string& word) const {
  for (std::size_t i = 0; i < slots.size(); ++i) {
    if (slots[i].named && slots[i].name == word) return i;
  }
  return std::nullopt;
}

Micros duration_of(const ast::DurationTerm& term, const Constants& constants) {
  if (const auto* d = std::get_if<Micros>(&term.value)) return *d;
  return std::get<Micros>(constants.at(std::get<ast::ConstantRef>(term.value).name).value);
}

Constants constants_of(const ast::File& file) {
  Constants out;
  for (const ast::Statement& statement : file.statements) {
    if (const auto* constant = std::get_if<ast::ConstDecl>(&statement)) {
      out[constant->name.text] = std::get<ast::Literal>(constant->value->node);
    }
  }
  return out;
}

Rule make_rule(const ast::Rule& written, const Constants& constants) {
  Rule out;
  out.written = &written;
  out.name = written.name.text;
  out.constants = constants;
  for (const ast::KeyField& field : written.key) out.key.push_back(field.path);
  out.pattern = PatternMaker(constants, out.slots).sequence(written.pattern);
  name_slots(out.pattern, out.slots);
  mark_last(out.pattern);
  if (written.within) out.within = duration_of(*written.within, constants);
  if (written.limit) out.limit = Limit{written.limit->count, duration_of(written.limit->per, constants)};
  if (written.after_match && written.after_match->element) out.skip_to = out.slot(written.after_match->element->text);
  if (written.where_condition) {
    std::vector<ast::ExprPtr> parts;
    split(written.where_condition, parts);
    for (const ast::ExprPtr& part : parts) {
      std::set<std::size_t> named;
      for (const std::string& word : first_names(*part)) {
        if (const auto slot = out.slot(word)) named.insert(*slot);
      }
      if (named.empty()) named.insert(0);  // "a part that names no element belongs to the first"
      WhereOwner(part, named).give(out.pattern);
    }
  }
  return out;
}

}  // namespace cepd::reference
