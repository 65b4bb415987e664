#include "nfa/time_functions.h"

#include <date/tz.h>

#include <array>
#include <chrono>
#include <cstdio>
#include <optional>
#include <stdexcept>
#include <string>

#include "nfa/arithmetic.h"

namespace cepd::nfa {
namespace {

using dsl::plan::Function;

constexpr EventTime kFirstTime = std::chrono::sys_days(std::chrono::year(0) / 1 / 1);
constexpr EventTime kEndTime = std::chrono::sys_days(std::chrono::year(10000) / 1 / 1);

/// The zone, null if there is none of that name. A rule asks for the same one again and again: the last answer is kept,
/// also that there is none, since the library throws for that.
const date::time_zone* find_zone(std::string_view name) {
  thread_local std::string last_name;
  thread_local const date::time_zone* last_zone = nullptr;
  if (name.empty()) return nullptr;
  if (name == last_name) return last_zone;
  const date::time_zone* zone = nullptr;
  try {
    zone = date::locate_zone(name);
  } catch (const std::runtime_error&) {  // no such zone, or no zone data on this machine
  }
  last_name = name;
  last_zone = zone;
  return zone;
}

/// Local time, as if it were UTC.
std::optional<EventTime> local_time(EventTime t, std::span<const Value> arguments) {
  if (arguments.size() < 2) return t;
  if (arguments[1].kind() != Kind::kString) return std::nullopt;
  const date::time_zone* zone = find_zone(arguments[1].text());
  if (zone == nullptr) return std::nullopt;
  try {  // a zone's data is read at its first use
    return t + zone->get_info(std::chrono::floor<std::chrono::seconds>(t)).offset;
  } catch (const std::runtime_error&) {
    return std::nullopt;
  }
}

Value date_text(std::chrono::sys_days day, Arena& scratch) {
  const std::chrono::year_month_day date{day};
  std::array<char, 32> buffer{};
  const int size = std::snprintf(buffer.data(), buffer.size(), "%04d-%02u-%02u", static_cast<int>(date.year()),
                                 static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()));
  return Value::string(scratch.copy({buffer.data(), static_cast<std::size_t>(size)}));
}

}  // namespace

Value time_function(Function function, std::span<const Value> arguments, Arena& scratch, EvalErrors& errors) {
  if (arguments[0].kind() != Kind::kTimestamp) return failed(errors);
  const EventTime t = arguments[0].as_time();
  // A day less at both ends: a zone may be up to a day away from UTC.
  if (t < kFirstTime + std::chrono::days(1) || t >= kEndTime - std::chrono::days(1)) return failed(errors);
  const auto local = local_time(t, arguments);
  if (!local) return failed(errors);
  const auto day = std::chrono::floor<std::chrono::days>(*local);
  const std::chrono::hh_mm_ss<Micros> clock{*local - day};
  switch (function) {
    case Function::kHour:
      return Value::integer(clock.hours().count());
    case Function::kMinute:
      return Value::integer(clock.minutes().count());
    case Function::kDayOfWeek:
      return Value::integer(std::chrono::weekday(day).iso_encoding());
    default:
      return date_text(day, scratch);
  }
}

}  // namespace cepd::nfa
