#include "base/match.h"

namespace cepd {
namespace {

using KeyPart = std::pair<FieldPath, Value>;

std::string step_name(const KeyPart& part, std::size_t depth) {
  const FieldPath::Step& step = part.first.steps[depth];
  const auto* name = std::get_if<std::string>(&step);
  return name != nullptr ? *name : std::to_string(std::get<std::int64_t>(step));
}

/// Nested key paths come back nested: device.id is {"device":{"id":…}}. Paths that share a prefix share the object,
/// wherever they stand in KEY: a name that stood twice in an object would lose its first value with many readers.
/// `parts` agree in the steps before `depth`.
void append_key(std::string& out, const std::vector<const KeyPart*>& parts, std::size_t depth) {
  out += '{';
  std::vector<bool> printed(parts.size(), false);
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (printed[i]) continue;
    if (i > 0) out += ',';
    const std::string name = step_name(*parts[i], depth);
    append_json_string(out, name);
    out += ':';
    if (parts[i]->first.steps.size() == depth + 1) {
      append_json(out, parts[i]->second);
      continue;
    }
    std::vector<const KeyPart*> inner;
    for (std::size_t j = i; j < parts.size(); ++j) {
      if (parts[j]->first.steps.size() == depth + 1 || step_name(*parts[j], depth) != name) continue;
      inner.push_back(parts[j]);
      printed[j] = true;
    }
    append_key(out, inner, depth + 1);
  }
  out += '}';
}

void append_key(std::string& out, const std::vector<KeyPart>& key) {
  std::vector<const KeyPart*> parts;
  for (const KeyPart& part : key) parts.push_back(&part);
  append_key(out, parts, 0);
}

void append_event(std::string& out, const Event& event, EventsForm form) {
  if (event.maker() != nullptr) {
    append_json_string(out, to_string(*event.maker()));
  } else if (form == EventsForm::kLines) {
    out += std::to_string(event.position.offset);
  } else if (form == EventsForm::kFull && !event.raw().empty()) {
    out += event.raw();
  } else {
    out += "{\"source\":";
    append_json_string(out, event.position.source.name());
    out += ",\"partition\":" + std::to_string(event.position.partition) +
           ",\"offset\":" + std::to_string(event.position.offset) + "}";
  }
}

void append_named(std::string& out, const std::vector<NamedValue>& values) {
  out += '{';
  bool first = true;
  for (const NamedValue& each : values) {
    if (!first) out += ',';
    first = false;
    append_json_string(out, each.name);
    out += ':';
    append_json(out, each.value);
  }
  out += '}';
}

}  // namespace

std::string_view match_kind_name(MatchKind kind) {
  switch (kind) {
    case MatchKind::kMatch:
      return "match";
    case MatchKind::kTimeout:
      return "timeout";
    case MatchKind::kWindow:
      return "window";
  }
  return "?";
}

std::string to_json(const Match& match, EventsForm form) {
  std::string out = "{\"match\":\"" + to_string(match.id) + "\",\"rule\":";
  append_json_string(out, match.rule);
  out += ",\"kind\":\"";
  out += match_kind_name(match.kind);
  out += "\",\"key\":";
  append_key(out, match.key);
  out += ",\"time\":";
  append_millis(out, to_us(match.time));
  out += ",\"first\":";
  append_millis(out, to_us(match.first));
  out += ",\"last\":";
  append_millis(out, to_us(match.last));
  if (match.kind != MatchKind::kWindow) {
    out += ",\"events\":{";
    bool first = true;
    for (const Binding& binding : match.bindings) {
      if (!first) out += ',';
      first = false;
      append_json_string(out, binding.name);
      out += ":[";
      for (std::size_t i = 0; i < binding.events.size(); ++i) {
        if (i > 0) out += ',';
        append_event(out, *binding.events[i], form);
      }
      out += ']';
    }
    out += '}';
  }
  out += ",\"emit\":";
  append_named(out, match.emit);
  if (match.suppressed) out += ",\"suppressed\":true";
  out += '}';
  return out;
}

}  // namespace cepd
