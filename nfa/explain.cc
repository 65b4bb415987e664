#include "nfa/explain.h"

#include <boost/algorithm/string/join.hpp>
#include <boost/algorithm/string/replace.hpp>

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
  std::string count(const State& s) const {
    if (s.min == 1 && s.max == 1) return {};
    const std::string max = s.max == plan::kUnbounded ? "" : std::to_string(s.max);
    return " {" + std::to_string(s.min) + (std::to_string(s.min) == max ? "" : "," + max) + "}";
  }
  std::string completes(const State& s) const {
    switch (s.completes) {
      case Completes::kNever:
        return {};
      case Completes::kNow:
        return "complete at once";
      case Completes::kNextEvent:
        return "complete at the very next event unless " + guards(s.accept_guards);
      case Completes::kDeadline:
        return "complete when the time is up: " + guards(s.accept_guards);
    }
    return {};
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
         (rule.within ? format_duration(*rule.within) + " from first to last event"
                      : std::string("none: partial matches wait until the state TTL")) +
         "\n";
  out += "  after match   " + policy_text(names) + "\n";
  out += "  evaluator     plain, one partial match at a time\n";
  out += "  states\n";
  for (const StateId id : names.automaton().starts) {
    out += "    start      take " + names.element_text(names.state(id).element) + " -> " + names.state_name(id) + "\n";
  }
  for (std::size_t i = 0; i < names.automaton().states.size(); ++i) {
    const State& state = names.automaton().states[i];
    const std::string name = names.state_name(StateId(static_cast<std::uint16_t>(i)));
    out += "    " + name + std::string(name.size() < 4 ? 4 - name.size() : 0, ' ') + names.element_text(state.element) +
           names.count(state) + "\n";
    if (state.max > 1) out += "               take " + names.element_text(state.element) + " -> " + name + "\n";
    for (const Edge& edge : state.edges) {
      out += "               " + Names::contiguity(edge.contiguity) + " take " +
             names.element_text(names.state(edge.to).element) + " -> " + names.state_name(edge.to);
      if (edge.guards != 0) out += "   [" + names.guards(edge.guards) + "]";
      out += "\n";
    }
    if (state.completes != Completes::kNever) out += "               " + names.completes(state) + "\n";
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
    std::string label = names.element(state.element).name + names.count(state);
    if (state.completes != Completes::kNever && state.completes != Completes::kNow)
      label += "\n" + names.completes(state);
    out += "  s" + name + " [label=" + boost::algorithm::replace_all_copy(quoted(label), "\n", "\\n") +
           (state.completes == Completes::kNever ? "" : ", shape=doublecircle") + "];\n";
    if (state.max > 1)
      out += "  s" + name + " -> s" + name + " [label=" + quoted(names.types(names.element(state.element).test.types)) +
             "];\n";
    for (const Edge& edge : state.edges) {
      std::string link = Names::contiguity(edge.contiguity) + " " +
                         names.types(names.element(names.state(edge.to).element).test.types);
      if (edge.guards != 0) link += " [" + names.guards(edge.guards) + "]";
      out += "  s" + name + " -> s" + names.state_name(edge.to) + " [label=" + quoted(link) + "];\n";
    }
  }
  for (const StateId id : names.automaton().starts) {
    out += "  start -> s" + names.state_name(id) +
           " [label=" + quoted(names.types(names.element(names.state(id).element).test.types)) + "];\n";
  }
  return out + "}\n";
}

}  // namespace cepd::nfa
