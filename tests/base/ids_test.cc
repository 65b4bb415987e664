#include "base/ids.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

namespace cepd {
namespace {

TEST_CASE("match id: XXH3-128, printed high half first") {
  // The hash of nothing, from the xxHash specification's test vectors.
  CHECK(to_string(hash_match_id("")) == "99aa06d3014798d86001c324468d497f");
  CHECK(hash_match_id("a") != hash_match_id("b"));
  CHECK(to_string(MatchId{1, 0xab}) == "000000000000000100000000000000ab");
}

TEST_CASE("match id: printed and read back") {
  for (const MatchId id : {MatchId{}, MatchId{UINT64_MAX, 0}, MatchId{0, UINT64_MAX}, hash_match_id("x")})
    CHECK(parse_match_id(to_string(id)) == id);
  CHECK(parse_match_id("0000000000000001000000000000000A") == MatchId{1, 10});
  for (const std::string text :
       {"", "1", "0000000000000001000000000000000", "000000000000000100000000000000000",
        "000000000000000g0000000000000000", "0000000000000000000000000000000g", "-000000000000001000000000000000a",
        "000000000000000000x0000000000001", " 000000000000001000000000000000a"}) {
    INFO(text);
    CHECK_FALSE(parse_match_id(text));
  }
}

TEST_CASE("source id: equal by name, ordered by name") {
  const std::string name = "mqtt";
  const SourceId a(name), again(std::string_view("mqtt-2").substr(0, 4)), b("orders"), none;
  CHECK(a == again);
  CHECK(&a.name() == &again.name());
  CHECK((a <=> again) == std::strong_ordering::equal);
  CHECK(a != b);
  CHECK(a < b);
  CHECK(none < a);
  CHECK(none.name().empty());
  CHECK(none == SourceId(""));
}

TEST_CASE("source position: ordered by source, partition, offset") {
  const std::vector<SourcePosition> ordered{{SourceId("a"), -1, 9},
                                            {SourceId("a"), 0, 2},
                                            {SourceId("a"), 0, 10},
                                            {SourceId("a"), 1, 0},
                                            {SourceId("b"), 0, 0}};
  auto shuffled = ordered;
  std::reverse(shuffled.begin(), shuffled.end());
  std::sort(shuffled.begin(), shuffled.end());
  CHECK((shuffled == ordered));
}

}  // namespace
}  // namespace cepd
