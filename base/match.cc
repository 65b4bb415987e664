#include "base/match.h"

namespace cepd {
namespace {

/// Nested key paths come back nested: device.id is {"device":{"id":…}}; neighbours in KEY that share a prefix share the
/// object.
void append_key(std::string& out, const std::vector<std::pair<FieldPath, Value>>& key) {
  out += '{';
  std::vector<std::string> open;  // names of the objects open now, below the outermost
  bool first = true;
  for (const auto& [path, value] : key) {
    std::vector<std::string> names;
    for (const FieldPath::Step& step : path.steps) {
      const auto* name = std::get_if<std::string>(&step);
      names.push_back(name != nullptr ? *name : std::to_string(std::get<std::int64_t>(step)));
    }
    std::size_t shared = 0;
    while (shared < open.size() && shared + 1 < names.size() && open[shared] == names[shared]) ++shared;
    while (open.size() > shared) {
      out += '}';
      open.pop_back();
    }
    if (!first) out += ',';
    first = false;
    for (std::size_t i = shared; i + 1 < names.size(); ++i) {
      append_json_string(out, names[i]);
      out += ":{";
      open.push_back(names[i]);
    }
    append_json_string(out, names.back());
    out += ':';
    append_json(out, value);
  }
  out.append(open.size(), '}');
  out += '}';
}

void append_event(std::string& out, const Event& event, EventsForm form) {
  if (event.maker) {
    append_json_string(out, to_string(*event.maker));
  } else if (form == EventsForm::kLines) {
    out += std::to_string(event.position.offset);
  } else if (form == EventsForm::kFull && !event.raw.empty()) {
    out += event.raw;
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
