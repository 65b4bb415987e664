#pragma once
#include <string_view>

namespace cepd {

/// Why an input event was not matched. Each is a counter label, a word in logs and in the dead-letter file; names never
/// change.
enum class DropReason : unsigned char {
  kTooLong,  ///< longer than the source's limit
  kNotJson,  ///< not one JSON object
  kInvalidUtf8,
  kBadNumber,      ///< a number no double can hold, or with more digits than are read
  kTooDeep,        ///< nested deeper than is read
  kNoType,         ///< type field missing or not a string
  kNoTime,         ///< time field missing, or not a time
  kSchema,         ///< does not fit its EVENT declaration
  kFuture,         ///< further ahead of the clock than max_future
  kDuplicate,      ///< its dedup id was seen
  kLate,           ///< older than its own partition's watermark
  kLateAfterIdle,  ///< late because its partition was idle or new
};
inline constexpr int kDropReasonCount = 12;

std::string_view drop_reason_name(DropReason reason);  // "too_long" "not_json" "invalid_utf8" "bad_number" ...

}  // namespace cepd
