#include "adapters/debezium.h"

#include <simdjson.h>

#include <cstdint>

#include "base/value.h"

namespace cepd::adapters {
namespace {

using simdjson::dom::element;
using simdjson::dom::object;

std::optional<object> member(const object& of, std::string_view name) {
  object found;
  return of[name].get(found) == simdjson::SUCCESS ? std::optional(found) : std::nullopt;
}

std::optional<std::int64_t> time_ms(const object& of) {
  std::int64_t ms = 0;
  return of["ts_ms"].get(ms) == simdjson::SUCCESS ? std::optional(ms) : std::nullopt;
}

}  // namespace

std::optional<std::string> debezium_event(std::string_view envelope) {
  simdjson::dom::parser parser;
  object root;
  if (parser.parse(envelope.data(), envelope.size()).get(root) != simdjson::SUCCESS) return std::nullopt;
  const object change = member(root, "payload").value_or(root);
  std::string_view op;
  if (change["op"].get(op) != simdjson::SUCCESS) return std::nullopt;
  const auto before = member(change, "before");
  const auto row = op == "d" ? before : member(change, "after");
  if (!row) return std::nullopt;

  std::string event = simdjson::minify(*row);
  event.pop_back();  // its closing brace
  event += event.size() > 1 ? R"(,"__op":)" : R"("__op":)";
  append_json_string(event, op);
  const auto source = member(change, "source");
  auto at = source ? time_ms(*source) : std::nullopt;
  if (!at) at = time_ms(change);
  if (at) event += R"(,"__ts_ms":)" + std::to_string(*at);
  if (before) event += R"(,"__before":)" + std::string(simdjson::minify(*before));
  return event += '}';
}

}  // namespace cepd::adapters
