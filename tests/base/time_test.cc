#include "base/time.h"

#include <doctest/doctest.h>

#include <random>
#include <string>
#include <vector>

namespace cepd {
namespace {

using namespace std::chrono_literals;

std::string millis(std::int64_t us) {
  std::string out;
  append_millis(out, us);
  return out;
}

TEST_CASE("time: RFC 3339 forms") {
  const EventTime t = std::chrono::sys_days(std::chrono::year(2026) / 1 / 5) + 21h;
  for (const std::string text : {"2026-01-05T21:00:00Z", "2026-01-05 21:00:00Z", "2026-01-05t21:00:00z",
                                 "2026-01-05T22:00:00+01:00", "2026-01-05T12:30:00-08:30", "2026-01-05T21:00:00.0Z",
                                 "2026-01-06T20:59:00+23:59", "2026-01-05T21:00:00-00:00"}) {
    INFO(text);
    CHECK(parse_rfc3339(text) == t);
  }
  CHECK(parse_rfc3339("2026-01-05T21:00:00.5Z") == t + 500ms);
  CHECK(parse_rfc3339("2026-01-05T21:00:00.000001Z") == t + 1us);
  CHECK(parse_rfc3339("2024-02-29T00:00:00Z").has_value());
  CHECK(parse_rfc3339("2016-12-31T23:59:60Z") == parse_rfc3339("2017-01-01T00:00:00Z"));  // as POSIX time has it
  CHECK(parse_rfc3339("0000-01-01T00:00:00Z").has_value());
  CHECK(parse_rfc3339("9999-12-31T23:59:59.999999-23:59").has_value());
}

TEST_CASE("time: digits finer than a microsecond are cut, before 1970 too") {
  CHECK(parse_rfc3339("1970-01-01T00:00:00.123456789Z") == event_time_us(123'456));
  CHECK(parse_rfc3339("1970-01-01T00:00:00.9999999Z") == event_time_us(999'999));
  CHECK(parse_rfc3339("1969-12-31T23:59:59.9999999Z") == event_time_us(-1));
  CHECK(parse_rfc3339("1970-01-01T00:00:00." + std::string(1000, '1') + "Z") == event_time_us(111'111));
}

TEST_CASE("time: other texts are no RFC 3339") {
  for (const std::string text : {"",
                                 "2026",
                                 "2026-01-05",
                                 "2026-01-05T21:00Z",
                                 "2026-01-05T21:00:00",
                                 "2026-01-05T21:00:00.Z",
                                 "2026-01-05T21:00:00,5Z",
                                 "2026-01-05T24:00:00Z",
                                 "2026-01-05T21:60:00Z",
                                 "2026-01-05T21:00:61Z",
                                 "2026-00-05T21:00:00Z",
                                 "2026-13-05T21:00:00Z",
                                 "2026-01-00T21:00:00Z",
                                 "2026-02-29T21:00:00Z",
                                 "2026-04-31T21:00:00Z",
                                 "26-01-05T21:00:00Z",
                                 "2026-1-5T21:00:00Z",
                                 "2026-01-05T21:00:00+0100",
                                 "2026-01-05T21:00:00+01",
                                 "2026-01-05T21:00:00+24:00",
                                 "2026-01-05T21:00:00+01:60",
                                 "2026-01-05T21:00:00ZZ",
                                 "2026-01-05T21:00:00Z ",
                                 " 2026-01-05T21:00:00Z",
                                 "2026/01/05T21:00:00Z",
                                 "2026-01-05  21:00:00Z",
                                 "+026-01-05T21:00:00Z",
                                 "2026-01-05T21:00:00.1 Z",
                                 "1767650400"}) {
    INFO(text);
    CHECK_FALSE(parse_rfc3339(text));
  }
}

TEST_CASE("time: printed with the digits it needs, and read back") {
  CHECK(format_rfc3339(event_time_us(0)) == "1970-01-01T00:00:00Z");
  CHECK(format_rfc3339(event_time_us(1'000)) == "1970-01-01T00:00:00.001Z");
  CHECK(format_rfc3339(event_time_us(1)) == "1970-01-01T00:00:00.000001Z");
  CHECK(format_rfc3339(event_time_us(-1)) == "1969-12-31T23:59:59.999999Z");
  CHECK(format_rfc3339(*parse_rfc3339("0000-01-01T00:00:00Z")) == "0000-01-01T00:00:00Z");
  const unsigned seed = 3;
  INFO("seed ", seed);
  std::mt19937_64 random(seed);
  const auto first = to_us(*parse_rfc3339("0000-01-01T00:00:00Z"));
  const auto last = to_us(*parse_rfc3339("9999-12-31T23:59:59.999999Z"));
  std::uniform_int_distribution<std::int64_t> times(first, last);
  for (int round = 0; round < 5'000; ++round) {
    const EventTime t = event_time_us(times(random));
    REQUIRE(parse_rfc3339(format_rfc3339(t)) == t);
  }
}

TEST_CASE("time: the ends of time print without overflow") {
  CHECK(format_rfc3339(kMaxTime) == "294247-01-10T04:00:54.775807Z");
  CHECK(format_rfc3339(kMinTime) == "-290308-12-21T19:59:05.224192Z");
  CHECK(format_rfc3339(event_time_us(253'402'300'800'000'000)) == "10000-01-01T00:00:00Z");
}

TEST_CASE("time: sums stop at the ends") {
  CHECK(saturating_add(event_time_us(5), Micros(-7)) == event_time_us(-2));
  CHECK(saturating_add(kMaxTime, Micros(1)) == kMaxTime);
  CHECK(saturating_add(kMaxTime, Micros::max()) == kMaxTime);
  CHECK(saturating_add(kMinTime, Micros(-1)) == kMinTime);
  CHECK(saturating_add(kMinTime, Micros::min()) == kMinTime);
  CHECK(saturating_add(kMinTime, Micros::max()) == event_time_us(-1));
  CHECK(saturating_add(kMaxTime, Micros(-1)) < kMaxTime);
}

TEST_CASE("time: durations are sums with falling units") {
  CHECK(parse_duration("250us") == 250us);
  CHECK(parse_duration("40ms") == 40ms);
  CHECK(parse_duration("10s") == 10s);
  CHECK(parse_duration("5m") == 5min);
  CHECK(parse_duration("1h30m") == 90min);
  CHECK(parse_duration("1m1ms") == 60'001ms);
  CHECK(parse_duration("2d3h4m5s6ms7us") == 51h + 4min + 5s + 6ms + 7us);
  CHECK(parse_duration("0s") == 0s);
  CHECK(parse_duration("90m") == 90min);
  for (const std::string text :
       {"",     "5",    "s",     "m5", "5 m",  "5m ", " 5m",  "1.5h",   "-5m", "+5m",  "-0s",
        "1h1h", "1m1h", "1ms1m", "5M", "5min", "5w",  "1h30", "1h-30m", "5µs", "0x5s", "1e3s"}) {
    INFO(text);
    CHECK_FALSE(parse_duration(text));
  }
}

TEST_CASE("time: durations that overflow are refused") {
  CHECK(parse_duration("9223372036854775807us") == Micros::max());
  CHECK_FALSE(parse_duration("9223372036854775808us"));
  CHECK_FALSE(parse_duration("99999999999999999999us"));
  CHECK(parse_duration("106751991d").has_value());
  CHECK_FALSE(parse_duration("106751992d"));
  CHECK(parse_duration("106751991d4h54s775ms807us") == Micros::max());
  CHECK_FALSE(parse_duration("106751991d4h54s775ms808us"));
}

TEST_CASE("time: durations print with the largest units and read back") {
  CHECK(format_duration(90min) == "1h30m");
  CHECK(format_duration(0s) == "0s");
  CHECK(format_duration(24h) == "1d");
  CHECK(format_duration(1'001us) == "1ms1us");
  CHECK(format_duration(Micros::max()) == "106751991d4h54s775ms807us");
  CHECK(format_duration(Micros::min()) == "-106751991d4h54s775ms808us");
  CHECK(format_duration(-90min) == "-1h30m");
  const unsigned seed = 4;
  INFO("seed ", seed);
  std::mt19937_64 random(seed);
  for (int round = 0; round < 5'000; ++round) {
    const Micros d(static_cast<std::int64_t>(random() >> (1 + random() % 62)));
    REQUIRE(parse_duration(format_duration(d)) == d);
  }
}

TEST_CASE("time: milliseconds have the decimals they need") {
  CHECK(millis(0) == "0");
  CHECK(millis(1'500) == "1.5");
  CHECK(millis(1'000) == "1");
  CHECK(millis(1) == "0.001");
  CHECK(millis(10) == "0.01");
  CHECK(millis(120) == "0.12");
  CHECK(millis(-1) == "-0.001");
  CHECK(millis(-500) == "-0.5");
  CHECK(millis(-1'500) == "-1.5");
  CHECK(millis(-2'000) == "-2");
  CHECK(millis(INT64_MAX) == "9223372036854775.807");
  CHECK(millis(INT64_MIN) == "-9223372036854775.808");
}

TEST_CASE("time: units of numeric times") {
  CHECK(parse_time_unit("s") == TimeUnit::kSeconds);
  CHECK(parse_time_unit("ms") == TimeUnit::kMillis);
  CHECK(parse_time_unit("us") == TimeUnit::kMicros);
  CHECK(parse_time_unit("ns") == TimeUnit::kNanos);
  CHECK_FALSE(parse_time_unit("m"));
  CHECK_FALSE(parse_time_unit(""));
}

}  // namespace
}  // namespace cepd
