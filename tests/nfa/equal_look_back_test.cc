#include "nfa/equal_look_back.h"

#include <doctest/doctest.h>

#include <sstream>
#include <string>

#include "nfa/explain.h"
#include "tests/support/rules.h"

using namespace cepd;
using cepd::test::network_of;

namespace {

/// What explain says of the states that have one: "1: order_id = o.order_id, 2: …".
std::string found_by(const std::string& pattern) {
  const auto network = network_of("RULE r MATCH " + pattern);
  const std::string words = "found by ";
  std::istringstream text(nfa::explain(*network, 0));
  std::string out, line, state;
  while (std::getline(text, line)) {
    if (line.size() > 4 && line[4] >= '1' && line[4] <= '9') state = line.substr(4, line.find(' ', 4) - 4);
    const auto found = line.find(words);
    if (found != std::string::npos) out += (out.empty() ? "" : ", ") + state + ": " + line.substr(found + words.size());
  }
  return out;
}

}  // namespace

TEST_CASE("equal look-back: a state whose next event must equal something bound") {
  CHECK(found_by("order AS o THEN payment[order_id = o.order_id] WITHIN 1h") == "1: order_id = o.order_id");
  CHECK(found_by("order AS o THEN payment[o.order_id = order_id] WITHIN 1h") == "1: order_id = o.order_id");
  CHECK(found_by("order AS o THEN payment[amount > 3 AND order_id = o.order_id] WITHIN 1h") ==
        "1: order_id = o.order_id");
  CHECK(found_by("order AS o THEN payment AS p WITHIN 1h WHERE p.order_id = o.order_id AND p.amount > o.amount") ==
        "1: order_id = o.order_id");
  CHECK(found_by("a AS a THEN b AS b THEN c[x = b.y] WITHIN 1h") == "2: x = b.y");
  CHECK(found_by("a THEN b[prev(x) = x] THEN c WITHIN 1h") == "1: x = prev(x)");
  CHECK(found_by("a+ UNTIL u[x = first(a.x)] AS a THEN b[x = first(a.x)] WITHIN 1h") == "");
  CHECK(found_by("a AS s THEN b+ CONSECUTIVE AS b THEN c[x = s.x] WITHIN 1h") == "");
}

TEST_CASE("equal look-back: all that can do something must ask for the same") {
  CHECK(found_by("o AS o THEN (p[i = o.i] OR q[j = o.i]) WITHIN 1h") == "1: i or j = o.i");
  CHECK(found_by("o AS o THEN (p[i = o.i] OR q) WITHIN 1h") == "");
  CHECK(found_by("o AS o THEN (p[i = o.i] OR q[i = o.j]) WITHIN 1h") == "");
  CHECK(found_by("o AS o THEN (p[i = o.j AND k = o.i] OR q[i = o.i]) WITHIN 1h") == "1: k or i = o.i");
  CHECK(found_by("o AS o THEN NOT x[i = o.i] THEN p[i = o.i] WITHIN 1h") == "1: i = o.i");
  CHECK(found_by("o AS o THEN NOT x THEN p[i = o.i] WITHIN 1h") == "");
  CHECK(found_by("o AS o THEN p[i = o.i]+ UNTIL u[i = o.i] AS p THEN q[i = o.i] WITHIN 1h") ==
        "1: i = o.i, 2: i = o.i");
  CHECK(found_by("o AS o THEN p[i = o.i]+ UNTIL u AS p THEN q[i = o.i] WITHIN 1h") == "");
  CHECK(found_by("o AS o THEN NOT p[i = o.i] WITHIN 1h") == "1: i = o.i");
}

TEST_CASE("range look-back: a state whose next event must be above or below something bound") {
  CHECK(found_by("a AS a THEN b[x > a.x] WITHIN 1h") == "1: x above a.x");
  CHECK(found_by("a AS a THEN b[a.x >= x AND x > 0] WITHIN 1h") == "1: x below a.x");
  CHECK(found_by("a AS a THEN b[x < prev(x)] WITHIN 1h") == "1: x below prev(x)");
  CHECK(found_by("a AS a THEN b[x > a.x AND y = a.y] WITHIN 1h") == "1: y = a.y");
  CHECK(found_by("a AS a THEN (b[x > a.x] OR c[a.x < y]) WITHIN 1h") == "1: x or y above a.x");
  CHECK(found_by("a AS a THEN (b[x > a.x] OR c[x < a.x]) WITHIN 1h") == "");
  CHECK(found_by("a AS a THEN (b[x > a.x] OR c) WITHIN 1h") == "");
  CHECK(found_by("a AS a THEN b[x > a.x OR x < 0] WITHIN 1h") == "");
  CHECK(found_by("a AS a THEN b[x > 3] WITHIN 1h") == "");
  CHECK(found_by("a AS a THEN b[x > y] WITHIN 1h") == "");
  CHECK(found_by("a AS a NEXT b[x > a.x] WITHIN 1h") == "");
}

TEST_CASE("equal look-back: none where the very next event counts, or where the equality may be left open") {
  CHECK(found_by("o AS o NEXT p[i = o.i] WITHIN 1h") == "");
  CHECK(found_by("o AS o THEN p[i = o.i OR i = 0] WITHIN 1h") == "");
  CHECK(found_by("o AS o THEN p[NOT i = o.i] WITHIN 1h") == "");
  CHECK(found_by("o AS o THEN p[i != o.i] WITHIN 1h") == "");
  CHECK(found_by("o AS o THEN p[i = 3] WITHIN 1h") == "");
}

TEST_CASE("equal look-back: UNLESS clauses are found by it where they ask for it too") {
  const auto equal = [](const std::string& unless) {
    const auto network = network_of("RULE r MATCH o AS o THEN p[i = o.i] WITHIN 1h " + unless);
    return *network->look_back(0).states[0].equal;
  };
  CHECK(equal("").unless.empty());
  CHECK(equal("UNLESS x").unless.empty());
  const nfa::EqualLookBack second = equal("UNLESS x, y[j = o.i]");
  REQUIRE(second.unless.size() == 1);
  CHECK(second.unless[0].first == 1);
  CHECK(to_string(second.unless[0].second.path) == "j");
}
