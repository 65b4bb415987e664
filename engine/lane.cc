#include "engine/lane.h"

#include <algorithm>

#include "base/check.h"
#include "engine/footprint.h"

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

LaneRules::LaneRules(std::shared_ptr<const nfa::Network> rules, std::size_t lanes, const std::vector<bool>& alone)
    : network(std::move(rules)), dispatch(*network, alone) {
  const auto& all = network->rules().rules;
  for (std::uint32_t i = 0; i < all.size(); ++i) {
    levels.push_back(all[i].level);
    // What rules share is in one lane.
    const std::uint32_t prefix = prefixes().of_rule(i);
    const std::uint64_t hash = prefix == nfa::Prefix::kNone ? equality_hash(Value::string(all[i].name))
                                                            : prefixes()[prefixes()[prefix].root].identity.low;
    lane_of_unkeyed.push_back(static_cast<std::uint32_t>(hash % lanes));
  }
}

const MatchId& LaneRules::id_of(std::uint32_t owner) const {
  return (owner & KeyPart::kPrefix) != 0 ? prefixes()[owner & ~KeyPart::kPrefix].identity
                                         : network->rules().rules[owner].fingerprint;
}

Lane::Lane(std::shared_ptr<const LaneRules> rules, const EngineOptions& options, std::size_t index,
           Workspace::Report direct)
    : rules_(std::move(rules)),
      options_(options),
      index_(index),
      tables_(rules_->dispatch.tables()),
      work_(rules_->network->element_tests().shared()),
      prefix_counts_(rules_->prefixes().all().size()),
      missing_by_way_(rules_->dispatch.ways()) {
  runtimes_.reserve(rules_->levels.size());
  for (std::uint32_t i = 0; i < rules_->levels.size(); ++i) {
    runtimes_.emplace_back(*rules_->network, rules_->prefixes(), i, options_);
  }
  work_.report = direct ? std::move(direct) : [this](const MatchView& view) {
    matches_.push_back({step_, due_now_, view.rule(), view.take()});
  };
  fresh_.entry = &fresh_entry_;
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
  if (!prefix_items_.empty()) {
    // A longer prefix reads a shorter one as it was before the event.
    if (prefix_items_.size() > 1) {
      std::sort(prefix_items_.begin(), prefix_items_.end(),
                [](const PrefixItem& a, const PrefixItem& b) { return a.prefix > b.prefix; });
    }
    for (PrefixItem& item : prefix_items_) handle(item, event);
    keep_joined_under_cap(event->time);
    prefix_items_.clear();
  }
  items_.clear();
  forget_emptied();
}

void Lane::handle(Item& item) {
  RuleRuntime& runtime = runtimes_[item.rule];
  const Cost cost(*this, runtime.counts());
  if (!prefix_items_.empty()) item.offer.joins_prefix = may_join_prefix(item);
  if (item.state != nullptr) {
    before_change_with_prefixes(*item.state);
    runtime.handle(*item.state, item.offer, work_);
    after(*item.state);
    return;
  }
  if (!item.offer.starts && item.offer.from == nullptr && runtime.trace() == nullptr) return;
  EventKey& key = keys_[item.key];
  if (key.known == nullptr) fresh_entry_.look_at(key.probe());
  KeyState& state = fresh(item.rule, key.known == nullptr ? fresh_entry_ : *key.known);
  before_change_with_prefixes(state);
  runtime.handle(state, item.offer, work_);
  if (!state.empty()) {
    keep_fresh(entry_of(key));
  } else if (item.offer.from != nullptr) {
    see_to_prefixes_of(state);
  }
}

KeyEntry& Lane::find_or_add(std::uint32_t table, const KeyProbe& probe) {
  if (!stored_) return tables_[table].find_or_add(probe);
  if (KeyEntry* known = tables_[table].find(probe)) return *known;
  KeyEntry& entry = tables_[table].find_or_add(probe);
  clock_.add(entry);
  return entry;
}

void Lane::erase(std::uint32_t table, KeyEntry& entry) {
  if (stored_) clock_.erase(entry);
  tables_[table].erase(entry);
}

KeyEntry& Lane::entry_of(EventKey& key) {
  if (key.known == nullptr) key.known = &find_or_add(key.table, key.probe());
  return *key.known;
}

/// The state of a rule that has none for the key: to be looked at, and kept only if something is in it then.
KeyState& Lane::fresh(std::uint32_t rule, KeyEntry& entry) {
  fresh_.owner = rule;
  fresh_.level = rules_->levels[rule];
  fresh_.entry = &entry;
  fresh_.runs_due = kMaxTime;
  fresh_.last_input = 0;
  fresh_.marked_until = kMinTime;
  return fresh_;
}

void Lane::keep_fresh(KeyEntry& entry) {
  auto owned = std::make_unique<KeyState>(std::move(fresh_));
  fresh_ = {};
  KeyState& state = *owned;
  entry.add(std::move(owned));
  after(state);
}

/// Sees to deadlines and to what is stored after a rule has worked on a key, where nothing may be left of it.
void Lane::after(KeyState& state) {
  see_to_prefixes_of(state);
  if (options_.track_changes) mark_changed(state);
  settle(state);
}

void Lane::settle(KeyState& state) {
  if (state.empty()) {
    remove(state);
    return;
  }
  state.entry->set_waits(state.owner, !state.runs.empty());
  due_.set_earlier(state, runtimes_[state.owner].due(state));
}

void Lane::fire(EventTime now, std::uint32_t level, std::uint64_t step) {
  step_ = step;
  due_now_ = now;
  load_due(now);
  for (KeyPart* part : due_.take(now, level)) {
    if (part->of_prefix()) {
      expire(static_cast<PrefixState&>(*part), now);
      continue;
    }
    auto& state = static_cast<KeyState&>(*part);
    before_change_with_prefixes(state);
    runtimes_[state.owner].fire(state, now, work_);
    after(state);
  }
  forget_emptied();
}

void Lane::fire_before(EventTime limit, std::uint64_t step) {
  while (earliest() < limit) fire(earliest(), 1, step);
}

// ---- state ----

void Lane::mark_changed(KeyPart& part) {
  if (part.changed_in == changed_list_) return;
  CEPD_CHECK(part.changed_in != saving_list_ || saving_.empty());  // it was written before it changed
  part.changed_in = changed_list_;
  part.changed_slot = static_cast<std::uint32_t>(changed_.size());
  changed_.push_back(&part);
}

void Lane::remove(KeyPart& part) {
  due_.set(part, kMaxTime);
  KeyEntry& entry = *part.entry;
  forget(part);
  const std::uint32_t table = rules_->dispatch.table(rules_->rule_of(part.owner));
  entry.erase(part);
  // The event at hand may still come back to it.
  if (entry.empty() && !std::exchange(entry.emptied, true)) emptied_.emplace_back(table, &entry);
}

void Lane::forget_emptied() {
  std::sort(read_.begin(), read_.end());
  read_.erase(std::unique(read_.begin(), read_.end()), read_.end());
  for (PrefixState* state : read_) {
    if (state->set.empty()) remove(*state);
  }
  read_.clear();
  for (const auto& [table, entry] : emptied_) {
    entry->emptied = false;
    if (entry->empty()) erase(table, *entry);
  }
  emptied_.clear();
}

void Lane::put(const KeyProbe& probe, std::unique_ptr<KeyPart> owned, EventTime watermark) {
  KeyPart& part = *owned;
  find_or_add(rules_->dispatch.table(rules_->rule_of(part.owner)), probe).add(std::move(owned));
  part.due_slot = UINT32_MAX;
  bool changed = std::exchange(part.changed_in, 0) != 0 || !part.stored;
  if (part.of_prefix()) {
    auto& waiting = static_cast<PrefixState&>(part);
    const nfa::Prefix& prefix = rules_->prefixes()[part.prefix()];
    waiting.level = prefix.level;
    waiting.most_own = most_own(*part.entry, prefix.root);
    if (changed && options_.track_changes) mark_changed(part);
    settle(waiting);
    return;
  }
  auto& state = static_cast<KeyState&>(part);
  state.level = rules_->levels[state.owner];
  changed = runtimes_[state.owner].take_over(state, watermark) || changed;
  if (changed && options_.track_changes) mark_changed(state);
  runtimes_[state.owner].note_own(state);
  settle(state);
  forget_emptied();
}

void Lane::keep_all_under_cap(EventTime watermark) {
  for (KeyTable& table : tables_) {
    table.each([&](KeyEntry& entry) {
      // What a rule holds may go with it.
      const std::vector<KeyEntry::OfOwner> parts(entry.parts().begin(), entry.parts().end());
      for (const KeyEntry::OfOwner& part : parts) {
        if (part.owner >= KeyPart::kPrefix) {
          keep_under_cap(static_cast<PrefixState&>(*part.part), watermark);
        } else if (part.waits) {
          auto& state = static_cast<KeyState&>(*part.part);
          runtimes_[part.owner].keep_under_cap(state, watermark, work_);
          after(state);
        }
      }
    });
  }
  forget_emptied();
}

std::vector<std::unique_ptr<KeyEntry>> Lane::take_keys() {
  std::vector<std::unique_ptr<KeyEntry>> out;
  for (KeyTable& table : tables_) {
    for (auto& entry : table.take()) out.push_back(std::move(entry));
  }
  changed_.clear();
  return out;
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
  add_prefix_counts(counts);
}

void Lane::add_partial_matches(std::vector<RuleCounts>& counts, EventTime watermark) const {
  MatchWalk walk;
  for (const KeyTable& table : tables_) {
    table.each([&](const KeyEntry& entry) {
      for (const auto& [owner, waits, part] : entry.parts()) {
        if (part->of_prefix()) {
          add_waiting(static_cast<const PrefixState&>(*part), counts, watermark, walk);
          continue;
        }
        const auto& state = static_cast<const KeyState&>(*part);
        counts[owner].partial_matches += runtimes_[owner].partial_matches(state, watermark, walk);
        counts[owner].bytes += bytes_of(state);
      }
    });
  }
}

}  // namespace cepd::engine
