#pragma once
/// JSON objects that sinks send, and the arguments of a call.

#include <initializer_list>
#include <string>
#include <string_view>

#include "state/outbox.h"

namespace cepd::actions {

/// Builds one JSON object, members in the order added. Names are not compared: add each once.
class JsonObject {
 public:
  JsonObject& text(std::string_view name, std::string_view value);
  /// `value` is a JSON value already.
  JsonObject& json(std::string_view name, std::string_view value);
  std::string finish() &&;

 private:
  void begin(std::string_view name);
  std::string out_ = "{";
};

/// The argument called `name`, or null.
const state::OutboxArgument* find_argument(const state::OutboxRecord& record, std::string_view name);
/// Its text, or empty.
std::string_view argument_text(const state::OutboxRecord& record, std::string_view name);

/// The record's match id: its idempotency key without the count of the call.
std::string_view match_id(const state::OutboxRecord& record);

/// Starts an object with `id`, `rule`, `time_ms`, `arguments` (all but those named in `without`) and `match`.
JsonObject match_body(const state::OutboxRecord& record, std::initializer_list<std::string_view> without);

/// `text` on one line: control characters as \n or \x1b, cut to `longest` bytes at a character's end.
std::string one_line(std::string_view text, std::size_t longest);

}  // namespace cepd::actions
