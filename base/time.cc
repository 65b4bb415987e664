#include "base/time.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>

namespace cepd {
namespace {

struct Unit {
  std::string_view name;
  std::int64_t us;
};
// Largest first: durations are written and printed in this order.
constexpr std::array<Unit, 6> kUnits{
    {{"d", 86'400'000'000}, {"h", 3'600'000'000}, {"m", 60'000'000}, {"s", 1'000'000}, {"ms", 1'000}, {"us", 1}}};

/// Reads exactly `digits` decimal digits from the front of `text`.
std::optional<int> take_digits(std::string_view& text, std::size_t digits) {
  if (text.size() < digits) return std::nullopt;
  int value = 0;
  for (std::size_t i = 0; i < digits; ++i) {
    const char c = text[i];
    if (c < '0' || c > '9') return std::nullopt;
    value = value * 10 + (c - '0');
  }
  text.remove_prefix(digits);
  return value;
}

bool take(std::string_view& text, char c) {
  if (text.empty() || text.front() != c) return false;
  text.remove_prefix(1);
  return true;
}

/// The fraction after a '.', cut to microseconds; the dot is already taken.
std::optional<std::int64_t> take_fraction(std::string_view& text) {
  std::int64_t us = 0;
  std::size_t digits = 0;
  while (!text.empty() && text.front() >= '0' && text.front() <= '9') {
    if (digits < 6) us = us * 10 + (text.front() - '0');
    ++digits;
    text.remove_prefix(1);
  }
  if (digits == 0) return std::nullopt;
  for (std::size_t i = digits; i < 6; ++i) us *= 10;
  return us;
}

}  // namespace

EventTime saturating_add(EventTime t, Micros d) {
  std::int64_t sum = 0;
  if (__builtin_add_overflow(to_us(t), d.count(), &sum)) return d.count() > 0 ? kMaxTime : kMinTime;
  return event_time_us(sum);
}

std::optional<EventTime> parse_rfc3339(std::string_view text) {
  const auto year = take_digits(text, 4);
  if (!year || !take(text, '-')) return std::nullopt;
  const auto month = take_digits(text, 2);
  if (!month || !take(text, '-')) return std::nullopt;
  const auto day = take_digits(text, 2);
  if (!day || !(take(text, 'T') || take(text, 't') || take(text, ' '))) return std::nullopt;
  const auto hour = take_digits(text, 2);
  if (!hour || !take(text, ':')) return std::nullopt;
  const auto minute = take_digits(text, 2);
  if (!minute || !take(text, ':')) return std::nullopt;
  const auto second = take_digits(text, 2);
  if (!second || *hour > 23 || *minute > 59 || *second > 60) return std::nullopt;

  std::int64_t us = 0;
  if (take(text, '.')) {
    const auto fraction = take_fraction(text);
    if (!fraction) return std::nullopt;
    us = *fraction;
  }
  int offset_minutes = 0;
  if (!take(text, 'Z') && !take(text, 'z')) {
    const int sign = take(text, '+') ? 1 : take(text, '-') ? -1 : 0;
    if (sign == 0) return std::nullopt;
    const auto offset_hour = take_digits(text, 2);
    if (!offset_hour || !take(text, ':')) return std::nullopt;
    const auto offset_minute = take_digits(text, 2);
    if (!offset_minute || *offset_hour > 23 || *offset_minute > 59) return std::nullopt;
    offset_minutes = sign * (*offset_hour * 60 + *offset_minute);
  }
  if (!text.empty()) return std::nullopt;

  const std::chrono::year_month_day date{std::chrono::year(*year), std::chrono::month(static_cast<unsigned>(*month)),
                                         std::chrono::day(static_cast<unsigned>(*day))};
  if (!date.ok()) return std::nullopt;
  return std::chrono::sys_days(date) + std::chrono::hours(*hour) + std::chrono::minutes(*minute - offset_minutes) +
         std::chrono::seconds(*second) + Micros(us);
}

std::string format_rfc3339(EventTime t) {
  // Whole days are counted in integers: at the ends of time a sys_time of that day would overflow, and std::chrono's
  // years end at 32767. The calendar repeats every 400 years.
  constexpr std::int64_t kDay = 86'400'000'000;
  constexpr std::int64_t kDaysIn400Years = 146'097;
  const std::int64_t in_day = (to_us(t) % kDay + kDay) % kDay;
  const std::int64_t day = to_us(t) / kDay - (to_us(t) % kDay < 0 ? 1 : 0);
  const std::int64_t cycle = day / kDaysIn400Years;
  const std::chrono::year_month_day date{
      std::chrono::sys_days(std::chrono::days(static_cast<int>(day - cycle * kDaysIn400Years)))};
  const std::int64_t year = static_cast<int>(date.year()) + cycle * 400;
  const std::chrono::hh_mm_ss<Micros> clock{Micros(in_day)};
  std::array<char, 64> buffer{};
  int length = std::snprintf(buffer.data(), buffer.size(), "%04lld-%02u-%02uT%02d:%02d:%02d",
                             static_cast<long long>(year), static_cast<unsigned>(date.month()),
                             static_cast<unsigned>(date.day()), static_cast<int>(clock.hours().count()),
                             static_cast<int>(clock.minutes().count()), static_cast<int>(clock.seconds().count()));
  std::string out(buffer.data(), static_cast<std::size_t>(length));
  if (const auto us = static_cast<int>(clock.subseconds().count()); us != 0) {
    length = us % 1000 == 0 ? std::snprintf(buffer.data(), buffer.size(), ".%03d", us / 1000)
                            : std::snprintf(buffer.data(), buffer.size(), ".%06d", us);
    out.append(buffer.data(), static_cast<std::size_t>(length));
  }
  return out + "Z";
}

std::optional<Micros> parse_duration(std::string_view text) {
  if (text.empty()) return std::nullopt;
  std::int64_t total = 0;
  auto next_unit = kUnits.begin();
  while (!text.empty()) {
    std::int64_t count = 0;
    const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), count);
    if (status != std::errc{} || text.front() == '-') return std::nullopt;
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    const auto letters = text.substr(0, std::min(text.find_first_of("0123456789"), text.size()));
    const auto unit = std::find_if(next_unit, kUnits.end(), [&](const Unit& u) { return u.name == letters; });
    if (unit == kUnits.end()) return std::nullopt;
    std::int64_t us = 0;
    if (__builtin_mul_overflow(count, unit->us, &us) || __builtin_add_overflow(total, us, &total)) return std::nullopt;
    text.remove_prefix(letters.size());
    next_unit = unit + 1;
  }
  return Micros(total);
}

const std::vector<std::string_view>& duration_units() {
  static const std::vector<std::string_view> names = [] {
    std::vector<std::string_view> out;
    for (const Unit& unit : kUnits) out.push_back(unit.name);
    return out;
  }();
  return names;
}

std::string format_duration(Micros d) {
  std::string out;
  // Unsigned, so that the smallest value has a magnitude too.
  auto rest = static_cast<std::uint64_t>(d.count());
  if (d.count() < 0) {
    out += '-';
    rest = 0 - rest;
  }
  if (rest == 0) return "0s";
  for (const Unit& unit : kUnits) {
    const auto us = static_cast<std::uint64_t>(unit.us);
    if (rest >= us) {
      out += std::to_string(rest / us);
      out += unit.name;
      rest %= us;
    }
  }
  return out;
}

std::optional<TimeUnit> parse_time_unit(std::string_view text) {
  if (text == "s") return TimeUnit::kSeconds;
  if (text == "ms") return TimeUnit::kMillis;
  if (text == "us") return TimeUnit::kMicros;
  if (text == "ns") return TimeUnit::kNanos;
  return std::nullopt;
}

void append_millis(std::string& out, std::int64_t us) {
  auto magnitude = static_cast<std::uint64_t>(us);
  if (us < 0) {
    out += '-';
    magnitude = 0 - magnitude;
  }
  out += std::to_string(magnitude / 1000);
  if (const auto fraction = magnitude % 1000; fraction != 0) {
    std::string digits = std::to_string(1000 + fraction).substr(1);
    digits.erase(digits.find_last_not_of('0') + 1);
    out += '.';
    out += digits;
  }
}

}  // namespace cepd
