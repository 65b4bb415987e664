#include "tests/reference/reference.h"

#include <algorithm>

#include "tests/reference/after_match.h"
#include "tests/reference/chain.h"

namespace cepd::reference {
namespace {

Line line_of(const Rule& rule, const Result& result, const std::map<EventPtr, std::size_t>& makers, Arena& arena) {
  Line out{result.kind, rule.name, {}, result.known.time, {}, items_of(rule, result, arena), result.suppressed, false};
  out.shadow = rule.written->status == ast::RuleStatus::kShadow;
  for (std::size_t i = 0; i < rule.key.size(); ++i) {
    out.key.emplace_back(std::get<std::string>(rule.key[i].steps.back()), result.key[i]);
  }
  for (std::size_t slot = 0; slot < rule.slots.size(); ++slot) {
    std::vector<std::string> places;
    for (const Bound& bound : result.bound) {
      if (bound.slot != slot) continue;
      const bool derived = bound.event->place.made;
      places.push_back(derived ? place_text(makers.at(bound.event)) : place_text(bound.event->position));
    }
    if (!places.empty()) out.bindings.emplace_back(rule.slots[slot].name, std::move(places));
  }
  return out;
}

std::string object_text(const std::vector<std::pair<std::string, Value>>& fields) {
  std::string out = "{";
  for (const auto& [name, value] : fields) {
    if (out.size() > 1) out += ',';
    append_json_string(out, name);
    out += ':';
    append_json(out, value);
  }
  return out + "}";
}

/// "Output shows the value of the match's first event" (1 or 1.0), read by the fields of the element that bound it.
Key shown_key(const Rule& rule, const Bindings& bound) {
  for (const Single* single : singles_of(rule.pattern)) {
    if (single->place != bound.front().place || single->slot != bound.front().slot) continue;
    if (auto key = key_of(rule, *bound.front().event, single->event->by)) return *key;
  }
  return {};
}

/// "DO runs for at most n matches in any span of d of match time": "fewer than n that ran have a time in (t − d, t]";
/// time-outs count apart.
void limit(const Rule& rule, std::vector<Result>& results) {
  if (!rule.limit) return;
  for (auto result = results.begin(); result != results.end(); ++result) {
    const auto ran = std::count_if(results.begin(), result, [&](const Result& earlier) {
      return !earlier.suppressed && earlier.kind == result->kind &&
             earlier.known.time > result->known.time - rule.limit->per;
    });
    result->suppressed = static_cast<std::uint64_t>(ran) >= rule.limit->count;
  }
}

/// "Over all rules results come in the order: instant, events before deadlines, completing event's position, rule name,
/// key, then the order above."
bool comes_before(const Result& a, const Result& b) {
  if (a.known != b.known) return a.known < b.known;
  if (a.rule != b.rule) return a.rule < b.rule;
  return KeyLess()(a.key, b.key);  // of one key they stand in order
}

/// Over all events that its level may read, in order.
std::vector<Result> results_of(const Rule& rule, const std::vector<EventPtr>& events, EventTime watermark) {
  std::map<Key, std::vector<KeyEvent>, KeyLess> by_key;
  for (const EventPtr& event : events) {
    // "Events of a SHADOW rule, or of a rule fed by one, are read by SHADOW rules only."
    if (event->shadow && rule.written->status != ast::RuleStatus::kShadow) continue;
    const auto input = input_keys(rule, *event);
    for (const Key& key : input) by_key[key].push_back({event, true});
    for (const Key& key : unless_keys(rule, *event)) {
      if (input.count(key) == 0) by_key[key].push_back({event, false});
    }
  }
  std::vector<Result> out;
  for (const auto& [key, events_of_key] : by_key) {
    std::vector<Result> of_key = after_match(rule, key, all_runs(rule, key, events_of_key, watermark));
    limit(rule, of_key);
    for (Result& result : of_key) {
      result.rule = rule.name;
      result.key = shown_key(rule, result.bound);
      out.push_back(std::move(result));
    }
  }
  std::stable_sort(out.begin(), out.end(), comes_before);
  return out;
}

}  // namespace

std::string text_of(const Line& line) {
  std::string out = line.kind == ResultKind::kMatch ? "match " : "timeout ";
  out += line.rule + " " + object_text(line.key) + " @" + std::to_string(to_us(line.time));
  for (const auto& [name, places] : line.bindings) {
    out += " " + name;
    for (const std::string& place : places) out += (&place == &places.front() ? ":" : ",") + place;
  }
  return out + " " + object_text(line.emit) + (line.suppressed ? " suppressed" : "") + (line.shadow ? " shadow" : "");
}

std::string place_text(const SourcePosition& position) {
  return position.source.name() + "/" + std::to_string(position.partition) + "/" + std::to_string(position.offset);
}
std::string place_text(std::size_t maker) { return "#" + std::to_string(maker); }

std::vector<Result> results_of(const std::vector<Rule>& rules, const std::vector<EventPtr>& handled,
                               EventTime watermark) {
  std::vector<Rule> loaded = rules;
  std::erase_if(loaded, [](const Rule& rule) { return rule.written->status == ast::RuleStatus::kDisabled; });
  const std::vector<std::uint32_t> levels = levels_of(loaded);
  for (std::size_t i = 0; i < loaded.size(); ++i) loaded[i].level = levels[i];

  std::vector<Result> results;
  std::vector<EventPtr> events = handled;
  const std::uint32_t top = levels.empty() ? 0 : std::ranges::max(levels);
  for (std::uint32_t level = 1; level <= top; ++level) {
    std::vector<EventPtr> made;
    for (const Rule& rule : loaded) {
      if (rule.level != level) continue;
      std::vector<Result> of_rule = results_of(rule, events, watermark);
      for (EventPtr& event : made_by(rule, of_rule)) made.push_back(std::move(event));
      for (Result& result : of_rule) results.push_back(std::move(result));
    }
    for (EventPtr& event : made) events.push_back(std::move(event));
    std::sort(events.begin(), events.end(), [](const auto& a, const auto& b) { return a->place < b->place; });
  }

  std::stable_sort(results.begin(), results.end(), comes_before);
  std::map<EventPtr, std::size_t> makers;
  for (std::size_t i = 0; i < results.size(); ++i) {
    if (results[i].makes) makers[results[i].makes] = i;
  }
  Arena arena;
  for (Result& result : results) {
    const auto rule = std::ranges::find(loaded, result.rule, &Rule::name);
    result.text = text_of(line_of(*rule, result, makers, arena));
  }
  return results;
}

}  // namespace cepd::reference
