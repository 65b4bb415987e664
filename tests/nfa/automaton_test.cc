/// Automata as `cepd explain` prints them: states, edges, the ways that exclude each other.
#include "nfa/automaton.h"

#include <doctest/doctest.h>

#include "nfa/explain.h"
#include "tests/support/rules.h"

using namespace cepd;
using cepd::test::network_of;

namespace {

/// The states of `MATCH text`, without what stands above them.
std::string states(const std::string& text) {
  std::string out = nfa::explain(*network_of("RULE r MATCH " + text), 0);
  out.erase(0, out.find("  states\n") + 9);
  return out;
}

}  // namespace

TEST_CASE("automaton: an element that may be left out is passed by edges of one way") {
  CHECK(states("a THEN b? NEXT c WITHIN 1m") ==
        "    start      take a -> 1\n"
        "    1   a\n"
        "               then take b -> 2\n"
        "               next take c -> 3\n"
        "    2   b\n"
        "               next take c -> 3\n"
        "    3   c\n"
        "               complete at once\n\n");
}

TEST_CASE("automaton: a repeated group may go on or end, each a way of its own, after so many repeats") {
  CHECK(states("a THEN (b THEN c WITHIN 5s){2,3} CONSECUTIVE THEN d WITHIN 1m") ==
        "    start      take a -> 1\n"
        "    1   a\n"
        "               then take b -> 2   into group 1\n"
        "    2   b\n"
        "               then take c -> 3   within 5s of the start of group 1\n"
        "    3   c\n"
        "               then take d -> 4   way 2\n"
        "               next take b -> 2   next repeat of group 1   way 1\n"
        "               way 1 after at most 2 repeats of group 1\n"
        "               way 2 after 2 or more repeats of group 1\n"
        "    4   d\n"
        "               complete at once\n\n");
}

TEST_CASE("automaton: a repeat of what may be empty has no minimum") {
  CHECK(states("(a?){2,} THEN b WITHIN 1m") ==
        "    start      take a -> 1\n"
        "    start      take b -> 2\n"
        "    1   a\n"
        "               then take b -> 2   way 2\n"
        "               then take a -> 1   next repeat of group 1   way 1\n"
        "    2   b\n"
        "               complete at once\n\n");
}

TEST_CASE("automaton: a last NOT waits in a way of its own, a last GREEDY repeat until it ends") {
  CHECK(states("a THEN b+ THEN WITHIN 5m NOT c") ==
        "    start      take a -> 1\n"
        "    1   a\n"
        "               then take b -> 2\n"
        "    2   b {1,}\n"
        "               take b -> 2\n"
        "               complete 5m later: not c   way 1\n\n");
  CHECK(states("a THEN b* GREEDY UNTIL c") ==
        "    start      take a -> 1\n"
        "    1   a\n"
        "               then take b -> 2\n"
        "               complete when the repeat ends\n"
        "    2   b {1,} greedy until c\n"
        "               take b -> 2\n"
        "               complete when the repeat ends\n\n");
}

TEST_CASE("automaton: the first event of a repeat with COMBINATIONS may be left out, unless NEXT reaches it") {
  CHECK(states("a THEN (b THEN c){2} COMBINATIONS WITHIN 1m").find("then any take b -> 2") != std::string::npos);
  CHECK(states("a THEN b{2} COMBINATIONS WITHIN 1m").find("then any take b -> 2") != std::string::npos);
  CHECK(states("a NEXT b{2} COMBINATIONS WITHIN 1m").find("next take b -> 2") != std::string::npos);
}

TEST_CASE("automaton: only where two ways take the same event for the same element can partial matches become equal") {
  const auto ambiguous = [](const std::string& text) {
    return network_of("RULE r MATCH " + text)->automaton(0).ambiguous;
  };
  CHECK(ambiguous("(a+){2,} THEN b"));
  CHECK(ambiguous("((a THEN b?){1,2}){1,2} THEN c"));
  CHECK_FALSE(ambiguous("(a THEN b){2,} THEN c"));
  CHECK_FALSE(ambiguous("a AND b THEN c"));
}
