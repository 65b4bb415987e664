#include "state/layout.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <bit>
#include <cmath>
#include <limits>

#include "base/check.h"

namespace cepd::state {
namespace {

// Kinds of values and path steps on disk. They never change; base's enumerators may.
constexpr std::uint8_t kNull = 0, kFalse = 1, kTrue = 2, kInt = 3, kDouble = 4, kString = 5, kTimestamp = 6,
                       kDuration = 7, kJson = 8;
constexpr std::uint8_t kNameStep = 0, kIndexStep = 1;

}  // namespace

void Writer::number(std::uint64_t value) {
  for (; value >= 0x80; value >>= 7) byte(static_cast<std::uint8_t>(value | 0x80));
  byte(static_cast<std::uint8_t>(value));
}

void Writer::signed_number(std::int64_t value) {
  // Zig-zag: 0, -1, 1, -2 become 0, 1, 2, 3, so that small magnitudes are short.
  number((static_cast<std::uint64_t>(value) << 1) ^ static_cast<std::uint64_t>(value >> 63));
}

void Writer::text(std::string_view value) {
  number(value.size());
  out_ += value;
}

void Writer::value(const Value& value) {
  switch (value.kind()) {
    case Kind::kNull:
      return byte(kNull);
    case Kind::kBool:
      return byte(value.as_bool() ? kTrue : kFalse);
    case Kind::kInt:
      byte(kInt);
      return signed_number(value.as_int());
    case Kind::kDouble:
      byte(kDouble);
      return append_ordered(out_, std::bit_cast<std::uint64_t>(value.as_double()));
    case Kind::kString:
      byte(kString);
      return text(value.text());
    case Kind::kTimestamp:
      byte(kTimestamp);
      return signed_number(value.as_int());
    case Kind::kDuration:
      byte(kDuration);
      return signed_number(value.as_int());
    case Kind::kJson:
      byte(kJson);
      return text(value.text());
  }
}

void Writer::position(const SourcePosition& position) {
  text(position.source.name());
  signed_number(position.partition);
  signed_number(position.offset);
}

void Writer::match_id(const MatchId& id) {
  append_ordered(out_, id.high);
  append_ordered(out_, id.low);
}

void Writer::path(const FieldPath& path) {
  number(path.steps.size());
  for (const FieldPath::Step& step : path.steps) {
    if (const auto* name = std::get_if<std::string>(&step)) {
      byte(kNameStep);
      text(*name);
    } else {
      byte(kIndexStep);
      signed_number(std::get<std::int64_t>(step));
    }
  }
}

std::uint8_t Reader::byte() {
  if (rest_.empty()) {
    fail();
    return 0;
  }
  const auto value = static_cast<std::uint8_t>(rest_.front());
  rest_.remove_prefix(1);
  return value;
}

std::uint64_t Reader::number() {
  std::uint64_t value = 0;
  for (int shift = 0; shift < 64; shift += 7) {
    const std::uint8_t next = byte();
    if (!ok_) return 0;
    const std::uint64_t bits = next & 0x7F;
    if (shift == 63 && bits > 1) break;  // more than 64 bits
    value |= bits << shift;
    if ((next & 0x80) == 0) return value;
  }
  fail();
  return 0;
}

std::int64_t Reader::signed_number() {
  const std::uint64_t value = number();
  return static_cast<std::int64_t>(value >> 1) ^ -static_cast<std::int64_t>(value & 1);
}

std::string_view Reader::text() {
  const std::uint64_t size = number();
  if (size > rest_.size()) {
    fail();
    return {};
  }
  const std::string_view value = rest_.substr(0, size);
  rest_.remove_prefix(size);
  return value;
}

std::uint64_t Reader::fixed() {
  if (rest_.size() < 8) {
    fail();
    return 0;
  }
  const std::uint64_t value = read_ordered(rest_);
  rest_.remove_prefix(8);
  return value;
}

Value Reader::value() {
  const std::uint8_t kind = byte();
  if (!ok_) return {};
  Value value;
  switch (kind) {
    case kNull:
      break;
    case kFalse:
    case kTrue:
      value = Value::boolean(kind == kTrue);
      break;
    case kInt:
      value = Value::integer(signed_number());
      break;
    case kDouble: {
      const auto d = std::bit_cast<double>(fixed());
      if (!std::isfinite(d)) fail();
      value = Value::real(d);
      break;
    }
    case kTimestamp:
      value = Value::timestamp(time());
      break;
    case kDuration:
      value = Value::duration(Micros(signed_number()));
      break;
    case kString:
    case kJson: {
      const std::string_view bytes = text();
      if (bytes.size() > std::numeric_limits<std::uint32_t>::max()) {
        fail();
        break;
      }
      value = kind == kString ? Value::string(bytes) : Value::json(bytes);
      break;
    }
    default:
      fail();
  }
  return ok_ ? value : Value::null();
}

SourcePosition Reader::position() {
  const std::string_view source = text();
  const std::int64_t partition = signed_number();
  const std::int64_t offset = signed_number();
  if (partition != static_cast<std::int32_t>(partition)) fail();
  if (!ok_) return {};
  return {SourceId(source), static_cast<std::int32_t>(partition), offset};
}

MatchId Reader::match_id() {
  const std::uint64_t high = fixed();
  const std::uint64_t low = fixed();
  return ok_ ? MatchId{high, low} : MatchId{};
}

FieldPath Reader::path() {
  FieldPath path;
  for (std::size_t left = count(); left > 0 && ok_; --left) {
    switch (byte()) {
      case kNameStep:
        path.steps.emplace_back(std::string(text()));
        break;
      case kIndexStep:
        path.steps.emplace_back(signed_number());
        break;
      default:
        fail();
    }
  }
  return ok_ ? path : FieldPath{};
}

std::size_t Reader::count() {
  const std::uint64_t claimed = number();
  if (claimed > rest_.size()) {
    fail();
    return 0;
  }
  return claimed;
}

namespace {

constexpr std::size_t kChecksum = sizeof(std::uint64_t);

std::uint64_t checksum(std::string_view key, std::string_view body) {
  return XXH3_64bits_withSeed(body.data(), body.size(), XXH3_64bits(key.data(), key.size()));
}

}  // namespace

std::string seal(std::string_view key, std::string_view body) {
  std::string record;
  record.reserve(kChecksum + body.size());
  append_ordered(record, checksum(key, body));
  return record += body;
}

std::optional<std::string_view> unseal(std::string_view key, std::string_view record) {
  if (record.size() < kChecksum) return std::nullopt;
  const std::string_view body = record.substr(kChecksum);
  if (read_ordered(record) != checksum(key, body)) return std::nullopt;
  return body;
}

void append_ordered(std::string& key, std::uint64_t number) {
  for (int shift = 56; shift >= 0; shift -= 8) key += static_cast<char>(number >> shift);
}

std::string ordered_key(std::uint64_t number) {
  std::string key;
  append_ordered(key, number);
  return key;
}

std::uint64_t read_ordered(std::string_view key) {
  CEPD_CHECK(key.size() >= 8);
  std::uint64_t number = 0;
  for (std::size_t i = 0; i < 8; ++i) number = number << 8 | static_cast<std::uint8_t>(key[i]);
  return number;
}

}  // namespace cepd::state
