#include "base/value.h"

#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstring>

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace cepd {
namespace {

template <class T>
Ordering order(const T& a, const T& b) {
  return a < b ? Ordering::kLess : b < a ? Ordering::kGreater : Ordering::kEqual;
}

Ordering flipped(Ordering o) {
  if (o == Ordering::kLess) return Ordering::kGreater;
  if (o == Ordering::kGreater) return Ordering::kLess;
  return o;
}

Ordering compare_numbers(const Value& a, const Value& b) {
  if (a.kind() == Kind::kInt)
    return b.kind() == Kind::kInt ? order(a.as_int(), b.as_int()) : compare(a.as_int(), b.as_double());
  return b.kind() == Kind::kInt ? flipped(compare(b.as_int(), a.as_double())) : order(a.as_double(), b.as_double());
}

/// Rank of a kind in key_order; ints and doubles share one.
int key_rank(const Value& v) {
  switch (v.kind()) {
    case Kind::kNull:
      return 0;
    case Kind::kBool:
      return 1;
    case Kind::kInt:
    case Kind::kDouble:
      return 2;
    case Kind::kString:
      return 3;
    case Kind::kTimestamp:
      return 4;
    case Kind::kDuration:
      return 5;
    case Kind::kJson:
      return 6;
  }
  return 7;
}

/// True and the integer when `d` is a whole number that 64 bits hold.
bool whole(double d, std::int64_t& out) {
  if (!(d >= -0x1p63 && d < 0x1p63) || std::trunc(d) != d) return false;
  out = static_cast<std::int64_t>(d);
  return true;
}

void append_raw(std::string& out, const void* bytes, std::size_t size) {
  out.append(static_cast<const char*>(bytes), size);
}

void append_number(std::string& out, std::int64_t i) {
  std::array<char, 24> buffer{};
  out.append(buffer.data(), std::to_chars(buffer.data(), buffer.data() + buffer.size(), i).ptr);
}

void append_number(std::string& out, double d) {
  std::array<char, 32> buffer{};
  const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), d).ptr;
  const std::string_view digits(buffer.data(), static_cast<std::size_t>(end - buffer.data()));
  out += digits;
  // Without it the text would read back as an int.
  if (digits.find_first_of(".e") == std::string_view::npos) out += ".0";
}

}  // namespace

Value Value::real(double d) {
  if (!std::isfinite(d)) return {};
  Value v(Kind::kDouble);
  v.payload_.real = d;
  return v;
}

std::string_view kind_name(Kind kind) {
  switch (kind) {
    case Kind::kNull:
      return "null";
    case Kind::kBool:
      return "bool";
    case Kind::kInt:
      return "int";
    case Kind::kDouble:
      return "double";
    case Kind::kString:
      return "string";
    case Kind::kTimestamp:
      return "timestamp";
    case Kind::kDuration:
      return "duration";
    case Kind::kJson:
      return "array or object";
  }
  return "?";
}

Ordering compare(std::int64_t a, double b) {
  if (b >= 0x1p63) return Ordering::kLess;
  if (b < -0x1p63) return Ordering::kGreater;
  // |b| <= 2^63: its whole part converts exactly, so compare that first and the fraction second.
  const double whole_part = std::trunc(b);
  const auto whole_b = static_cast<std::int64_t>(whole_part);
  if (a != whole_b) return a < whole_b ? Ordering::kLess : Ordering::kGreater;
  return order(0.0, b - whole_part);
}

Ordering compare(const Value& a, const Value& b) {
  if (a.is_null() || b.is_null()) return Ordering::kNull;
  if (a.is_number() && b.is_number()) return compare_numbers(a, b);
  if (a.kind() != b.kind()) return Ordering::kUnlike;
  switch (a.kind()) {
    case Kind::kBool:
      return a.as_bool() == b.as_bool() ? Ordering::kEqual : Ordering::kUnequal;
    case Kind::kJson:
      return a.text() == b.text() ? Ordering::kEqual : Ordering::kUnequal;
    case Kind::kString:
      return order(a.text(), b.text());
    case Kind::kTimestamp:
      return order(a.as_time(), b.as_time());
    default:
      return order(a.as_duration(), b.as_duration());
  }
}

int key_order(const Value& a, const Value& b) {
  if (const int rank_a = key_rank(a), rank_b = key_rank(b); rank_a != rank_b) return rank_a < rank_b ? -1 : 1;
  if (a.is_null()) return 0;
  if (a.kind() == Kind::kBool) return static_cast<int>(a.as_bool()) - static_cast<int>(b.as_bool());
  if (a.kind() == Kind::kJson) return a.text().compare(b.text());
  const Ordering o = compare(a, b);
  return o == Ordering::kLess ? -1 : o == Ordering::kGreater ? 1 : 0;
}

void append_canonical(std::string& out, const Value& value) {
  std::int64_t integer = 0;
  switch (value.kind()) {
    case Kind::kNull:
      out += 'n';
      return;
    case Kind::kBool:
      out += value.as_bool() ? 't' : 'f';
      return;
    case Kind::kDouble:
      if (!whole(value.as_double(), integer)) {
        const double d = value.as_double();
        out += 'd';
        append_raw(out, &d, sizeof d);
        return;
      }
      break;
    case Kind::kInt:
      integer = value.as_int();
      break;
    case Kind::kTimestamp:
    case Kind::kDuration:
      out += value.kind() == Kind::kTimestamp ? 'T' : 'D';
      integer = value.as_int();
      append_raw(out, &integer, sizeof integer);
      return;
    case Kind::kString:
    case Kind::kJson: {
      out += value.kind() == Kind::kString ? 's' : 'j';
      const auto size = static_cast<std::uint32_t>(value.text().size());
      append_raw(out, &size, sizeof size);
      out += value.text();
      return;
    }
  }
  out += 'i';
  append_raw(out, &integer, sizeof integer);
}

namespace {

std::uint64_t mix(std::uint64_t a) {
  // Finalizer of SplitMix64 (Steele, Lea, Flood: Fast splittable pseudorandom number generators, OOPSLA 2014).
  a = (a ^ (a >> 30)) * 0xBF58476D1CE4E5B9;
  a = (a ^ (a >> 27)) * 0x94D049BB133111EB;
  return a ^ (a >> 31);
}

}  // namespace

std::uint64_t equality_hash(const Value& value) {
  switch (value.kind()) {
    case Kind::kString:
      return XXH3_64bits(value.text().data(), value.text().size());
    case Kind::kInt:
      return mix(static_cast<std::uint64_t>(value.as_int()));
    case Kind::kDouble: {
      std::int64_t integer = 0;
      if (whole(value.as_double(), integer)) return mix(static_cast<std::uint64_t>(integer));
      return ~mix(std::bit_cast<std::uint64_t>(value.as_double()));
    }
    default:
      return hash_value(value);
  }
}

std::uint64_t hash_value(const Value& value) {
  std::string canonical;
  append_canonical(canonical, value);
  return XXH3_64bits(canonical.data(), canonical.size());
}

void append_json_string(std::string& out, std::string_view text) {
  static constexpr char kHex[] = "0123456789abcdef";
  out += '"';
  for (const char c : text) {
    switch (c) {
      case '"':
        out += "\\\"";
        break;
      case '\\':
        out += "\\\\";
        break;
      case '\n':
        out += "\\n";
        break;
      case '\r':
        out += "\\r";
        break;
      case '\t':
        out += "\\t";
        break;
      default:
        if (static_cast<unsigned char>(c) < 0x20) {
          out += "\\u00";
          out += kHex[static_cast<unsigned char>(c) >> 4];
          out += kHex[static_cast<unsigned char>(c) & 15];
        } else {
          out += c;
        }
    }
  }
  out += '"';
}

void append_json(std::string& out, const Value& value) {
  switch (value.kind()) {
    case Kind::kNull:
      out += "null";
      return;
    case Kind::kBool:
      out += value.as_bool() ? "true" : "false";
      return;
    case Kind::kInt:
      append_number(out, value.as_int());
      return;
    case Kind::kDouble:
      append_number(out, value.as_double());
      return;
    case Kind::kString:
      append_json_string(out, value.text());
      return;
    case Kind::kTimestamp:
    case Kind::kDuration:
      append_millis(out, value.as_int());
      return;
    case Kind::kJson:
      out += value.text();
      return;
  }
}

void append_text(std::string& out, const Value& value) {
  switch (value.kind()) {
    case Kind::kString:
      out += value.text();
      return;
    case Kind::kTimestamp:
      out += format_rfc3339(value.as_time());
      return;
    case Kind::kDuration:
      out += format_duration(value.as_duration());
      return;
    default:
      append_json(out, value);
  }
}

}  // namespace cepd
