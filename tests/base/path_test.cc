#include "base/path.h"

#include <doctest/doctest.h>

namespace cepd {
namespace {

TEST_CASE("path: printed as in a rule") {
  CHECK(to_string(FieldPath{}).empty());
  CHECK(to_string(FieldPath::of("price")) == "price");
  CHECK(to_string(FieldPath{{std::string("payload"), std::string("device"), std::string("id")}}) ==
        "payload.device.id");
  CHECK(to_string(FieldPath{{std::string("tags"), std::int64_t{0}, std::string("name"), std::int64_t{12}}}) ==
        "tags[0].name[12]");
  CHECK(to_string(FieldPath{{std::string("a b"), std::string("c.d")}}) == "`a b`.`c.d`");
}

TEST_CASE("path: names that are not plain get back quotes") {
  CHECK(quoted_if_needed("cart_add") == "cart_add");
  CHECK(quoted_if_needed("_9") == "_9");
  CHECK(quoted_if_needed("Z") == "Z");
  CHECK(quoted_if_needed("door/open") == "`door/open`");
  CHECK(quoted_if_needed("9a") == "`9a`");
  CHECK(quoted_if_needed("") == "``");
  CHECK(quoted_if_needed("tür") == "`tür`");
}

TEST_CASE("path: equal and ordered by steps; an index is no name") {
  const FieldPath a = FieldPath::of("a");
  const FieldPath nested{{std::string("a"), std::string("b")}};
  CHECK(a == FieldPath::of("a"));
  CHECK(a < nested);
  CHECK(FieldPath{{std::string("a"), std::int64_t{0}}} != FieldPath{{std::string("a"), std::string("0")}});
  CHECK(a < FieldPath::of("b"));
  CHECK(FieldPath{}.empty());
  CHECK_FALSE(a.empty());
}

}  // namespace
}  // namespace cepd
