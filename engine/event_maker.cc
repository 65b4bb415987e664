#include "engine/event_maker.h"

#include <algorithm>
#include <map>

#include "engine/json_part.h"

namespace cepd::engine {
namespace {

namespace plan = dsl::plan;

using Key = std::vector<std::pair<FieldPath, Value>>;

bool begins_with(const FieldPath& path, const FieldPath& beginning) {
  return path.steps.size() >= beginning.steps.size() &&
         std::equal(beginning.steps.begin(), beginning.steps.end(), path.steps.begin());
}

/// The canonical JSON of the key fields below `path`, which lead on from there: device.id below device is {"id":…}.
void append_nested(std::string& out, const Key& key, const FieldPath& path) {
  std::map<std::string, FieldPath> parts;  // names in the order of their bytes
  for (const auto& [field, value] : key) {
    if (field.steps.size() <= path.steps.size() || !begins_with(field, path)) continue;
    const FieldPath::Step& step = field.steps[path.steps.size()];
    FieldPath part = path;
    part.steps.push_back(step);
    const auto* name = std::get_if<std::string>(&step);
    parts.emplace(name != nullptr ? *name : std::to_string(std::get<std::int64_t>(step)), std::move(part));
  }
  char separator = '{';
  for (const auto& [name, part] : parts) {
    out += std::exchange(separator, ',');
    append_json_string(out, name);
    out += ':';
    const auto leaf = std::find_if(key.begin(), key.end(), [&path = part](const auto& f) { return f.first == path; });
    if (leaf != key.end()) {
      append_json(out, leaf->second);
    } else {
      append_nested(out, key, part);
    }
  }
  out += '}';
}

Value key_field(const Key& key, const FieldPath& path, Arena& arena) {
  bool some = false;
  for (const auto& [field, value] : key) {
    if (field == path) return value.copied_to(arena);
    some = some || begins_with(field, path);
  }
  if (!some) return {};
  std::string json;
  append_nested(json, key, path);
  return Value::json(arena.copy(json));
}

/// The value in its declared type; null where it turned out to be of another.
Value declared_value(const Value& value, FieldType type) {
  switch (type) {
    case FieldType::kBool:
      return value.kind() == Kind::kBool ? value : Value();
    case FieldType::kInt:
      return value.kind() == Kind::kInt ? value : Value();
    case FieldType::kDouble:
      return value.is_number() ? Value::real(value.number()) : Value();
    case FieldType::kString:
      return value.kind() == Kind::kString ? value : Value();
    case FieldType::kTimestamp:
      return value.kind() == Kind::kTimestamp ? value : Value();
    case FieldType::kDuration:
      return value.kind() == Kind::kDuration ? value : Value();
  }
  return {};
}

}  // namespace

EventMaker::EventMaker(const nfa::Network& network, const plan::Rule& rule)
    : on_match_(plan_of(network, rule.into, rule.emit)) {
  if (rule.on_timeout) on_timeout_ = plan_of(network, rule.on_timeout->into, rule.on_timeout->emit);
}

std::optional<EventMaker::Plan> EventMaker::plan_of(const nfa::Network& network, const std::optional<TypeId>& into,
                                                    const List<plan::Item>& items) {
  if (!into || network.derived_inputs(*into).empty()) return std::nullopt;
  Plan out;
  out.type = *into;
  const FieldPlan::Type& type = network.fields().type(*into);
  for (const FieldPath& path : type.paths) {
    Field field;
    const auto* first = std::get_if<std::string>(&path.steps.front());
    const auto item = std::find_if(items.begin(), items.end(),
                                   [&](const plan::Item& each) { return first != nullptr && each.name == *first; });
    const bool from_item = item != items.end();
    if (from_item) field.item = static_cast<std::size_t>(item - items.begin());
    field.path.steps.assign(path.steps.begin() + (from_item ? 1 : 0), path.steps.end());
    if (type.declared && path.steps.size() == 1) {
      for (const DeclaredField& declared : *type.declared) {
        if (first != nullptr && declared.name == *first) field.type = declared.type;
      }
    }
    out.fields.push_back(std::move(field));
  }
  return out;
}

EventPtr EventMaker::make(const Match& match) const {
  const auto& made = match.kind == MatchKind::kTimeout ? on_timeout_ : on_match_;
  if (!made) return nullptr;
  EventDraft event;
  Arena texts;
  event.time = match.time;
  event.type = made->type;
  event.maker = match.id;
  event.shadow = match.shadow;
  event.fields.reserve(made->fields.size());
  for (const Field& field : made->fields) {
    Value value;
    if (!field.item) {
      value = key_field(match.key, field.path, texts);
    } else if (field.path.empty()) {
      value = match.emit[*field.item].value;
    } else if (const Value& whole = match.emit[*field.item].value; whole.kind() == Kind::kJson) {
      value = json_part(whole.text(), field.path.steps, texts);
    }
    event.fields.push_back(field.type ? declared_value(value, *field.type) : value);
  }
  return event.build();
}

}  // namespace cepd::engine
