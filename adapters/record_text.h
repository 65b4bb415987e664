#pragma once
/// Kafka records and MQTT messages as the JSON text that the decoder reads.

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "adapters/source.h"
#include "base/time.h"

namespace cepd::adapters {

/// The text of an event of `message`: `bytes`, which is its value; where the record's key stands for `key_field`, an
/// object with that member in front, which one of the value's own replaces; for a tombstone
/// {"<key_field>":"<key>","__deleted":true}. It is `bytes` or points into `scratch`.
std::string_view event_text(const Message& message, std::string_view bytes, std::string_view key_field,
                            std::string& scratch);

using TextMembers = std::vector<std::pair<std::string_view, std::string_view>>;

/// Puts `bytes`, a JSON object, with these members (strings) behind its own, whose place they take, into `out`. False
/// for what ends in no brace: `out` is not touched then. Whether the rest is JSON is not looked at; what was none
/// before is none after.
bool add_members(std::string_view bytes, const TextMembers& members, std::string& out);

/// Of the header or the record's own; nothing when there is none, or it is no number of `unit` in range and no RFC 3339
/// time.
std::optional<EventTime> record_time(const Message& message, TimeUnit unit);

}  // namespace cepd::adapters
