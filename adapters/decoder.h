#pragma once
/// Bytes -> Event: the type, the time and the fields that rules read.
///
/// The whole text is validated whatever the rules read, so that what counts as a bad event never depends on the rules
/// (language-details.md section 2: a number without `.` or exponent that fits 64 bits is an int, any other a double; of
/// repeated names in an object the last counts; missing and null are the same). Canonical JSON (arrays and objects kept
/// as values): no spaces, object keys sorted by bytes, last of repeated names only, ints as they are, doubles as
/// append_json prints them.

#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "adapters/source.h"
#include "adapters/topic_pattern.h"
#include "base/drop_reason.h"
#include "base/event.h"
#include "base/field_plan.h"
#include "config/options.h"

namespace cepd::adapters {

struct DecoderOptions {
  FieldPath type_field = FieldPath::of("type");
  FieldPath time_field = FieldPath::of("ts");
  TimeUnit time_unit = TimeUnit::kMillis;  ///< of numeric times; strings are RFC 3339
  bool type_from_topic = false;            ///< the last level of the MQTT topic is the type
  std::vector<TopicPattern> topics;        ///< named levels of the first that matches are fields, before the payload's
  bool type_from_record = false;           ///< it is RecordParts::type
  bool time_from_record = false;           ///< it is RecordParts::time or RecordParts::when
  bool debezium = false;                   ///< the value is an envelope (adapters/debezium.h)
  std::string key_field;                   ///< that the record's key stands for where the value does not name it
  std::optional<FieldPath> id_field;       ///< by which an event that comes again is known
  bool keep_raw = false;                   ///< fill Event::raw()
};

struct DecodeError {
  DropReason reason;
  std::string detail;  ///< for a person: "field price: expected double, got string"
};

/// Not thread-safe; one a thread. Errors never throw and never cost more than the length of the text.
class JsonDecoder {
 public:
  explicit JsonDecoder(DecoderOptions options);
  ~JsonDecoder();

  /// `plan` may change from call to call. Types that no rule names become kOtherType with Event::other_type() set.
  /// Numeric times with a fraction are cut to microseconds towards the past; times outside 64-bit microseconds are
  /// kNoTime.
  std::variant<EventPtr, DecodeError> decode(const Message& message, const FieldPlan& plan);

  /// The text that the last decode() has read: the message's bytes, or the event made of its envelope; with what was
  /// put in from the record's key or the topic. Until the next call.
  std::string_view text() const;

  /// Of the id field of the event that the last decode() gave; none where that is missing or null.
  const std::optional<MatchId>& id() const;

  /// An event of type `type` already decoded, read again from its raw() by a newer plan; without raw() it keeps its
  /// fields.
  EventPtr decode_again(const Event& event, std::string_view type, const FieldPlan& plan);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace cepd::adapters
