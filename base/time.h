#pragma once
/// Event time, durations and their text forms. Everything here is in whole microseconds and independent of any clock.

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cepd {

using Micros = std::chrono::microseconds;

/// When an event happened: microseconds since the Unix epoch (leap seconds ignored, as in POSIX time).
using EventTime = std::chrono::sys_time<Micros>;

inline constexpr EventTime kMinTime = EventTime::min();
inline constexpr EventTime kMaxTime = EventTime::max();

inline constexpr EventTime event_time_us(std::int64_t us) { return EventTime(Micros(us)); }
inline constexpr std::int64_t to_us(EventTime t) { return t.time_since_epoch().count(); }

/// `t + d`, but kMaxTime or kMinTime instead of an overflow.
EventTime saturating_add(EventTime t, Micros d);

/// Parses "2026-01-05T22:00:00.123456789+01:00" (RFC 3339; 'T' or a space, 'Z' or an offset).
/// Digits finer than a microsecond are cut off. Returns nothing for any other text.
std::optional<EventTime> parse_rfc3339(std::string_view text);

/// Prints as RFC 3339 in UTC, with as many fraction digits (0, 3 or 6) as the value needs.
std::string format_rfc3339(EventTime t);

/// Parses the duration form of the rule language: a sum of numbers with units, larger unit first, each unit once:
/// `1h30m`, `250us`. Units: us ms s m h d. Returns nothing for any other text, or when the sum overflows.
std::optional<Micros> parse_duration(std::string_view text);

/// The units of durations, largest first.
const std::vector<std::string_view>& duration_units();

/// Prints in the form parse_duration reads, with the largest units possible: 90 minutes is "1h30m", zero is "0s".
std::string format_duration(Micros d);

/// Unit of numeric times in input. A file says it with `--time-unit`, a source with `time_unit`.
enum class TimeUnit : std::uint8_t { kSeconds, kMillis, kMicros, kNanos };
std::optional<TimeUnit> parse_time_unit(std::string_view text);  // "s" "ms" "us" "ns"

/// Appends a time or span of `us` microseconds as milliseconds with up to three decimals: 1500 is "1.5".
void append_millis(std::string& out, std::int64_t us);

}  // namespace cepd
