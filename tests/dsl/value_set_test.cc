#include "dsl/value_set.h"

#include <doctest/doctest.h>

#include <vector>

using namespace cepd;
using namespace cepd::dsl;
using namespace cepd::dsl::checking;

namespace {

using plan::BinaryOp;

plan::Constant num(std::int64_t i) { return {Kind::kInt, {}, Value::integer(i)}; }
plan::Constant real(double d) { return {Kind::kDouble, {}, Value::real(d)}; }
plan::Constant text(const char* s) { return {Kind::kString, s, {}}; }
plan::Constant yes() { return {Kind::kBool, {}, Value::boolean(true)}; }

bool has(const ValueSet& set, const plan::Constant& value) { return !(set & ValueSet::point(value)).empty(); }

}  // namespace

TEST_CASE("value set: what compares true with a constant") {
  const ValueSet above = ValueSet::where(BinaryOp::kGt, num(3));
  CHECK(has(above, num(4)));
  CHECK(has(above, real(3.5)));
  CHECK_FALSE(has(above, num(3)));
  CHECK_FALSE(has(above, text("x")));
  CHECK_FALSE(has(above, plan::Constant{}));
  const ValueSet other = ValueSet::where(BinaryOp::kNe, text("a"));
  CHECK(has(other, text("b")));
  CHECK_FALSE(has(other, text("a")));
  CHECK_FALSE(has(other, num(1)));
  CHECK(ValueSet::where(BinaryOp::kLt, yes()).empty());
  CHECK(ValueSet::where(BinaryOp::kEq, plan::Constant{}).empty());
  CHECK(ValueSet::where(BinaryOp::kNe, plan::Constant{}).empty());
}

TEST_CASE("value set: contradictions are empty, and only they") {
  const auto above = ValueSet::where(BinaryOp::kGt, num(5)), below = ValueSet::where(BinaryOp::kLt, num(3));
  CHECK((above & below).empty());
  CHECK_FALSE((above | below).empty());
  CHECK((ValueSet::where(BinaryOp::kGe, num(5)) & ValueSet::where(BinaryOp::kLt, real(5.0))).empty());
  CHECK_FALSE((ValueSet::where(BinaryOp::kGe, num(5)) & ValueSet::where(BinaryOp::kLe, real(5.0))).empty());
  CHECK((~ValueSet::all()).empty());
  CHECK((above & ~above).empty());
  CHECK((~(above | ~above)).empty());
}

TEST_CASE("value set: nothing stands between neighbouring ints") {
  const ValueSet between = ValueSet::where(BinaryOp::kGt, num(3)) & ValueSet::where(BinaryOp::kLt, num(4));
  CHECK_FALSE(between.empty());
  CHECK(between.of_ints().empty());
  const ValueSet halves = ValueSet::where(BinaryOp::kGt, real(3.2)) & ValueSet::where(BinaryOp::kLt, real(3.8));
  CHECK(halves.of_ints().empty());
  const ValueSet three = ValueSet::where(BinaryOp::kGt, num(2)) & ValueSet::where(BinaryOp::kLt, num(4));
  CHECK(has(three.of_ints(), num(3)));
  const ValueSet far = ValueSet::where(BinaryOp::kGt, num(INT64_MAX - 1));
  CHECK(has(far.of_ints(), num(INT64_MAX)));
}

TEST_CASE("value set: what compares true with some value of a set") {
  const ValueSet some = ValueSet::where(BinaryOp::kGe, num(3)) & ValueSet::where(BinaryOp::kLe, num(5));
  CHECK(has(ValueSet::where(BinaryOp::kLt, some), num(4)));
  CHECK_FALSE(has(ValueSet::where(BinaryOp::kLt, some), num(5)));
  CHECK(has(ValueSet::where(BinaryOp::kLe, some), num(5)));
  CHECK_FALSE(has(ValueSet::where(BinaryOp::kGt, some), num(3)));
  CHECK(has(ValueSet::where(BinaryOp::kNe, some), num(3)));
  CHECK_FALSE(has(ValueSet::where(BinaryOp::kNe, ValueSet::point(num(3))), real(3.0)));
  CHECK_FALSE(has(ValueSet::where(BinaryOp::kEq, some | ValueSet::null()), plan::Constant{}));
}
