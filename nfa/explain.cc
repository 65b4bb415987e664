#include "nfa/explain.h"

#include <boost/algorithm/string/join.hpp>
#include <boost/algorithm/string/replace.hpp>

#include "nfa/chain_text.h"

namespace cepd::nfa {
namespace {

namespace plan = dsl::plan;

/// Names of the parts of one rule.
class Names {
 public:
  Names(const Network& network, std::size_t rule)
      : fields_(network.fields()), rule_(network.rules().rules[rule]), automaton_(network.automaton(rule)) {}

  std::string types(const plan::Types& types) const {
    if (types.any) return "*";
    std::vector<std::string> names;
    for (const TypeId id : types.ids) names.push_back(quoted_if_needed(fields_.type(id).name));
    return boost::algorithm::join(names, " | ");
  }
  const plan::Element& element(plan::ElementId id) const { return rule_.elements[static_cast<std::size_t>(id)]; }
  const State& state(StateId id) const { return automaton_.states[static_cast<std::size_t>(id)]; }
  std::string element_text(plan::ElementId id) const {
    const plan::Element& e = element(id);
    const std::string type = types(e.test.types);
    return e.name.empty() || e.name == type ? type : type + " AS " + quoted_if_needed(e.name);
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
    for (const ElementSet member : s.members) members.push_back(elements(member, " or "));
    return boost::algorithm::join(members, " and ");
  }
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
        return "complete at the very next event unless " + guards(accept.guards);
      case Completes::kDeadline:
        return "complete " +
               (accept.within ? format_duration(*accept.within) + " later" : std::string("when the time is up")) +
               ": " + guards(accept.guards);
      case Completes::kRepeatEnd:
        return "complete when the repeat ends";
    }
    return {};
  }
  std::string branch_text(const State& s, BranchSet set) const {
    if (s.branches.size() < 2) return {};
    std::vector<std::string> numbers;
    for (; set != 0; set &= set - 1) numbers.push_back(std::to_string(__builtin_ctzll(set) + 1));
    return "   way " + boost::algorithm::join(numbers, ", ");
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
  std::string edge_notes(const State& from, const Edge& edge) const {
    std::string out;
    if (edge.guards != 0) out += "   [" + guards(edge.guards) + "]";
    for (std::size_t i = 0; i < automaton_.groups.size(); ++i) {
      const std::string group = " group " + std::to_string(i + 1);
      if ((edge.enters >> i & 1) != 0) out += "   into" + group;
      if ((edge.repeats >> i & 1) != 0) out += "   next repeat of" + group;
      if ((edge.inside >> i & 1) != 0) {
        out += "   within " + format_duration(*automaton_.groups[i].within) + " of the start of" + group;
      }
    }
    return out + branch_text(from, edge.branches);
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

}  // namespace

std::string explain(const Network& network, std::size_t index) {
  const Names names(network, index);
  const plan::Rule& rule = names.rule();
  std::string text = rule.text;
  while (text.ends_with('\n')) text.pop_back();
  std::string out = "rule " + rule.name + "  (" + rule.file + ")\n" + indented(text) + "\n";
  out += "  key           " + key_text(rule) + "\n";
  out += "  bound         " +
         (rule.within    ? format_duration(*rule.within) + " from first to last event"
          : rule.bounded ? std::string("by its links and groups")
                         : std::string("none: partial matches wait until the state TTL")) +
         "\n";
  out += "  after match   " + policy_text(names) + "\n";
  out += chain_text(network, index);
  out += "  evaluator     plain, one partial match at a time\n";
  out += "  states\n";
  for (const Edge& edge : names.automaton().start.edges) {
    out += "    start      take " + names.elements(edge.elements, " or ") + " -> " + names.state_name(edge.to) + "\n";
  }
  for (std::size_t i = 0; i < names.automaton().states.size(); ++i) {
    const State& state = names.automaton().states[i];
    const std::string name = names.state_name(StateId(static_cast<std::uint16_t>(i)));
    out += "    " + name + std::string(name.size() < 4 ? 4 - name.size() : 0, ' ') + names.what(state) +
           names.count(state) + "\n";
    if (state.max > 1) out += "               take " + names.what(state) + " -> " + name + "\n";
    for (const Edge& edge : state.edges) {
      out += "               " + names.edge_text(edge) + " take " + names.elements(edge.elements, " or ") + " -> " +
             names.state_name(edge.to) + names.edge_notes(state, edge) + "\n";
    }
    for (std::size_t k = 0; k < state.branches.size(); ++k) {
      const Branch& branch = state.branches[k];
      if (!branch.when.empty()) {
        out += "               way " + std::to_string(k + 1) + " after " + Names::counts_text(branch) + "\n";
      }
      if (!branch.accept) continue;
      out += "               " + names.completes(*branch.accept) + names.branch_text(state, BranchSet{1} << k) + "\n";
    }
  }
  return out + "\n";
}

std::string explain_dot(const Network& network, std::size_t index) {
  const Names names(network, index);
  const auto quoted = [](const std::string& text) {
    return "\"" +
           boost::algorithm::replace_all_copy(boost::algorithm::replace_all_copy(text, "\\", "\\\\"), "\"", "\\\"") +
           "\"";
  };
  std::string out =
      "digraph " + quoted(names.rule().name) + " {\n  rankdir=LR;\n  node [shape=circle];\n  start [shape=point];\n";
  for (std::size_t i = 0; i < names.automaton().states.size(); ++i) {
    const State& state = names.automaton().states[i];
    const std::string name = names.state_name(StateId(static_cast<std::uint16_t>(i)));
    std::string label = names.what(state) + names.count(state);
    bool accepts = false;
    for (const Branch& branch : state.branches) {
      accepts = accepts || branch.accept;
      if (branch.accept && branch.accept->completes != Completes::kNow) label += "\n" + names.completes(*branch.accept);
    }
    out += "  s" + name + " [label=" + boost::algorithm::replace_all_copy(quoted(label), "\n", "\\n") +
           (accepts ? ", shape=doublecircle" : "") + "];\n";
    if (state.max > 1) out += "  s" + name + " -> s" + name + " [label=" + quoted(names.what(state)) + "];\n";
    for (const Edge& edge : state.edges) {
      const std::string link =
          names.edge_text(edge) + " " + names.elements(edge.elements, " or ") + names.edge_notes(state, edge);
      out += "  s" + name + " -> s" + names.state_name(edge.to) + " [label=" + quoted(link) + "];\n";
    }
  }
  for (const Edge& edge : names.automaton().start.edges) {
    out += "  start -> s" + names.state_name(edge.to) + " [label=" + quoted(names.elements(edge.elements, " or ")) +
           "];\n";
  }
  return out + "}\n";
}

}  // namespace cepd::nfa
