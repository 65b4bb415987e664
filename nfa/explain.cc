#include "nfa/explain.h"

#include <algorithm>
#include <boost/algorithm/string/join.hpp>
#include <boost/algorithm/string/replace.hpp>

#include "dsl/plan_print.h"
#include "nfa/chain_text.h"

namespace cepd::nfa {
namespace {

namespace plan = dsl::plan;

/// Names of the parts of one rule.
class Names {
 public:
  Names(const Network& network, std::size_t rule)
      : fields_(network.fields()), rule_(network.rules().rules[rule]), automaton_(network.automaton(rule)) {}

  std::string types(const plan::Types& types) const { return dsl::print(types, fields_); }
  const plan::Element& element(plan::ElementId id) const { return rule_.elements[static_cast<std::size_t>(id)]; }
  const State& state(StateId id) const { return automaton_.states[static_cast<std::size_t>(id)]; }
  std::string element_text(plan::ElementId id) const {
    const plan::Element& e = element(id);
    const std::string type = types(e.test.types), name = quoted_if_needed(e.name);
    if (e.name.find('#') != std::string::npos) return e.name;  // it has none of its own
    return e.name.empty() || name == type ? type : type + " AS " + name;
  }
  std::string guards(ElementSet set) const {
    std::vector<std::string> names;
    for (std::size_t i = 0; i < rule_.elements.size(); ++i) {
      const auto id = plan::ElementId(static_cast<std::uint16_t>(i));
      if ((set & element_bit(id)) == 0) continue;
      names.push_back(((automaton_.next_guards & element_bit(id)) != 0 ? "next not " : "not ") +
                      types(element(id).test.types));
    }
    return boost::algorithm::join(names, ", ");
  }
  /// `login`, `a AS x or b`, `a and b`.
  std::string elements(ElementSet set, const char* between) const {
    std::vector<std::string> names;
    for (; set != 0; set &= set - 1) {
      names.push_back(element_text(plan::ElementId(static_cast<std::uint16_t>(__builtin_ctzll(set)))));
    }
    return boost::algorithm::join(names, between);
  }
  std::string what(const State& s) const {
    std::vector<std::string> members;
    for (const ElementSet member : s.members) {
      const bool brackets = s.joins() && (member & (member - 1)) != 0;
      members.push_back(brackets ? "(" + elements(member, " or ") + ")" : elements(member, " or "));
    }
    return boost::algorithm::join(members, " and ");
  }
  /// What the state itself takes further.
  std::string again(const State& s) const { return s.joins() ? "another of them" : what(s); }
  std::string count(const State& s) const {
    if (s.joins() || (s.min == 1 && s.max == 1)) return {};
    const std::string max = s.max == plan::kUnbounded ? "" : std::to_string(s.max);
    std::string out = " {" + std::to_string(s.min) + (std::to_string(s.min) == max ? "" : "," + max) + "}";
    if (s.again == plan::Contiguity::kStrict) out += " consecutive";
    if (s.again == plan::Contiguity::kSkipTillAny) out += " combinations";
    if (s.greedy) out += " greedy";
    if (s.until) out += " until " + types(element(*s.until).test.types);
    return out;
  }
  std::string completes(const Accept& accept) const {
    switch (accept.completes) {
      case Completes::kNow:
        return "complete at once";
      case Completes::kNextEvent:
        return "complete at the very next event: " + guards(accept.guards);
      case Completes::kDeadline:
        return "complete " +
               (accept.within ? format_duration(*accept.within) + " later" : std::string("when the time is up")) +
               ": " + guards(accept.guards);
      case Completes::kRepeatEnd:
        return "complete when the repeat ends";
    }
    return {};
  }
  static std::string branch_text(const State& s, BranchSet set) {
    if (s.branches.size() < 2) return {};
    std::vector<std::string> numbers;
    for (; set != 0; set &= set - 1) numbers.push_back(std::to_string(__builtin_ctzll(set) + 1));
    return "way " + boost::algorithm::join(numbers, ", ");
  }
  /// `way 2: 2 or more repeats of the group so far`; of branches that are not always open.
  static std::string counts_text(const Branch& branch) {
    std::vector<std::string> tests;
    for (const CountTest& test : branch.when) {
      const std::string group = " repeats of group " + std::to_string(static_cast<unsigned>(test.group) + 1);
      tests.push_back(test.max == plan::kUnbounded ? std::to_string(test.min) + " or more" + group
                                                   : "at most " + std::to_string(test.max) + group);
    }
    return boost::algorithm::join(tests, ", ");
  }
  std::string edge_text(const Edge& edge) const {
    std::string out = contiguity(edge.link.contiguity);
    if (edge.link.within) out += " within " + format_duration(*edge.link.within);
    if (edge.link.after.count() != 0) out += " after " + format_duration(edge.link.after);
    return out;
  }
  /// What else must hold on the edge, and what it means for groups.
  std::vector<std::string> edge_notes(const State& from, const Edge& edge) const {
    std::vector<std::string> notes;
    if (edge.guards != 0) notes.push_back("[" + guards(edge.guards) + "]");
    for (std::size_t i = 0; i < automaton_.groups.size(); ++i) {
      const std::string group = " group " + std::to_string(i + 1);
      if ((edge.enters >> i & 1) != 0) notes.push_back("into" + group);
      if ((edge.repeats >> i & 1) != 0) notes.push_back("next repeat of" + group);
    }
    add_bounds(notes, edge.inside);
    if (std::string ways = branch_text(from, edge.branches); !ways.empty()) notes.push_back(std::move(ways));
    return notes;
  }
  /// Of groups that the event must still lie in.
  void add_bounds(std::vector<std::string>& notes, GroupSet inside) const {
    for (std::size_t i = 0; i < automaton_.groups.size(); ++i) {
      if ((inside >> i & 1) == 0) continue;
      notes.push_back("within " + format_duration(*automaton_.groups[i].within) + " of the start of group " +
                      std::to_string(i + 1));
    }
  }
  std::vector<std::string> again_notes(const State& s) const {
    std::vector<std::string> notes;
    add_bounds(notes, s.inside);
    return notes;
  }
  /// When its ways are open and when it is complete. `at_once`: also where nothing is waited for.
  std::vector<std::string> state_notes(const State& s, bool at_once) const {
    std::vector<std::string> notes;
    for (std::size_t i = 0; i < s.branches.size(); ++i) {
      const Branch& branch = s.branches[i];
      if (!branch.when.empty()) notes.push_back("way " + std::to_string(i + 1) + " after " + counts_text(branch));
      if (!branch.accept || (!at_once && branch.accept->completes == Completes::kNow)) continue;
      const std::string ways = branch_text(s, BranchSet{1} << i);
      notes.push_back(completes(*branch.accept) + (ways.empty() ? "" : "   " + ways));
    }
    return notes;
  }
  /// `o.order_id`, `order_id`.
  std::string field_text(const plan::FieldRef& ref) const {
    const std::string property = ref.property == plan::Property::kTime   ? "ts"
                                 : ref.property == plan::Property::kType ? "type"
                                 : ref.property == plan::Property::kMade ? "whether a rule made it"
                                                                         : to_string(ref.path);
    switch (ref.subject) {
      case plan::Subject::kTested:
        break;
      case plan::Subject::kPrevious:
        return "prev(" + property + ")";
      case plan::Subject::kFirst:
        return "first(" + element(ref.element).name + "." + property + ")";
      case plan::Subject::kLast:
        return element(ref.element).name + "." + property;
      case plan::Subject::kIndex:
        return element(ref.element).name + "[" + std::to_string(ref.index) + "]." + property;
    }
    return property;
  }
  /// What partial matches in a state are found by, instead of looking at each.
  std::string equal_text(const EqualLookBack& equal) const { return found_by(equal) + " = " + field_text(equal.of); }
  std::string range_text(const RangeLookBack& range) const {
    const auto* field = std::get_if<plan::FieldRef>(&range.of->node);
    const std::string of = field != nullptr ? field_text(*field) : dsl::print(*range.of);
    return found_by(range) + (range.above ? " above " : " below ") + of;
  }
  std::string found_by(const LookedBackFrom& from) const {
    std::vector<std::string> tested;
    for (const auto& [of, field] : from.elements) {
      if (std::string text = field_text(field); std::find(tested.begin(), tested.end(), text) == tested.end()) {
        tested.push_back(std::move(text));
      }
    }
    return "found by " + boost::algorithm::join(tested, " or ");
  }
  static std::string contiguity(plan::Contiguity contiguity) {
    switch (contiguity) {
      case plan::Contiguity::kSkipTillNext:
        return "then";
      case plan::Contiguity::kSkipTillAny:
        return "then any";
      case plan::Contiguity::kStrict:
        return "next";
    }
    return {};
  }
  std::string state_name(StateId id) const { return std::to_string(static_cast<unsigned>(id) + 1); }

  const plan::Rule& rule() const { return rule_; }
  const Automaton& automaton() const { return automaton_; }

 private:
  const FieldPlan& fields_;
  const plan::Rule& rule_;
  const Automaton& automaton_;
};

std::string policy_text(const Names& names) {
  const plan::Rule& rule = names.rule();
  switch (rule.policy) {
    case plan::Policy::kConsume:
      return "CONSUME: no event counts in two matches";
    case plan::Policy::kNoSkip:
      return "NO SKIP: every match is reported";
    case plan::Policy::kSkipPastLast:
      return "SKIP PAST LAST: what began at or before the match's last event is dropped";
    case plan::Policy::kSkipToNext:
      return "SKIP TO NEXT: what began at the match's first event is dropped";
    case plan::Policy::kSkipToFirst:
    case plan::Policy::kSkipToLast:
      return std::string(rule.policy == plan::Policy::kSkipToFirst ? "SKIP TO FIRST " : "SKIP TO LAST ") +
             names.element(rule.policy_element).name + ": what began before that event is dropped";
  }
  return {};
}

std::string indented(const std::string& text) { return "  " + boost::algorithm::replace_all_copy(text, "\n", "\n  "); }

std::string key_text(const plan::Rule& rule) {
  std::vector<std::string> names;
  for (const FieldPath& path : rule.key) names.push_back(to_string(path));
  return names.empty() ? "none: all events are one partition" : boost::algorithm::join(names, ", ");
}

/// How the partial matches are kept, and why one by one where they are.
std::string evaluator_text(const Names& names, const LookBack& look_back) {
  if (look_back.sets) return "partial matches that nothing ahead tells apart move together";
  const std::string each = "one partial match at a time: ";
  if (names.automaton().ambiguous) return each + "several ways may bind the same events";
  if (names.rule().on_timeout) return each + "ON TIMEOUT asks for each first event";
  return each + "each first event has a deadline of its own";
}

}  // namespace

std::string explain(const Network& network, std::size_t index) {
  const Names names(network, index);
  const plan::Rule& rule = names.rule();
  const dsl::RuleSet& set = network.rules();
  std::string out = "rule " + rule.name + "  (" + set.files[rule.file] + ")\n";
  if (!set.texts.empty()) {
    std::string text = set.texts[index];
    while (text.ends_with('\n')) text.pop_back();
    out += indented(text) + "\n";
  }
  out += "  key           " + key_text(rule) + "\n";
  out += "  bound         " +
         (rule.within    ? format_duration(*rule.within) + " from first to last event"
          : rule.bounded ? std::string("by its links and groups")
                         : std::string("none: partial matches wait until the state TTL")) +
         "\n";
  out += "  after match   " + policy_text(names) + "\n";
  out += chain_text(network, index);
  out += "  evaluator     " + evaluator_text(names, network.look_back(index)) + "\n";
  out += "  states\n";
  const auto line = [&](std::string words, const std::vector<std::string>& notes) {
    for (const std::string& note : notes) words += "   " + note;
    out += "               " + words + "\n";
  };
  for (const Edge& edge : names.automaton().start.edges) {
    out += "    start      take " + names.elements(edge.elements, " or ") + " -> " + names.state_name(edge.to) + "\n";
  }
  for (std::size_t i = 0; i < names.automaton().states.size(); ++i) {
    const State& state = names.automaton().states[i];
    const std::string name = names.state_name(StateId(static_cast<std::uint16_t>(i)));
    out += "    " + name + std::string(name.size() < 4 ? 4 - name.size() : 0, ' ') + names.what(state) +
           names.count(state) + "\n";
    if (state.max > 1) line("take " + names.again(state) + " -> " + name, names.again_notes(state));
    for (const Edge& edge : state.edges) {
      line(
          names.edge_text(edge) + " take " + names.elements(edge.elements, " or ") + " -> " + names.state_name(edge.to),
          names.edge_notes(state, edge));
    }
    if (const auto& equal = network.look_back(index).states[i].equal) line(names.equal_text(*equal), {});
    if (const auto& range = network.look_back(index).states[i].range) line(names.range_text(*range), {});
    for (const std::string& note : names.state_notes(state, true)) line(note, {});
  }
  return out + "\n";
}

std::string explain_dot(const Network& network, std::size_t index) {
  const Names names(network, index);
  const auto quoted = [](const std::string& text) {
    std::string out = boost::algorithm::replace_all_copy(text, "\\", "\\\\");
    boost::algorithm::replace_all(out, "\"", "\\\"");
    boost::algorithm::replace_all(out, "\n", "\\n");
    return "\"" + out + "\"";
  };
  const auto label = [&](std::string text, const std::vector<std::string>& notes) {
    for (const std::string& note : notes) text += "\n" + note;
    return "label=" + quoted(text);
  };
  const plan::Rule& rule = names.rule();
  std::vector<std::string> about;
  if (rule.within) about.push_back("WITHIN " + format_duration(*rule.within));
  for (const plan::EventTest& test : rule.unless) about.push_back("UNLESS " + names.types(test.types));
  std::string out = "digraph " + quoted(rule.name) + " {\n  " + label(rule.name, about) +
                    ";\n  rankdir=LR;\n  node [shape=box, style=rounded];\n  start [shape=point];\n";
  for (const Edge& edge : names.automaton().start.edges) {
    out +=
        "  start -> s" + names.state_name(edge.to) + " [" + label(names.elements(edge.elements, " or "), {}) + "];\n";
  }
  for (std::size_t i = 0; i < names.automaton().states.size(); ++i) {
    const State& state = names.automaton().states[i];
    const std::string name = "s" + names.state_name(StateId(static_cast<std::uint16_t>(i)));
    const bool accepts = std::any_of(state.branches.begin(), state.branches.end(),
                                     [](const Branch& branch) { return branch.accept.has_value(); });
    out += "  " + name + " [" + label(names.what(state) + names.count(state), names.state_notes(state, false)) +
           (accepts ? ", peripheries=2" : "") + "];\n";
    if (state.max > 1) {
      out += "  " + name + " -> " + name + " [" + label(names.again(state), names.again_notes(state)) + "];\n";
    }
    for (const Edge& edge : state.edges) {
      const std::string link = names.edge_text(edge) + " " + names.elements(edge.elements, " or ");
      out += "  " + name + " -> s" + names.state_name(edge.to) + " [" + label(link, names.edge_notes(state, edge)) +
             "];\n";
    }
  }
  return out + "}\n";
}

}  // namespace cepd::nfa
