#include "nfa/functions.h"

#include <doctest/doctest.h>

#include <limits>

#include "tests/nfa/expr_builder.h"

using namespace cepd;
using namespace cepd::nfa;
using namespace cepd::nfa::testing;
using plan::Function;

namespace {

struct Caller : World {
  template <class... Arguments>
  std::string operator()(Function f, const Arguments&... arguments) {
    return text(call(f, {argument(arguments)...}));
  }
  static plan::ExprPtr argument(const Value& v) { return lit(v); }
  static plan::ExprPtr argument(const plan::ExprPtr& e) { return e; }
  static plan::ExprPtr argument(int i) { return lit(i); }
  static plan::ExprPtr argument(double d) { return lit(d); }
  static plan::ExprPtr argument(bool b) { return lit(b); }
  static plan::ExprPtr argument(const char* s) { return lit(s); }
};

Value at(const char* text) { return Value::timestamp(*parse_rfc3339(text)); }

}  // namespace

TEST_CASE("functions: of numbers") {
  Caller f;
  CHECK(f(Function::kAbs, -3) == "int 3");
  CHECK(f(Function::kAbs, -0.5) == "double 0.5");
  CHECK(f(Function::kAbs, dur(-3)) == "duration 3us");
  CHECK(f(Function::kRound, 2.5) == "double 3.0");
  CHECK(f(Function::kRound, -2.5) == "double -3.0");
  CHECK(f(Function::kRound, 7) == "int 7");
  CHECK(f(Function::kFloor, -0.5) == "double -1.0");
  CHECK(f(Function::kCeil, 0.5) == "double 1.0");
  CHECK(f(Function::kSqrt, 9) == "double 3.0");
  CHECK(f(Function::kPow, 2, 10) == "double 1024.0");
  CHECK(f(Function::kLn, 1) == "double 0.0");
  CHECK(f(Function::kExp, 0) == "double 1.0");
  CHECK(f.counted() == 0);
}

TEST_CASE("functions: outside their domain they give null and are counted") {
  Caller f;
  CHECK(f(Function::kAbs, Value::integer(std::numeric_limits<std::int64_t>::min())) == "null");
  CHECK(f(Function::kSqrt, -1) == "null");
  CHECK(f(Function::kLn, 0) == "null");
  CHECK(f(Function::kExp, 1000) == "null");
  CHECK(f(Function::kPow, 0, -1) == "null");
  CHECK(f(Function::kRound, "2") == "null");
  CHECK(f(Function::kSqrt, true) == "null");
  CHECK(f(Function::kLower, 5) == "null");
  CHECK(f(Function::kSubstr, "abc", 0) == "null");
  CHECK(f(Function::kSubstr, "abc", 1, -1) == "null");
  CHECK(f(Function::kSplitPart, "a,b", ",", 0) == "null");
  CHECK(f(Function::kHour, 5) == "null");
  CHECK(f(Function::kHour, at("2026-01-05T22:00:00Z"), "Mars/Olympus") == "null");
  CHECK(f(Function::kHour, at("2026-01-05T22:00:00Z"), "") == "null");
  CHECK(f(Function::kHaversineKm, 91, 0, 0, 0) == "null");
  CHECK(f.counted() == 15);
}

TEST_CASE("functions: null in, null out, uncounted") {
  Caller f;
  for (const Function one :
       {Function::kAbs, Function::kRound, Function::kFloor, Function::kCeil, Function::kSqrt, Function::kLn,
        Function::kExp, Function::kLower, Function::kUpper, Function::kTrim, Function::kLength, Function::kHour,
        Function::kMinute, Function::kDayOfWeek, Function::kDate, Function::kHash}) {
    CHECK(f(one, null()) == "null");
  }
  CHECK(f(Function::kPow, 2, null()) == "null");
  CHECK(f(Function::kContains, "a", null()) == "null");
  CHECK(f(Function::kHour, at("2026-01-05T22:00:00Z"), null()) == "null");
  CHECK(f.counted() == 0);
}

TEST_CASE("functions: least and greatest leave nulls out") {
  Caller f;
  CHECK(f(Function::kLeast, 3, null(), 1.5, 2) == "double 1.5");
  CHECK(f(Function::kGreatest, null(), "a", "b") == "string b");
  CHECK(f(Function::kLeast, null(), null()) == "null");
  CHECK(f.counted() == 0);
  CHECK(f(Function::kLeast, 1, "a") == "null");
  CHECK(f(Function::kGreatest, true, false) == "null");
  CHECK(f.counted() == 2);
}

TEST_CASE("functions: if and coalesce compute only what they give") {
  Caller f;
  const plan::ExprPtr wrong = op(lit(1), plan::BinaryOp::kDiv, lit(0));
  CHECK(f(Function::kIf, true, 1, wrong) == "int 1");
  CHECK(f(Function::kIf, false, wrong, 2) == "int 2");
  CHECK(f(Function::kIf, null(), wrong, 2) == "int 2");
  CHECK(f(Function::kCoalesce, null(), 5, wrong) == "int 5");
  CHECK(f(Function::kCoalesce, null(), null()) == "null");
  CHECK(f.counted() == 0);
  CHECK(f(Function::kIf, 1, 1, 2) == "int 2");  // no bool: unknown
  CHECK(f.counted() == 1);
}

TEST_CASE("functions: of strings count code points from 1") {
  Caller f;
  CHECK(f(Function::kLower, "ÀΣЖ Straße 1") == "string àσж straße 1");
  CHECK(f(Function::kUpper, "àéσж\xFF") == "string ÀÉΣЖ\xFF");
  CHECK(f(Function::kTrim, " \t a b\n") == "string a b");
  CHECK(f(Function::kTrim, "  ") == "string ");
  CHECK(f(Function::kLength, "né€😀") == "int 4");
  CHECK(f(Function::kSubstr, "né€😀x", 2, 2) == "string é€");
  CHECK(f(Function::kSubstr, "né€😀x", 4) == "string 😀x");
  CHECK(f(Function::kSubstr, "abc", 4, 1) == "string ");
  CHECK(f(Function::kSubstr, "abc", 2, 100) == "string bc");
  CHECK(f(Function::kSubstr, "abc", 2, 0) == "string ");
  CHECK(f(Function::kConcat, "a", null(), 5, 2.0, true) == "string a52.0true");
  CHECK(f(Function::kContains, "abc", "bc") == "bool true");
  CHECK(f(Function::kContains, "abc", "") == "bool true");
  CHECK(f(Function::kStartsWith, "abc", "b") == "bool false");
  CHECK(f(Function::kEndsWith, "abc", "bc") == "bool true");
  CHECK(f(Function::kSplitPart, "a,b,,c", ",", 1) == "string a");
  CHECK(f(Function::kSplitPart, "a,b,,c", ",", 3) == "string ");
  CHECK(f(Function::kSplitPart, "a,b,,c", ",", 4) == "string c");
  CHECK(f(Function::kSplitPart, "a,b,,c", ",", 5) == "null");
  CHECK(f(Function::kSplitPart, "abc", "", 1) == "string abc");
  CHECK(f.counted() == 0);
}

TEST_CASE("functions: of times, in UTC or a zone") {
  Caller f;
  const Value monday = at("2026-01-05T22:34:56.789Z");
  CHECK(f(Function::kHour, monday) == "int 22");
  CHECK(f(Function::kMinute, monday) == "int 34");
  CHECK(f(Function::kDayOfWeek, monday) == "int 1");
  CHECK(f(Function::kDate, monday) == "string 2026-01-05");
  CHECK(f(Function::kHour, monday, "Europe/Berlin") == "int 23");
  CHECK(f(Function::kHour, at("2026-07-05T22:00:00Z"), "Europe/Berlin") == "int 0");  // summer time
  CHECK(f(Function::kMinute, monday, "Asia/Kolkata") == "int 4");
  CHECK(f(Function::kDayOfWeek, monday, "Asia/Tokyo") == "int 2");
  CHECK(f(Function::kDate, monday, "Asia/Tokyo") == "string 2026-01-06");
  CHECK(f(Function::kDayOfWeek, at("2026-01-04T12:00:00Z")) == "int 7");
  CHECK(f(Function::kDate, at("1969-12-31T23:59:59.999999Z")) == "string 1969-12-31");
  CHECK(f.counted() == 0);
  CHECK(f(Function::kDate, ts(std::numeric_limits<std::int64_t>::max())) == "null");
  CHECK(f(Function::kDate, ts(std::numeric_limits<std::int64_t>::min()), "Asia/Tokyo") == "null");
  CHECK(f.counted() == 2);
}

TEST_CASE("functions: haversine_km is a great-circle distance on the mean Earth") {
  Caller f;
  // A quarter of the circumference 2 * pi * 6371.0088 km, half of it, and nothing.
  const auto km = [&](double lat1, double lon1, double lat2, double lon2) {
    return f.eval(call(Function::kHaversineKm, {lit(lat1), lit(lon1), lit(lat2), lit(lon2)})).number();
  };
  CHECK(km(0, 0, 90, 0) == doctest::Approx(10007.557221).epsilon(1e-9));
  CHECK(km(0, 0, 0, 180) == doctest::Approx(20015.114442).epsilon(1e-9));
  CHECK(f(Function::kHaversineKm, 52.52, 13.405, 52.52, 13.405) == "double 0.0");
}

TEST_CASE("functions: hash depends on the canonical value only") {
  Caller f;
  CHECK(f(Function::kHash, 1) == f(Function::kHash, 1.0));
  CHECK(f(Function::kHash, 1) != f(Function::kHash, "1"));
  CHECK(f(Function::kHash, "a") == show(Value::integer(static_cast<std::int64_t>(hash_value(Value::string("a"))))));
}
