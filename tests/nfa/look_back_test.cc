#include "nfa/look_back.h"

#include <doctest/doctest.h>

#include <string>

#include "nfa/network.h"
#include "tests/support/rules.h"

using namespace cepd;
using cepd::test::network_of;

namespace {

bool is_strict(const std::string& pattern) { return network_of("RULE r MATCH " + pattern)->look_back(0).strict; }

}  // namespace

TEST_CASE("Patterns in which nothing but the very next event and WITHIN matters are strict") {
  CHECK(is_strict("a NEXT b NEXT c"));
  CHECK(is_strict("a NEXT b[n > prev(n)]+ CONSECUTIVE NEXT c WITHIN 1m"));
  CHECK(is_strict("a NEXT b{2,3} CONSECUTIVE GREEDY NEXT c"));
  CHECK(is_strict("a AS x NEXT b[n > x.n] NEXT c[n > first(b.n)]"));
}

TEST_CASE("Patterns in which something else may matter are not strict") {
  CHECK_FALSE(is_strict("a THEN b WITHIN 1m"));
  CHECK_FALSE(is_strict("a NEXT b THEN c WITHIN 1m"));
  CHECK_FALSE(is_strict("a NEXT b+ NEXT c WITHIN 1m"));
  CHECK_FALSE(is_strict("a NEXT b NEXT WITHIN 5s c"));
  CHECK_FALSE(is_strict("a NEXT b+ UNTIL d CONSECUTIVE NEXT c"));
  CHECK_FALSE(is_strict("a NEXT NOT d NEXT c"));
  CHECK_FALSE(is_strict("a NEXT b NEXT NOT d"));
  CHECK_FALSE(is_strict("a NEXT (b AND c) NEXT d"));
  CHECK_FALSE(is_strict("a NEXT b NEXT c UNLESS d"));
  CHECK_FALSE(is_strict("a NEXT (b NEXT c)+ CONSECUTIVE NEXT d"));
}
