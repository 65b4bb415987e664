#include "tests/reference/reference.h"

#include <algorithm>

#include "tests/reference/after_match.h"

namespace cepd::reference {
namespace {

const ast::Emit* emit_of(const Rule& rule, ResultKind kind) {
  const ast::Rule& written = *rule.written;
  if (kind == ResultKind::kTimeout) return written.on_timeout->emit ? &*written.on_timeout->emit : nullptr;
  return written.emit ? &*written.emit : nullptr;
}

std::string key_text(const Rule& rule, const Key& key) {
  std::string out = "{";
  for (std::size_t i = 0; i < key.size(); ++i) {
    if (i > 0) out += ',';
    append_json_string(out, std::get<std::string>(rule.key[i].steps.back()));
    out += ':';
    append_json(out, key[i]);
  }
  return out + "}";
}

/// "a single field may leave AS out and keeps its last name. Without EMIT the key fields are emitted."
std::string emit_text(const Rule& rule, const Result& result) {
  const ast::Emit* emit = emit_of(rule, result.kind);
  if (emit == nullptr) return key_text(rule, result.key);
  std::string out = "{";
  Arena arena;
  for (const ast::Item& item : emit->items) {
    if (out.size() > 1) out += ',';
    append_json_string(out, item.as
                                ? item.as->text
                                : std::get<std::string>(std::get<ast::PathRef>(item.value->node).path.steps.back()));
    out += ':';
    append_json(out, evaluate(*item.value, Scope{rule, result.bound, result.key, nullptr, false, {}}, arena));
  }
  return out + "}";
}

std::string text_of(const Rule& rule, const Result& result) {
  std::vector<std::pair<std::string, std::vector<SourcePosition>>> bindings;
  for (std::size_t slot = 0; slot < rule.slots.size(); ++slot) {
    std::vector<SourcePosition> positions;
    for (const Bound& bound : result.bound) {
      if (bound.slot == slot) positions.push_back(bound.event->position);
    }
    if (!positions.empty()) bindings.emplace_back(rule.slots[slot].name, std::move(positions));
  }
  return line_of(result.kind, rule.name, key_text(rule, result.key), result.known.time, bindings,
                 emit_text(rule, result), result.suppressed);
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

std::vector<Result> results_of(const Rule& rule, const std::vector<EventPtr>& handled, EventTime watermark) {
  std::map<Key, std::vector<KeyEvent>, KeyLess> by_key;
  for (const EventPtr& event : handled) {
    const auto input = input_keys(rule, *event);
    for (const Key& key : input) by_key[key].push_back({event, true});
    for (const Key& key : unless_keys(rule, *event)) {
      if (input.count(key) == 0) by_key[key].push_back({event, false});
    }
  }
  std::vector<Result> out;
  for (const auto& [key, events] : by_key) {
    std::vector<Result> of_key = after_match(rule, key, all_runs(rule, key, events, watermark));
    limit(rule, of_key);
    for (Result& result : of_key) {
      result.rule = rule.name;
      result.key = shown_key(rule, result.bound);
      result.text = text_of(rule, result);
      out.push_back(std::move(result));
    }
  }
  return out;
}

}  // namespace

std::string line_of(ResultKind kind, const std::string& rule, const std::string& key, EventTime time,
                    const std::vector<std::pair<std::string, std::vector<SourcePosition>>>& bindings,
                    const std::string& emit, bool suppressed) {
  std::string out = kind == ResultKind::kMatch ? "match " : "timeout ";
  out += rule + " " + key + " @" + std::to_string(to_us(time));
  for (const auto& [name, positions] : bindings) {
    out += " " + name + ":";
    for (const SourcePosition& position : positions) {
      if (&position != &positions.front()) out += ',';
      out += position.source.name() + "/" + std::to_string(position.partition) + "/" + std::to_string(position.offset);
    }
  }
  return out + " " + emit + (suppressed ? " suppressed" : "");
}

/// "Over all rules results come in the order: instant, events before deadlines, completing event's position, rule name,
/// key, then the order above."
std::vector<Result> results_of(const std::vector<Rule>& rules, const std::vector<EventPtr>& handled,
                               EventTime watermark) {
  std::vector<Result> out;
  for (const Rule& rule : rules) {
    if (rule.written->status == ast::RuleStatus::kDisabled) continue;
    for (Result& result : results_of(rule, handled, watermark)) out.push_back(std::move(result));
  }
  std::stable_sort(out.begin(), out.end(), [](const Result& a, const Result& b) {
    if (a.known != b.known) return a.known < b.known;
    if (a.rule != b.rule) return a.rule < b.rule;
    return KeyLess()(a.key, b.key);  // of one key they stand in order
  });
  return out;
}

}  // namespace cepd::reference
