/// What one lane does for all rules of a prefix together (nfa/prefixes.h).

#include <algorithm>

#include "engine/footprint.h"
#include "engine/lane.h"

namespace cepd::engine {

namespace plan = dsl::plan;

/// Binds the event to the prefix's last element. Requires that the rules have seen it: they read the prefix as it was.
void Lane::handle(PrefixItem& item, const EventPtr& event) {
  const Cost cost(*this, prefix_counts_[item.prefix].work);
  if (!item.accepted && !begins_or_goes_on(item, event)) return;
  const nfa::Prefix& prefix = rules_->prefixes()[item.prefix];
  KeyEntry& entry = entry_of(keys_[item.key]);
  PrefixState* state = entry.find_prefix(item.prefix);
  const std::uint32_t owner = item.prefix | KeyPart::kPrefix;
  MatchSet taken;
  if (item.from != nullptr) {
    PrefixState& from = *item.from;
    before_change(from);
    if (from.part_above(from.taken_by(owner)).head == nullptr) return;
    taken = from.take(owner, !prefix.any, rules_->prefixes()[prefix.parent].readers() == 1);
    after(from);
  }
  if (state == nullptr) {
    auto owned = std::make_unique<PrefixState>();
    state = owned.get();
    state->owner = owner;
    state->level = prefix.level;
    state->most_own = most_own(entry, prefix.root);
    entry.add(std::move(owned));
  }
  before_change(*state);
  cut(*state, saturating_add(event->time, -prefix.within));
  const std::uint64_t before = state->set.count();
  state->set.add(event, prefix.element, item.from == nullptr ? nullptr : &taken);
  state->added = std::min(state->added + state->set.count() - before, kManyMatches);
  after(*state);
  item.joined = state;
}

/// What the event has come to is counted as a whole: by the rules that have moved over it and by the prefixes.
void Lane::keep_joined_under_cap(EventTime now) {
  for (const Item& item : items_) {
    const KeyEntry* entry = item.offer.joins_prefix ? keys_[item.key].known : nullptr;
    KeyState* state = entry == nullptr ? nullptr : entry->find_rule(item.rule);
    if (state == nullptr) continue;
    before_change_with_prefixes(*state);
    runtimes_[item.rule].keep_under_cap(*state, now, work_);
    after(*state);
  }
  for (const PrefixItem& item : prefix_items_) {
    if (item.joined != nullptr) keep_under_cap(*item.joined, now);
  }
}

/// At least as many partial matches as any rule of the root holds by itself.
std::uint64_t Lane::most_own(const KeyEntry& entry, std::uint32_t root) const {
  const nfa::Prefixes& prefixes = rules_->prefixes();
  std::uint64_t most = 0;
  for (const KeyEntry::OfOwner& part : entry.parts()) {
    if (part.owner >= KeyPart::kPrefix) break;
    const std::uint32_t longest = prefixes.of_rule(part.owner);
    if (!part.waits || longest == nfa::Prefix::kNone || prefixes[longest].root != root) continue;
    most = std::max(most, RuleRuntime::own_at_most(static_cast<const KeyState&>(*part.part)));
  }
  return most;
}

/// What began before is too old for all rules.
void Lane::cut(PrefixState& state, EventTime oldest) {
  state.set.cut(oldest);
  state.forget_readers();
}

bool Lane::begins_or_goes_on(const PrefixItem& item, const EventPtr& event) {
  const nfa::Prefix& prefix = rules_->prefixes()[item.prefix];
  const plan::Rule& rule = rules_->network->rules().rules[prefix.rule];
  const auto& conditions = rule.elements[static_cast<std::size_t>(prefix.element)].test.conditions;
  if (conditions.empty()) return true;
  const nfa::Scope scope{event.get(), {}, keys_[item.key].values, {}, &rules_->network->fields()};
  const bool holds = nfa::holds(conditions, scope, work_.scratch, prefix_counts_[item.prefix].errors);
  work_.scratch.release();
  return holds;
}

/// Each rule has a cap of its own on what it has in the prefix and beside it. Mostly none is near.
void Lane::keep_under_cap(PrefixState& state, EventTime now) {
  const nfa::Prefixes& prefixes = rules_->prefixes();
  const nfa::Prefix& prefix = prefixes[state.prefix()];
  const std::uint32_t root = prefix.root;
  KeyEntry& entry = *state.entry;
  std::uint64_t most = std::min(state.set.count() + state.most_own, kManyMatches);
  // By itself it need not look at what else the key has, which may be much.
  if (prefix.parent != nfa::Prefix::kNone || !prefix.prefixes.empty()) {
    most = 0;
    for (const KeyEntry::OfOwner& part : entry.prefixes()) {
      if (prefixes[part.owner & ~KeyPart::kPrefix].root != root) continue;
      const auto& each = static_cast<const PrefixState&>(*part.part);
      most = std::min(most + each.set.count() + each.most_own, kManyMatches);
    }
  }
  if (most <= options_.max_partial_matches) return;
  std::uint64_t oldest = UINT64_MAX;
  prefixes.each_rule(root, [&](std::uint32_t rule) {
    RuleRuntime& runtime = runtimes_[rule];
    KeyState* known = entry.find_rule(rule);
    KeyState& of_rule = known != nullptr ? *known : fresh(rule, entry);
    before_change_with_prefixes(of_rule);
    runtime.keep_under_cap(of_rule, now, work_);
    oldest = std::min(oldest, runtime.oldest_first(of_rule));
    if (known != nullptr) {
      after(of_rule);
    } else if (!of_rule.empty()) {
      keep_fresh(entry);
    }
  });
  for (const KeyEntry::OfOwner& part : entry.parts()) {
    if (!part.part->of_prefix() || prefixes[part.part->prefix()].root != root) continue;
    auto& each = static_cast<PrefixState&>(*part.part);
    before_change(each);
    each.set.cut(oldest);
    if (each.set.empty()) read_.push_back(&each);
  }
}

void Lane::after(PrefixState& state) {
  if (options_.track_changes) mark_changed(state);
  settle(state);
}

void Lane::settle(PrefixState& state) {
  if (state.set.empty()) {
    read_.push_back(&state);
  } else {
    due_.set_earlier(state, due_of(state));
  }
}

/// No event at or before `now` can come any more.
void Lane::expire(PrefixState& state, EventTime now) {
  before_change(state);
  cut(state, saturating_add(now, Micros(1) - rules_->prefixes()[state.prefix()].within));
  after(state);
}

/// What the rule has done may have emptied them.
void Lane::see_to_prefixes_of(const KeyState& state) {
  const nfa::Prefixes& prefixes = rules_->prefixes();
  for (std::uint32_t at = prefixes.of_rule(state.owner); at != nfa::Prefix::kNone; at = prefixes[at].parent) {
    PrefixState* waiting = state.entry->find_prefix(at);
    if (waiting == nullptr) continue;
    if (options_.track_changes) mark_changed(*waiting);
    if (waiting->set.empty()) read_.push_back(waiting);
  }
}

void Lane::leave_prefix(std::uint32_t rule, EventTime watermark) {
  tables_[rules_->dispatch.table(rule)].each([&](KeyEntry& entry) {
    KeyState* known = entry.find_rule(rule);
    KeyState& state = known != nullptr ? *known : fresh(rule, entry);
    runtimes_[rule].leave_prefix(state, watermark);
    if (known == nullptr && !state.empty()) keep_fresh(entry);
    if (known != nullptr && options_.track_changes) mark_changed(state);
  });
}

/// The event may be one of the rule's prefixes' own.
bool Lane::may_join_prefix(const Item& item) const {
  const nfa::Prefixes& prefixes = rules_->prefixes();
  const std::uint32_t longest = prefixes.of_rule(item.rule);
  return longest != nfa::Prefix::kNone &&
         std::any_of(prefix_items_.begin(), prefix_items_.end(), [&](const PrefixItem& each) {
           return each.key == item.key && prefixes[each.prefix].root == prefixes[longest].root;
         });
}

/// What was counted for a prefix was so for each of its rules; the time they share.
void Lane::add_prefix_counts(std::vector<RuleCounts>& counts) const {
  const nfa::Prefixes& prefixes = rules_->prefixes();
  for (std::uint32_t i = 0; i < prefix_counts_.size(); ++i) {
    const PrefixCounts& of_prefix = prefix_counts_[i];
    std::uint64_t rules = 0;
    prefixes.each_rule(i, [&](std::uint32_t) { ++rules; });
    prefixes.each_rule(i, [&](std::uint32_t rule) {
      counts[rule].tested += of_prefix.work.tested;
      counts[rule].time_ns += of_prefix.work.time_ns / rules;
      counts[rule].expression_errors += of_prefix.errors.count;
    });
  }
}

/// For the rules that have nothing else for the key. What the state takes they share.
void Lane::add_waiting(const PrefixState& state, std::vector<RuleCounts>& counts, EventTime watermark,
                       MatchWalk& walk) const {
  const nfa::Prefixes& prefixes = rules_->prefixes();
  const KeyEntry& entry = *state.entry;
  std::uint64_t rules = 0;
  prefixes.each_rule(state.prefix(), [&](std::uint32_t) { ++rules; });
  const std::uint64_t bytes = bytes_of(state);
  const auto add = [&](std::uint32_t rule, const Taken& taken) {
    counts[rule].bytes += bytes / rules;
    if (entry.find_rule(rule) != nullptr) return;
    Alive alive;
    alive.oldest_time = saturating_add(watermark, -*runtimes_[rule].rule().within);
    alive.oldest_sequence = runtimes_[rule].since();
    const bool all = state.set.flat() && taken.sequence == 0 && alive.any_up_to(state.set.oldest());
    counts[rule].partial_matches += all ? state.set.count() : walk.count(state.part_above(taken), alive).count;
  };
  for (const std::uint32_t rule : prefixes[state.prefix()].rules) add(rule, state.taken_by(rule));
  for (const std::uint32_t longer : prefixes[state.prefix()].prefixes) {
    const Taken taken = state.taken_by(longer | KeyPart::kPrefix);
    prefixes.each_rule(longer, [&](std::uint32_t rule) { add(rule, taken); });
  }
}

}  // namespace cepd::engine
