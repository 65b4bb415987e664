#include "base/value.h"

#include <doctest/doctest.h>

#include <cfloat>
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <vector>

namespace cepd {
namespace {

constexpr std::int64_t kTwo53 = std::int64_t{1} << 53;
constexpr std::int64_t kMaxInt = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t kMinInt = std::numeric_limits<std::int64_t>::min();

std::string json(const Value& value) {
  std::string out;
  append_json(out, value);
  return out;
}

std::string text(const Value& value) {
  std::string out;
  append_text(out, value);
  return out;
}

std::string canonical(const Value& value) {
  std::string out;
  append_canonical(out, value);
  return out;
}

std::string json_string(std::string_view bytes) {
  std::string out;
  append_json_string(out, bytes);
  return out;
}

TEST_CASE("value: what is not finite is null") {
  CHECK(Value::real(std::numeric_limits<double>::infinity()).is_null());
  CHECK(Value::real(-std::numeric_limits<double>::infinity()).is_null());
  CHECK(Value::real(std::nan("")).is_null());
  CHECK(Value::real(DBL_MAX).as_double() == DBL_MAX);
  CHECK(Value().is_null());
  CHECK_FALSE(Value::null().is_true());
  CHECK_FALSE(Value::integer(1).is_true());
  CHECK(Value::boolean(true).is_true());
}

TEST_CASE("value: int and double compare exactly") {
  // 2^53 + 1 is no double; a comparison as doubles would call it equal to 2^53.
  CHECK(compare(kTwo53 + 1, 0x1p53) == Ordering::kGreater);
  CHECK(compare(kTwo53, 0x1p53) == Ordering::kEqual);
  CHECK(compare(kTwo53 - 1, 0x1p53) == Ordering::kLess);
  CHECK(compare(-kTwo53 - 1, -0x1p53) == Ordering::kLess);
  CHECK(compare(-kTwo53, -0x1p53) == Ordering::kEqual);
  CHECK(compare(kMaxInt, 0x1p63) == Ordering::kLess);
  CHECK(compare(kMaxInt, std::nextafter(0x1p63, 0)) == Ordering::kGreater);
  CHECK(compare(kMinInt, -0x1p63) == Ordering::kEqual);
  CHECK(compare(kMinInt, std::nextafter(-0x1p63, -DBL_MAX)) == Ordering::kGreater);
  CHECK(compare(kMinInt + 1, -0x1p63) == Ordering::kGreater);
  CHECK(compare(kMaxInt, DBL_MAX) == Ordering::kLess);
  CHECK(compare(kMinInt, -DBL_MAX) == Ordering::kGreater);
  CHECK(compare(0, DBL_TRUE_MIN) == Ordering::kLess);
  CHECK(compare(0, -DBL_TRUE_MIN) == Ordering::kGreater);
  CHECK(compare(0, -0.0) == Ordering::kEqual);
  CHECK(compare(2, 2.5) == Ordering::kLess);
  CHECK(compare(3, 2.5) == Ordering::kGreater);
  CHECK(compare(-2, -2.5) == Ordering::kGreater);
  CHECK(compare(-3, -2.5) == Ordering::kLess);
}

TEST_CASE("value: int and double compare the same from either side as in long double") {
  static_assert(std::numeric_limits<long double>::digits >= 64, "the oracle holds every int and every double");
  const unsigned seed = 53;
  INFO("seed ", seed);
  std::mt19937_64 random(seed);
  for (int round = 0; round < 20'000; ++round) {
    const auto bits = static_cast<std::int64_t>(random() >> (random() % 64));
    const std::int64_t i = random() % 2 == 0 ? bits : -bits;
    const double d = static_cast<double>(i + static_cast<std::int64_t>(random() % 5) / 2) + (random() % 2) * 0.5;
    const long double a = i, b = d;
    const Ordering expected = a < b ? Ordering::kLess : a > b ? Ordering::kGreater : Ordering::kEqual;
    const Ordering reverse = a < b ? Ordering::kGreater : a > b ? Ordering::kLess : Ordering::kEqual;
    REQUIRE(compare(Value::integer(i), Value::real(d)) == expected);
    REQUIRE(compare(Value::real(d), Value::integer(i)) == reverse);
  }
}

TEST_CASE("value: kinds that compare, and those that do not") {
  CHECK(compare(Value::string("a"), Value::string("b")) == Ordering::kLess);
  CHECK(compare(Value::string("a"), Value::string("a")) == Ordering::kEqual);
  CHECK(compare(Value::string("\x7f"), Value::string("ü")) == Ordering::kLess);  // bytes, unsigned
  CHECK(compare(Value::string(std::string_view("a\0", 2)), Value::string("a")) == Ordering::kGreater);
  CHECK(compare(Value::boolean(true), Value::boolean(true)) == Ordering::kEqual);
  CHECK(compare(Value::boolean(false), Value::boolean(true)) == Ordering::kUnequal);
  CHECK(compare(Value::json("[1]"), Value::json("[1]")) == Ordering::kEqual);
  CHECK(compare(Value::json("[1]"), Value::json("[2]")) == Ordering::kUnequal);
  CHECK(compare(Value::timestamp(event_time_us(1)), Value::timestamp(event_time_us(2))) == Ordering::kLess);
  CHECK(compare(Value::duration(Micros(2)), Value::duration(Micros(1))) == Ordering::kGreater);
  CHECK(compare(Value::null(), Value::null()) == Ordering::kNull);
  CHECK(compare(Value::integer(1), Value::null()) == Ordering::kNull);
  CHECK(compare(Value::null(), Value::string("")) == Ordering::kNull);
  CHECK(compare(Value::integer(1), Value::string("1")) == Ordering::kUnlike);
  CHECK(compare(Value::integer(1), Value::boolean(true)) == Ordering::kUnlike);
  CHECK(compare(Value::timestamp(event_time_us(1)), Value::integer(1)) == Ordering::kUnlike);
  CHECK(compare(Value::timestamp(event_time_us(1)), Value::duration(Micros(1))) == Ordering::kUnlike);
  CHECK(compare(Value::string("[]"), Value::json("[]")) == Ordering::kUnlike);
}

TEST_CASE("value: the order of keys is total, and equal is the same canonical form") {
  // In ascending order; values of one row are equal keys.
  const std::vector<std::vector<Value>> rows{
      {Value::null()},
      {Value::boolean(false)},
      {Value::boolean(true)},
      {Value::real(-1e300)},
      {Value::integer(kMinInt), Value::real(-0x1p63)},
      {Value::integer(kMinInt + 1)},
      {Value::real(-2.5)},
      {Value::integer(0), Value::real(0.0), Value::real(-0.0)},
      {Value::real(DBL_TRUE_MIN)},
      {Value::integer(1), Value::real(1.0)},
      {Value::real(1.5)},
      {Value::integer(kTwo53), Value::real(0x1p53)},
      {Value::integer(kTwo53 + 1)},
      {Value::integer(kMaxInt)},
      {Value::real(0x1p63)},
      {Value::string("")},
      {Value::string("1")},
      {Value::string("1.0")},
      {Value::string("null")},
      {Value::string("ü")},
      {Value::timestamp(event_time_us(1))},
      {Value::duration(Micros(1))},
      {Value::json("[1]")},
      {Value::json("{}")},
  };
  for (std::size_t i = 0; i < rows.size(); ++i) {
    for (std::size_t j = 0; j < rows.size(); ++j) {
      for (const Value& a : rows[i]) {
        for (const Value& b : rows[j]) {
          INFO(i, " ", text(a), " against ", j, " ", text(b));
          CHECK((key_order(a, b) < 0) == (i < j));
          CHECK((key_order(a, b) > 0) == (i > j));
          CHECK((canonical(a) == canonical(b)) == (i == j));
          CHECK((hash_value(a) == hash_value(b)) == (i == j));
        }
      }
    }
  }
}

TEST_CASE("value: canonical forms next to each other cannot be mistaken") {
  CHECK(canonical(Value::string("a")) + canonical(Value::string("b")) !=
        canonical(Value::string("ab")) + canonical(Value::string("")));
  CHECK(canonical(Value::string("as")) + canonical(Value::string("")) !=
        canonical(Value::string("a")) + canonical(Value::string("s")));
  // Stored and part of match ids: these bytes stay.
  CHECK(canonical(Value::null()) == "n");
  CHECK(canonical(Value::boolean(true)) == "t");
  CHECK(canonical(Value::boolean(false)) == "f");
  CHECK(canonical(Value::integer(1)) == std::string("i\1\0\0\0\0\0\0\0", 9));
  CHECK(canonical(Value::real(1.5)) == std::string("d\0\0\0\0\0\0\xf8\x3f", 9));
  CHECK(canonical(Value::string("ab")) == std::string("s\2\0\0\0ab", 7));
  CHECK(canonical(Value::json("[]")) == std::string("j\2\0\0\0[]", 7));
  CHECK(canonical(Value::timestamp(event_time_us(-1))) == "T\xff\xff\xff\xff\xff\xff\xff\xff");
  CHECK(canonical(Value::duration(Micros(2))) == std::string("D\2\0\0\0\0\0\0\0", 9));
}

TEST_CASE("value: numbers in JSON keep their kind and their value") {
  CHECK(json(Value::real(30.0)) == "30.0");
  CHECK(json(Value::real(-0.0)) == "-0.0");
  CHECK(json(Value::real(0.1)) == "0.1");
  CHECK(json(Value::real(1e300)) == "1e+300");
  CHECK(json(Value::real(5e-324)) == "5e-324");
  CHECK(json(Value::real(0x1p53)) == "9007199254740992.0");
  CHECK(json(Value::integer(kMaxInt)) == "9223372036854775807");
  CHECK(json(Value::integer(kMinInt)) == "-9223372036854775808");
  CHECK(json(Value::integer(30)) == "30");
  const unsigned seed = 11;
  INFO("seed ", seed);
  std::mt19937_64 random(seed);
  for (int round = 0; round < 20'000; ++round) {
    double d = 0;
    const std::uint64_t bits = random();
    static_assert(sizeof d == sizeof bits);
    std::memcpy(&d, &bits, sizeof d);
    if (round % 4 == 0) d = static_cast<double>(static_cast<std::int64_t>(bits) >> (bits % 50));
    if (!std::isfinite(d)) continue;
    const std::string printed = json(Value::real(d));
    double back = 0;
    const auto [end, status] = std::from_chars(printed.data(), printed.data() + printed.size(), back);
    REQUIRE(status == std::errc{});
    REQUIRE(end == printed.data() + printed.size());
    REQUIRE(back == d);
    REQUIRE(printed.find_first_of(".e") != std::string::npos);  // an int otherwise
  }
}

TEST_CASE("value: JSON of the other kinds") {
  CHECK(json(Value::null()) == "null");
  CHECK(json(Value::boolean(true)) == "true");
  CHECK(json(Value::boolean(false)) == "false");
  CHECK(json(Value::timestamp(event_time_us(1'500))) == "1.5");
  CHECK(json(Value::timestamp(event_time_us(1'767'650'400'000'000))) == "1767650400000");
  CHECK(json(Value::duration(Micros(-1))) == "-0.001");
  CHECK(json(Value::json(R"({"a":[1,2.0]})")) == R"({"a":[1,2.0]})");
}

TEST_CASE("value: JSON strings escape what must be and keep the rest") {
  CHECK(json_string("") == "\"\"");
  CHECK(json_string("a\"b\\c/d") == R"("a\"b\\c/d")");
  CHECK(json_string("\n\r\t") == R"("\n\r\t")");
  CHECK(json_string(std::string_view("\0\x01\b\f\x1f\x7f", 6)) == "\"\\u0000\\u0001\\u0008\\u000c\\u001f\x7f\"");
  CHECK(json_string("Grüße 日本 🛒") == "\"Grüße 日本 🛒\"");
}

TEST_CASE("value: text as a person reads it") {
  CHECK(text(Value::string("a\n\"b\"")) == "a\n\"b\"");
  CHECK(text(Value::null()) == "null");
  CHECK(text(Value::boolean(true)) == "true");
  CHECK(text(Value::integer(-5)) == "-5");
  CHECK(text(Value::real(2.0)) == "2.0");
  CHECK(text(Value::timestamp(event_time_us(0))) == "1970-01-01T00:00:00Z");
  CHECK(text(Value::duration(std::chrono::minutes(90))) == "1h30m");
  CHECK(text(Value::json("[1]")) == "[1]");
}

TEST_CASE("value: a copy into an arena outlives its text") {
  Arena arena;
  Value copy;
  {
    std::string source(100, 'a');
    copy = Value::string(source).copied_to(arena);
    source.assign(100, 'b');
  }
  CHECK(copy.text() == std::string(100, 'a'));
  CHECK(copy.kind() == Kind::kString);
  CHECK(Value::json("{}").copied_to(arena).kind() == Kind::kJson);
  CHECK(Value::integer(3).copied_to(arena).as_int() == 3);
}

}  // namespace
}  // namespace cepd
