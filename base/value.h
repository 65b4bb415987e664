#pragma once
/// A value of the rule language. 16 bytes, copied freely; the text of strings and JSON belongs to an Arena elsewhere
/// (the event's, the match's, or the scratch arena of an evaluation) and must outlive the value.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/arena.h"
#include "base/check.h"
#include "base/time.h"

namespace cepd {

enum class Kind : std::uint8_t {
  kNull,
  kBool,
  kInt,
  kDouble,  // never a NaN or infinity: Value::real() turns those into null
  kString,
  kTimestamp,
  kDuration,
  kJson,  // an array or object, kept as its canonical JSON text (see canonical form in adapters/decoder.h)
};

class Value {
 public:
  Value() = default;
  static Value null() { return {}; }
  static Value boolean(bool b) {
    Value v(Kind::kBool);
    v.payload_.integer = b ? 1 : 0;
    return v;
  }
  static Value integer(std::int64_t i) {
    Value v(Kind::kInt);
    v.payload_.integer = i;
    return v;
  }
  static Value real(double d);  // null when not finite
  static Value string(std::string_view text) { return text_value(Kind::kString, text); }
  static Value json(std::string_view text) { return text_value(Kind::kJson, text); }
  static Value timestamp(EventTime t) {
    Value v(Kind::kTimestamp);
    v.payload_.integer = to_us(t);
    return v;
  }
  static Value duration(Micros d) {
    Value v(Kind::kDuration);
    v.payload_.integer = d.count();
    return v;
  }

  Kind kind() const { return static_cast<Kind>(tag_ & 0xff); }
  bool is_null() const { return kind() == Kind::kNull; }
  bool is_number() const { return kind() == Kind::kInt || kind() == Kind::kDouble; }
  bool is_text() const { return kind() == Kind::kString || kind() == Kind::kJson; }
  bool is_true() const { return kind() == Kind::kBool && payload_.integer != 0; }

  bool as_bool() const { return payload_.integer != 0; }
  std::int64_t as_int() const { return payload_.integer; }
  double as_double() const { return payload_.real; }
  /// The number as a double, whichever of the two kinds it is. Requires is_number().
  double number() const { return kind() == Kind::kInt ? static_cast<double>(payload_.integer) : payload_.real; }
  std::string_view text() const { return {payload_.bytes, static_cast<std::size_t>(tag_ >> 8)}; }
  EventTime as_time() const { return event_time_us(payload_.integer); }
  Micros as_duration() const { return Micros(payload_.integer); }

  /// The same value with its text, if any, copied into `arena`.
  Value copied_to(Arena& arena) const { return is_text() ? text_value(kind(), arena.copy(text())) : *this; }

 private:
  explicit Value(Kind kind) : tag_(static_cast<std::uint64_t>(kind)) {}
  static Value text_value(Kind kind, std::string_view text) {
    CEPD_CHECK(text.size() <= UINT32_MAX);
    Value v(kind);
    v.tag_ |= static_cast<std::uint64_t>(text.size()) << 8;
    v.payload_.bytes = text.data();
    return v;
  }

  union {
    std::int64_t integer = 0;
    double real;
    const char* bytes;
  } payload_;
  // The kind and, above it, the size of a text in one word: values are made and copied in two registers.
  std::uint64_t tag_ = 0;
};

/// Name of a kind in messages: "int", "string", ...
std::string_view kind_name(Kind kind);

/// How `a` and `b` compare by the rules of language.md section 4.
enum class Ordering : std::uint8_t {
  kLess,
  kEqual,
  kGreater,
  kUnequal,  ///< of one kind and different, but the kind has no order (bool, array, object)
  kNull,     ///< one of them is null: unknown
  kUnlike,   ///< kinds that do not compare (string and number, timestamp and number): unknown, and counted as an error
};

/// int and double compare by exact numeric value, strings by UTF-8 bytes.
Ordering compare(const Value& a, const Value& b);

/// Exact comparison of a 64-bit integer with a finite double.
Ordering compare(std::int64_t a, double b);

/// Total order used for output and keys: null < false < true < numbers < strings by bytes (< timestamp < duration <
/// json). Equal means the same key: 1 and 1.0 are equal, 1 and "1" are not.
int key_order(const Value& a, const Value& b);

/// Appends a form in which equal keys are equal bytes and unequal keys differ (1 and 1.0 agree, -0.0 is 0).
/// Used for hashes, match ids and stored keys; it never changes (state format).
void append_canonical(std::string& out, const Value& value);

/// Equal values (as keys: 1 and 1.0, 0.0 and -0.0) have one hash. For tables in memory only: it may change.
std::uint64_t equality_hash(const Value& value);

/// XXH3-64 of the canonical form.
std::uint64_t hash_value(const Value& value);

/// Appends as JSON. Doubles are the shortest text that reads back as the same double (30.0 keeps its ".0");
/// timestamps and durations are milliseconds with up to three decimals.
void append_json(std::string& out, const Value& value);
void append_json_string(std::string& out, std::string_view text);

/// Appends as a person would read it in an alert: strings bare, null as "null", timestamps as RFC 3339, durations as
/// 1h30m.
void append_text(std::string& out, const Value& value);

}  // namespace cepd
