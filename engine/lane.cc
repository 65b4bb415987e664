#include "engine/lane.h"

#include <algorithm>

#include "engine/footprint.h"
#include "engine/snapshot.h"

namespace cepd::engine {

namespace plan = dsl::plan;

void merge(std::vector<LaneMatch>& matches) {
  std::stable_sort(matches.begin(), matches.end(), [](const LaneMatch& a, const LaneMatch& b) {
    if (a.step != b.step) return a.step < b.step;
    if (a.due != b.due) return a.due < b.due;
    if (a.rule != b.rule) return a.rule < b.rule;
    for (std::size_t i = 0; i < a.match->key.size(); ++i) {
      if (const int order = key_order(a.match->key[i].second, b.match->key[i].second); order != 0) return order < 0;
    }
    return false;
  });
}

LaneRules::LaneRules(std::shared_ptr<const nfa::Network> rules, std::size_t lanes)
    : network(std::move(rules)), dispatch(*network) {
  for (const plan::Rule& rule : network->rules().rules) {
    levels.push_back(rule.level);
    lane_of_unkeyed.push_back(static_cast<std::uint32_t>(equality_hash(Value::string(rule.name)) % lanes));
  }
}

Lane::Lane(std::shared_ptr<const LaneRules> rules, const EngineOptions& options, std::size_t index,
           Workspace::Report direct)
    : rules_(std::move(rules)),
      options_(options),
      index_(index),
      tables_(rules_->dispatch.tables()),
      due_(rules_->levels),
      missing_by_way_(rules_->dispatch.ways()) {
  runtimes_.reserve(rules_->levels.size());
  for (std::uint32_t i = 0; i < rules_->levels.size(); ++i) runtimes_.emplace_back(*rules_->network, i, options_);
  work_.report = direct ? std::move(direct) : [this](const MatchView& view) {
    matches_.push_back({step_, due_now_, view.rule(), view.take()});
  };
  fresh_.entry = &fresh_entry_;
}

// ---- which rules an event meets ----

/// False where a field is missing. Sets the key's place in its table.
bool Lane::read_key(const List<plan::FieldRef>& fields, const Event& event, EventKey& key) const {
  key.values.clear();
  for (const plan::FieldRef& ref : fields) {
    key.values.push_back(nfa::read_property(ref, event, rules_->network->fields()));
    if (key.values.back().is_null() || key.values.back().kind() == Kind::kJson) return false;
  }
  key.hash = hash_key(key.values);
  return true;
}

bool Lane::is_mine(std::uint32_t rule, const EventKey& key) const {
  if (options_.lanes == 1) return true;
  return (key.values.empty() ? rules_->lane_of_unkeyed[rule] : key.hash % options_.lanes) == index_;
}

void Lane::collect(const EventPtr& event, const nfa::TypeDispatch& dispatch) {
  for (const nfa::KeyWay& way : dispatch.ways) collect(event, way);
  for (const nfa::RuleInput* input : dispatch.several) collect_several(event, *input);
}

void Lane::collect(const EventPtr& event, const nfa::KeyWay& way) {
  if (keys_.size() == key_count_) keys_.emplace_back();
  EventKey& key = keys_[key_count_];
  if (!read_key(way.key, *event, key)) {
    if (index_ == 0) count_missing(*event, way);
    if (traced_ && way.find(*traced_) != nullptr) runtimes_[*traced_].trace()->without_key(event);
    return;
  }
  if (!key.values.empty() && !is_mine(0, key)) return;
  key.table = way.table;
  const KeyEntry* known = tables_[way.table].find({key.hash, key.values});
  const std::size_t number = key_count_++;
  starts_.clear();
  way.starts.find(*event, starts_);
  // Rules with something under way, and rules that may start, both in their order. A rule that is watched is told of
  // every event.
  const std::span<const KeyEntry::OfRule> states =
      known == nullptr ? std::span<const KeyEntry::OfRule>() : known->states();
  auto state = states.begin();
  auto start = starts_.begin();
  while (state != states.end() || start != starts_.end()) {
    const std::uint32_t starting = start == starts_.end() ? UINT32_MAX : way.rules[*start].rule;
    if (state == states.end() || starting < state->rule) {
      add_item(event, way.rules[*start++], nullptr, number, true);
      continue;
    }
    const bool starts = starting == state->rule;
    const nfa::RuleEntry* entry = starts ? &way.rules[*start++] : way.find(state->rule);
    if (entry != nullptr && (starts || entry->moves || traced_)) add_item(event, *entry, state->state, number, starts);
    ++state;
  }
  if (!traced_) return;
  const nfa::RuleEntry* entry = way.find(*traced_);
  if (entry == nullptr || (known != nullptr && known->find(*traced_) != nullptr)) return;
  const auto starting = [&](std::uint32_t place) { return way.rules[place].rule == *traced_; };
  if (std::none_of(starts_.begin(), starts_.end(), starting)) add_item(event, *entry, nullptr, number, true);
}

void Lane::set_trace(std::uint32_t rule, Trace* trace) {
  runtimes_[rule].set_trace(trace);
  traced_ = trace == nullptr ? std::nullopt : std::optional(rule);
}

void Lane::count_missing(const Event& event, const nfa::KeyWay& way) {
  if (!event.shadow) {
    ++missing_by_way_[way.number];
    return;
  }
  for (const nfa::RuleEntry& entry : way.rules) {
    RuleRuntime& runtime = runtimes_[entry.rule];
    if (runtime.rule().status == plan::Status::kShadow) ++runtime.counts().missing_key;
  }
}

void Lane::add_item(const EventPtr& event, const nfa::RuleEntry& entry, KeyState* state, std::size_t key, bool starts) {
  if (event->shadow && runtimes_[entry.rule].rule().status != plan::Status::kShadow) return;
  if (!is_mine(entry.rule, keys_[key])) return;
  const bool input = entry.input && (!entry.has_from || passes_from(entry.rule, *entry.from, *event));
  if (entry.input && !input) {
    if (Trace* trace = runtimes_[entry.rule].trace()) trace->filtered(keys_[key].values, event);
  }
  if (!input && entry.unless == 0) return;
  // Elements take nothing from an event that is no input.
  items_.push_back(
      {entry.rule, state, key, {&event, input ? entry.elements : 0, entry.unless, input, starts && input}});
}

bool Lane::passes_from(std::uint32_t rule, const nfa::RuleInput& input, const Event& event) {
  const nfa::Scope scope{&event, {}, {}, {}, &rules_->network->fields()};
  return std::any_of(input.from.begin(), input.from.end(), [&](const plan::EventTest* from) {
    return nfa::holds(from->conditions, scope, work_.scratch, runtimes_[rule].errors());
  });
}

/// A rule that reads keys from the event in several ways meets it once for each key.
void Lane::collect_several(const EventPtr& event, const nfa::RuleInput& input) {
  if (event->shadow && runtimes_[input.rule].rule().status != plan::Status::kShadow) return;
  const std::size_t first = items_.size();
  bool any_key = false;
  for (const nfa::Entry& way : input.entries) {
    if (keys_.size() == key_count_) keys_.emplace_back();
    EventKey& key = keys_[key_count_];
    if (!read_key(way.key, *event, key)) continue;
    any_key = true;
    key.table = rules_->dispatch.table(input.rule);
    const KeyEntry* known = tables_[key.table].find({key.hash, key.values});
    const std::size_t number = key_count_++;
    const nfa::RuleEntry entry{input.rule, way.input, input.has_from, true, way.elements, way.unless, &input};
    const std::size_t before = items_.size();
    const bool starts = (way.elements & rules_->network->automaton(input.rule).starting) != 0;
    add_item(event, entry, known == nullptr ? nullptr : known->find(input.rule), number, starts);
    if (items_.size() == before) continue;
    const auto same =
        std::find_if(items_.begin() + static_cast<std::ptrdiff_t>(first), std::prev(items_.end()),
                     [&](const Item& item) { return compare_keys(keys_[item.key].values, keys_[number].values) == 0; });
    if (same == std::prev(items_.end())) continue;
    const Offer& again = items_.back().offer;
    same->offer.elements |= again.elements;
    same->offer.unless |= again.unless;
    same->offer.input = same->offer.input || again.input;
    same->offer.starts = same->offer.starts || again.starts;
    items_.pop_back();
  }
  if (any_key) return;
  if (index_ == 0) ++runtimes_[input.rule].counts().missing_key;
  if (Trace* trace = runtimes_[input.rule].trace()) trace->without_key(event);
}

// ---- the work ----

void Lane::give(const EventPtr& event, const nfa::TypeDispatch& dispatch, std::uint64_t step) {
  step_ = step;
  due_now_ = kMinTime;
  key_count_ = 0;
  items_.clear();
  collect(event, dispatch);
  if (dispatch.any != nullptr) collect(event, *dispatch.any);
  if (items_.size() > 1 && (dispatch.ways.size() != 1 || !dispatch.several.empty() || dispatch.any != nullptr)) {
    std::sort(items_.begin(), items_.end(), [&](const Item& a, const Item& b) {
      return a.rule != b.rule ? a.rule < b.rule : compare_keys(keys_[a.key].values, keys_[b.key].values) < 0;
    });
  }
  for (Item& item : items_) handle(item);
  items_.clear();
}

/// Adds what the rule takes for the item to its counts, from a sample of them.
class Lane::Cost {
 public:
  Cost(Lane& lane, RuleCounts& counts) : lane_(lane), counts_(counts) {
    ++counts_.tested;
    if (lane_.options_.clock_ns != nullptr && ++lane_.sample_ % kEvery == 0) begin_ = lane_.options_.clock_ns();
  }
  ~Cost() {
    if (begin_) counts_.time_ns += static_cast<std::uint64_t>(lane_.options_.clock_ns() - *begin_) * kEvery;
  }
  Cost(const Cost&) = delete;
  Cost& operator=(const Cost&) = delete;

 private:
  static constexpr std::uint64_t kEvery = 64;
  Lane& lane_;
  RuleCounts& counts_;
  std::optional<std::int64_t> begin_;
};

void Lane::handle(Item& item) {
  RuleRuntime& runtime = runtimes_[item.rule];
  const Cost cost(*this, runtime.counts());
  if (item.state != nullptr) {
    runtime.handle(*item.state, item.offer, work_);
    after(*item.state);
    return;
  }
  if (!item.offer.starts && runtime.trace() == nullptr) return;
  EventKey& key = keys_[item.key];
  fresh_entry_.look_at({key.hash, key.values});
  fresh_.rule = item.rule;
  runtime.handle(fresh_, item.offer, work_);
  if (fresh_.empty()) {
    fresh_.runs_due = kMaxTime;
    fresh_.last_input = 0;
    return;
  }
  KeyEntry& entry = tables_[key.table].find_or_add({key.hash, key.values});
  KeyState& state = entry.add(std::make_unique<KeyState>(std::move(fresh_)));
  fresh_ = {};
  fresh_.entry = &fresh_entry_;
  after(state);
}

/// Sees to deadlines and to what is stored after a rule has worked on a key, which may be gone then.
void Lane::after(KeyState& state) {
  if (options_.track_changes) mark_changed(state);
  if (state.empty()) {
    remove(state);
  } else {
    due_.set_earlier(state, runtimes_[state.rule].due(state));
  }
}

void Lane::fire(EventTime now, std::uint32_t level, std::uint64_t step) {
  step_ = step;
  due_now_ = now;
  for (KeyState* state : due_.take(now, level)) {
    runtimes_[state->rule].fire(*state, now, work_);
    after(*state);
  }
}

void Lane::fire_before(EventTime limit, std::uint64_t step) {
  while (const auto earliest = due_.earliest()) {
    if (*earliest >= limit && limit != kMaxTime) return;
    fire(*earliest, 1, step);
  }
}

// ---- state ----

void Lane::mark_changed(KeyState& state) {
  if (state.changed_slot != UINT32_MAX) return;
  state.changed_slot = static_cast<std::uint32_t>(changed_.size());
  changed_.push_back(&state);
}

void Lane::remove(KeyState& state) {
  due_.set(state, kMaxTime);
  KeyEntry& entry = *state.entry;
  if (state.changed_slot != UINT32_MAX) changed_[state.changed_slot] = nullptr;
  if (state.stored) gone_.push_back(partial_key(runtimes_[state.rule].rule(), entry.canonical()));
  const std::uint32_t table = rules_->dispatch.table(state.rule);
  entry.erase(state);
  if (entry.empty()) tables_[table].erase(entry);
}

void Lane::put(const KeyProbe& probe, std::unique_ptr<KeyState> owned, EventTime watermark) {
  KeyState& state = tables_[rules_->dispatch.table(owned->rule)].find_or_add(probe).add(std::move(owned));
  state.due_slot = UINT32_MAX;
  const bool changed = std::exchange(state.changed_slot, UINT32_MAX) != UINT32_MAX;
  if (runtimes_[state.rule].take_over(state, watermark) || changed) {
    if (options_.track_changes) mark_changed(state);
  }
  if (state.empty()) {
    remove(state);
  } else {
    due_.set(state, runtimes_[state.rule].due(state));
  }
}

std::vector<std::unique_ptr<KeyEntry>> Lane::take_keys() {
  std::vector<std::unique_ptr<KeyEntry>> out;
  for (KeyTable& table : tables_) {
    for (auto& entry : table.take()) out.push_back(std::move(entry));
  }
  changed_.clear();
  return out;
}

void Lane::clear_changes() {
  for (KeyState* state : changed_) {
    if (state == nullptr) continue;
    state->changed_slot = UINT32_MAX;
    state->stored = true;
  }
  changed_.clear();
  gone_.clear();
}

void Lane::add_counted(std::vector<RuleCounts>& counts) const {
  for (std::size_t i = 0; i < runtimes_.size(); ++i) {
    counts[i] += runtimes_[i].counts();
    counts[i].expression_errors += runtimes_[i].evaluator().errors().count;
  }
  rules_->dispatch.each_way([&](const nfa::KeyWay& way) {
    if (missing_by_way_[way.number] == 0) return;
    for (const nfa::RuleEntry& entry : way.rules) counts[entry.rule].missing_key += missing_by_way_[way.number];
  });
}

void Lane::add_partial_matches(std::vector<RuleCounts>& counts, EventTime watermark) const {
  MatchWalk walk;
  for (const KeyTable& table : tables_) {
    table.each([&](const KeyEntry& entry) {
      for (const auto& [rule, state] : entry.states()) {
        counts[rule].partial_matches += runtimes_[rule].partial_matches(*state, watermark, walk);
        counts[rule].bytes += bytes_of(*state);
      }
    });
  }
}

}  // namespace cepd::engine
