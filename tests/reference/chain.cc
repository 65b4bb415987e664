#include "tests/reference/chain.h"

#include <algorithm>
#include <functional>
#include <set>

#include "tests/reference/input.h"

namespace cepd::reference {
namespace {

/// The EMIT of matches or of ON TIMEOUT.
const ast::Emit* emit_of(const Rule& rule, ResultKind kind) {
  const ast::Rule& written = *rule.written;
  if (kind == ResultKind::kTimeout) {
    return written.on_timeout && written.on_timeout->emit ? &*written.on_timeout->emit : nullptr;
  }
  return written.emit ? &*written.emit : nullptr;
}

bool makes_one_of(const Rule& rule, const std::set<std::string>& types) {
  return std::ranges::any_of(std::array{ResultKind::kMatch, ResultKind::kTimeout}, [&](ResultKind kind) {
    const ast::Emit* emit = emit_of(rule, kind);
    return emit != nullptr && emit->into && types.count(emit->into->text) != 0;
  });
}

std::string last_name(const FieldPath& path) { return std::get<std::string>(path.steps.back()); }

}  // namespace

std::vector<std::uint32_t> levels_of(const std::vector<Rule>& rules) {
  const std::function<std::uint32_t(const Rule&)> level = [&](const Rule& reader) {
    std::uint32_t highest = 0;
    for (const Rule& maker : rules) {
      if (makes_one_of(maker, types_named(reader))) highest = std::max(highest, level(maker));
    }
    return highest + 1;
  };
  std::vector<std::uint32_t> out;
  for (const Rule& rule : rules) out.push_back(level(rule));
  return out;
}

std::vector<std::pair<std::string, Value>> items_of(const Rule& rule, const Result& result, Arena& arena) {
  std::vector<std::pair<std::string, Value>> out;
  const ast::Emit* emit = emit_of(rule, result.kind);
  if (emit == nullptr) {
    for (std::size_t i = 0; i < rule.key.size(); ++i) out.emplace_back(last_name(rule.key[i]), result.key[i]);
    return out;
  }
  const Scope scope{rule, result.bound, result.key, nullptr, false, {}};
  for (const ast::Item& item : emit->items) {
    // "a single field may leave AS out and keeps its last name"
    out.emplace_back(item.as ? item.as->text : last_name(std::get<ast::PathRef>(item.value->node).path),
                     evaluate(*item.value, scope, arena));
  }
  return out;
}

/// "makes an event of that type out of each match, at the match's time and with the key fields"; "a suppressed match …
/// makes its INTO event".
std::vector<EventPtr> made_by(const Rule& rule, std::vector<Result>& results) {
  std::vector<EventPtr> out;
  for (std::size_t number = 0; number < results.size(); ++number) {
    Result& result = results[number];
    const ast::Emit* emit = emit_of(rule, result.kind);
    if (emit == nullptr || !emit->into) continue;
    auto event = std::make_shared<Event>();
    event->type = emit->into->text;
    event->time = result.known.time;
    event->place = result.known.derived(rule.level, rule.name, number);
    event->shadow = rule.written->status == ast::RuleStatus::kShadow;
    for (std::size_t i = 0; i < rule.key.size(); ++i) {
      if (rule.key[i].steps.size() != 1) throw OutsideSubset{"a nested field"};
      event->fields[last_name(rule.key[i])] = result.key[i].copied_to(event->arena);
    }
    for (const auto& [name, value] : items_of(rule, result, event->arena)) {
      event->fields[name] = value.copied_to(event->arena);
    }
    result.makes = event;
    out.push_back(std::move(event));
  }
  return out;
}

}  // namespace cepd::reference
