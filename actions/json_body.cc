#include "actions/json_body.h"

#include <algorithm>
#include <utility>

#include "base/time.h"
#include "base/value.h"

namespace cepd::actions {

void JsonObject::begin(std::string_view name) {
  if (out_.size() > 1) out_ += ',';
  append_json_string(out_, name);
  out_ += ':';
}

JsonObject& JsonObject::text(std::string_view name, std::string_view value) {
  begin(name);
  append_json_string(out_, value);
  return *this;
}

JsonObject& JsonObject::json(std::string_view name, std::string_view value) {
  begin(name);
  out_ += value;
  return *this;
}

std::string JsonObject::finish() && {
  out_ += '}';
  return std::move(out_);
}

const state::OutboxArgument* find_argument(const state::OutboxRecord& record, std::string_view name) {
  const auto it = std::ranges::find(record.arguments, name, &state::OutboxArgument::name);
  return it == record.arguments.end() ? nullptr : &*it;
}

std::string_view argument_text(const state::OutboxRecord& record, std::string_view name) {
  const auto* argument = find_argument(record, name);
  return argument ? std::string_view(argument->text) : std::string_view{};
}

std::string_view match_id(const state::OutboxRecord& record) {
  return std::string_view(record.idempotency_key).substr(0, record.idempotency_key.find('-'));
}

JsonObject match_body(const state::OutboxRecord& record, std::initializer_list<std::string_view> without) {
  JsonObject arguments;
  for (const auto& argument : record.arguments) {
    if (std::ranges::find(without, argument.name) == without.end()) arguments.json(argument.name, argument.json);
  }
  std::string time;
  append_millis(time, to_us(record.time));
  JsonObject body;
  body.text("id", match_id(record)).text("rule", record.rule).json("time_ms", time);
  body.json("arguments", std::move(arguments).finish()).json("match", record.match_json);
  return body;
}

std::string one_line(std::string_view text, std::size_t longest) {
  static constexpr char kHex[] = "0123456789abcdef";
  const bool cut = text.size() > longest;
  if (cut) {
    while (longest > 0 && (static_cast<unsigned char>(text[longest]) & 0xC0) == 0x80) --longest;
    text = text.substr(0, longest);
  }
  std::string line;
  line.reserve(text.size());
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '\n') {
      line += "\\n";
    } else if (byte < 0x20 || byte == 0x7F) {
      line += "\\x";
      line += kHex[byte >> 4];
      line += kHex[byte & 15];
    } else {
      line += c;
    }
  }
  if (cut) line += "…";
  return line;
}

}  // namespace cepd::actions
