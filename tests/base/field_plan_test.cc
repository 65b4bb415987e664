#include "base/field_plan.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

namespace cepd {
namespace {

const FieldPath kPrice = FieldPath::of("price");
const FieldPath kItem = FieldPath::of("item");
const FieldPath kDevice{{std::string("device"), std::string("id")}};

TEST_CASE("field plan: starts with the other type alone") {
  const FieldPlan plan;
  CHECK(plan.types().size() == 1);
  CHECK(plan.type(kOtherType).name.empty());
  CHECK_FALSE(plan.find("cart_add"));
}

TEST_CASE("field plan: types and slots are given once") {
  FieldPlan plan;
  const TypeId cart = plan.add_type("cart_add");
  const TypeId pay = plan.add_type("payment");
  CHECK(cart != kOtherType);
  CHECK(cart != pay);
  CHECK(plan.add_type("cart_add") == cart);
  CHECK(plan.find("cart_add") == cart);
  CHECK_FALSE(plan.find("cart"));
  CHECK(plan.type(cart).name == "cart_add");
  CHECK(plan.add_field(cart, kPrice) == 0);
  CHECK(plan.add_field(cart, kDevice) == 1);
  CHECK(plan.add_field(cart, kPrice) == 0);
  CHECK(plan.slot(cart, kDevice) == 1U);
  CHECK_FALSE(plan.slot(pay, kPrice));
  CHECK_FALSE(plan.slot(cart, FieldPath::of("device")));
}

TEST_CASE("field plan: a field of any type is in every type, also in later ones") {
  FieldPlan plan;
  const TypeId cart = plan.add_type("cart_add");
  plan.add_field(cart, kItem);
  CHECK(plan.add_field(kOtherType, kPrice) == 0);
  CHECK(plan.slot(cart, kItem) == 0U);  // slots given stay
  CHECK(plan.slot(cart, kPrice) == 1U);
  const TypeId later = plan.add_type("later");
  CHECK(plan.slot(later, kPrice) == 0U);
  CHECK(plan.add_field(kOtherType, kPrice) == 0);
  CHECK(plan.type(cart).paths.size() == 2);
  CHECK(plan.type(kOtherType).paths.size() == 1);
}

TEST_CASE("field plan: continues one whose ids and slots it has") {
  FieldPlan before;
  const TypeId cart = before.add_type("cart_add");
  before.add_field(cart, kPrice);
  FieldPlan plan = before;
  CHECK(plan.continues(before));
  plan.begin_set();
  plan.add_field(plan.add_type("payment"), kItem);
  plan.add_field(cart, kItem);
  CHECK(plan.continues(before));
  CHECK_FALSE(before.continues(plan));
  CHECK(before.continues(FieldPlan()));
  FieldPlan other;
  other.add_field(other.add_type("cart_add"), kItem);
  other.add_field(cart, kPrice);
  CHECK_FALSE(other.continues(before));
  FieldPlan renamed;
  renamed.add_field(renamed.add_type("payment"), kPrice);
  CHECK_FALSE(renamed.continues(before));
}

TEST_CASE("field plan: the next set keeps ids and slots and forgets declarations") {
  FieldPlan plan;
  const TypeId cart = plan.add_type("cart_add");
  plan.add_field(cart, kPrice);
  plan.declare(cart, {{"price", FieldType::kDouble, true}});
  plan.set_named(cart);
  REQUIRE(plan.type(cart).declared);
  CHECK(plan.type(cart).declared->front().name == "price");
  CHECK(plan.type(cart).named);

  FieldPlan next = plan;
  next.begin_set();
  CHECK_FALSE(next.type(cart).declared);
  CHECK_FALSE(next.type(cart).named);
  CHECK(next.find("cart_add") == cart);
  CHECK(next.slot(cart, kPrice) == 0U);
  CHECK(next.add_field(cart, kItem) == 1);
  CHECK(plan.type(cart).paths.size() == 1);
  CHECK(plan.type(cart).named);
}

TEST_CASE("field plan: a version for each content") {
  FieldPlan plan;
  CHECK(plan.version() == FieldPlan().version());
  std::vector<std::uint64_t> seen{plan.version()};
  const auto is_new = [&] {
    const bool found = std::find(seen.begin(), seen.end(), plan.version()) != seen.end();
    seen.push_back(plan.version());
    return !found;
  };
  const TypeId cart = plan.add_type("cart_add");
  CHECK(is_new());
  plan.add_field(cart, kPrice);
  CHECK(is_new());
  plan.add_field(kOtherType, kItem);
  CHECK(is_new());
  plan.declare(cart, {{"price", FieldType::kDouble, true}});
  CHECK(is_new());
  plan.set_named(cart);
  CHECK(is_new());

  // What is there already changes nothing, and a copy is the same until it changes.
  FieldPlan copy = plan;
  plan.add_type("cart_add");
  plan.add_field(cart, kPrice);
  plan.add_field(kOtherType, kItem);
  plan.set_named(cart);
  CHECK_FALSE(is_new());
  CHECK(copy.version() == plan.version());
  copy.begin_set();
  plan.begin_set();
  CHECK(is_new());
  CHECK(copy.version() != plan.version());
}

TEST_CASE("field types: names both ways") {
  for (const std::string name : {"bool", "int", "double", "string", "timestamp", "duration"}) {
    const auto type = parse_field_type(name);
    REQUIRE(type);
    CHECK(field_type_name(*type) == name);
  }
  CHECK_FALSE(parse_field_type("Int"));
  CHECK_FALSE(parse_field_type(""));
}

}  // namespace
}  // namespace cepd
