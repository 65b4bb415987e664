#pragma once
/// The stored layout: format version and the encoding of records. Prose in docs/state_format.md.
/// A number here never changes its meaning; a change of layout is a new kFormatVersion with an upgrade step.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/ids.h"
#include "base/path.h"
#include "base/result.h"
#include "base/value.h"

namespace cepd::state {

inline constexpr std::uint32_t kFormatVersion = 4;
inline constexpr std::string_view kFormatVersionKey = "format_version";

/// Appends to a record. Integers are LEB128 (signed ones zig-zag), texts have their length in front.
class Writer {
 public:
  void byte(std::uint8_t value) { out_.push_back(static_cast<char>(value)); }
  void number(std::uint64_t value);
  void signed_number(std::int64_t value);
  void text(std::string_view value);
  void value(const Value& value);  // kind, payload
  void time(EventTime t) { signed_number(to_us(t)); }
  void position(const SourcePosition& position);
  void match_id(const MatchId& id);
  void path(const FieldPath& path);
  std::string take() { return std::move(out_); }
  std::size_t size() const { return out_.size(); }

 private:
  std::string out_;
};

/// Reads what Writer wrote. After the first byte that does not fit, ok() is false and every read gives zero or empty;
/// check ok() (and, at the end, at_end()) before using what was read.
class Reader {
 public:
  explicit Reader(std::string_view bytes) : rest_(bytes) {}
  std::uint8_t byte();
  std::uint64_t number();
  std::int64_t signed_number();
  std::string_view text();  // points into the record
  Value value();            // text points into the record
  EventTime time() { return event_time_us(signed_number()); }
  SourcePosition position();
  MatchId match_id();
  FieldPath path();
  /// A count of things that take at least one byte each: fails when more are claimed than bytes are left.
  std::size_t count();
  bool ok() const { return ok_; }
  bool at_end() const { return ok_ && rest_.empty(); }
  void fail() {
    ok_ = false;
    rest_ = {};
  }

 private:
  std::uint64_t fixed();  // eight bytes, big-endian

  std::string_view rest_;
  bool ok_ = true;
};

/// `body` with a checksum of it and of its key in front, for records that nothing else can check.
std::string seal(std::string_view key, std::string_view body);
/// The body, or none when a byte of it or of its key was changed.
std::optional<std::string_view> unseal(std::string_view key, std::string_view record);

/// Big-endian, so that byte order is numeric order.
void append_ordered(std::string& key, std::uint64_t number);
std::string ordered_key(std::uint64_t number);     // these eight bytes alone
std::uint64_t read_ordered(std::string_view key);  // the first eight bytes; the caller has checked that they are there

}  // namespace cepd::state
