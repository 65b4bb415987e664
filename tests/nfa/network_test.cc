#include "nfa/network.h"

#include "tests/support/rules.h"

using namespace cepd;
using cepd::test::network_of;

namespace {

std::string entry_text(const nfa::Network& network, const nfa::RuleInput& input) {
  std::string out = network.rules().rules[input.rule].name + ":";
  for (const nfa::Entry& entry : input.entries) {
    for (const auto& ref : entry.key) out += " " + to_string(ref.path);
    out += " elements " + std::to_string(entry.elements) + " unless " + std::to_string(entry.unless) +
           (entry.input ? " input" : "");
  }
  return out + (input.has_from ? " from " + std::to_string(input.from.size()) : "") + "\n";
}

/// The rules for a type, with `made` for events of it that rules make.
std::string inputs(const nfa::Network& network, const std::string& type, bool made = false) {
  std::string out;
  const TypeId id = network.fields().find(type).value_or(kOtherType);
  for (const nfa::RuleInput& input : made ? network.derived_inputs(id) : network.inputs(id)) {
    out += entry_text(network, input);
  }
  return out;
}

}  // namespace

TEST_CASE("network: rules with * are there for every type, in the order of names, each once") {
  const auto network = network_of(
      "RULE a MATCH x THEN y WITHIN 1m\n"
      "RULE b KEY u MATCH x THEN * AS all WITHIN 1m\n"
      "RULE c KEY u MATCH y[p > 1] THEN x BY v WITHIN 1m UNLESS x\n"
      "RULE d MATCH *\n"
      "RULE e FROM *, x[p = 1] MATCH y\n");
  CHECK(inputs(*network, "x") ==
        "a: elements 1 unless 0 input\n"
        "b: u elements 3 unless 0 input from 1\n"
        "c: v elements 2 unless 0 input u elements 0 unless 1\n"
        "d: elements 1 unless 0 input from 1\n"
        "e: elements 0 unless 0 input from 2\n");
  CHECK(inputs(*network, "y") ==
        "a: elements 2 unless 0 input\n"
        "b: u elements 2 unless 0 input from 1\n"
        "c: u elements 1 unless 0 input\n"
        "d: elements 1 unless 0 input from 1\n"
        "e: elements 1 unless 0 input from 1\n");
  const std::string any =
      "b: u elements 2 unless 0 input from 1\n"
      "d: elements 1 unless 0 input from 1\n"
      "e: elements 0 unless 0 input from 1\n";
  CHECK(inputs(*network, "seen by no rule") == any);
  std::string newer;  // a type of a later plan
  for (const nfa::RuleInput& input : network->inputs(TypeId{1000})) newer += entry_text(*network, input);
  CHECK(newer == any);
}

TEST_CASE("network: what rules make goes to those that name it") {
  const auto network = network_of(
      "RULE a MATCH x WITHIN 1m EMIT x.p AS p INTO made ON TIMEOUT EMIT x.p AS p INTO made\n"
      "RULE b MATCH (* OR made) AS n\n"
      "RULE c FROM *, made MATCH *\n"
      "RULE d MATCH *\n"
      "RULE e MATCH x EMIT x.p AS p INTO made\n");
  CHECK(inputs(*network, "made", true) ==
        "b: elements 1 unless 0 input\n"
        "c: elements 0 unless 0 input from 1\n");
  CHECK(inputs(*network, "x", true).empty());
  CHECK(network->makers(*network->fields().find("made")) == std::vector<std::uint32_t>{0, 4});
  CHECK(network->makers(*network->fields().find("x")).empty());
}

TEST_CASE("network: patterns that differ in types, conditions and WITHIN only have one automaton") {
  const auto network = network_of(
      "RULE a MATCH x[p = 1] THEN y WITHIN 1m\n"
      "RULE b KEY u MATCH z AS n THEN w[q > 2] WITHIN 2m\n"
      "RULE c MATCH x NEXT y WITHIN 1m\n"
      "RULE d MATCH x THEN y WITHIN 1m UNLESS z\n");
  CHECK(&network->automaton(0) == &network->automaton(1));
  CHECK(&network->automaton(0) == &network->automaton(3));
  CHECK(&network->automaton(0) != &network->automaton(2));
}
