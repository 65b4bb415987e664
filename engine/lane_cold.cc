/// How one lane reads keys back from where they are stored, and forgets them.

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "engine/lane.h"
#include "engine/stored_keys.h"

namespace cepd::engine {

using state::Space;

namespace {

/// These went when the rule had no such clause, since the part was stored.
void drop_of_lost_clauses(KeyState& state, const PartHead& head, const RuleRecord& rule) {
  if (head.before <= rule.timeouts_since) state.forget_timeouts();
  if (state.rare && head.before <= rule.limit_since) {
    state.rare->acted.clear();
    state.rare->acted_on_timeout.clear();
  }
}

}  // namespace

void Lane::read_from(std::shared_ptr<const StoredKeys> stored) { stored_ = std::move(stored); }

void Lane::take_cold(Lane& before) {
  cold_ = std::exchange(before.cold_, {});
  gone_ = std::exchange(before.gone_, {});
  erased_ = std::exchange(before.erased_, {});
  evicted_ = before.evicted_;
  loaded_ = before.loaded_;
}

/// Requires what was due earlier to be loaded and fired.
KeyEntry* Lane::find_key(std::uint32_t table, const KeyProbe& probe, EventTime now) {
  KeyEntry* entry = tables_[table].find(probe);
  if (entry != nullptr) {
    entry->touched = true;
    return entry;
  }
  if (cold_.empty()) return nullptr;
  const std::uint64_t key = key_id(probe.key).high;
  if (!cold_.contains(key)) return nullptr;
  must(load(key, now));
  return tables_[table].find(probe);
}

void Lane::load_due(EventTime now) {
  while (cold_.earliest() <= now) {
    must(load(cold_.first(), now));
  }
}

void Lane::must(const Status& read) const {
  if (read) return;
  stored_->unreadable(read.error());
  CEPD_CHECK(false);
}

Status Lane::load(std::uint64_t key, EventTime now) {
  loaded_ += cold_.contains(key) ? 1 : 0;
  cold_.take(key);
  made_.clear();
  loading_ = key;
  return stored_->backend->scan(
      Space::kPartial, state::ordered_key(key),
      [&](std::string_view stored_key, std::string_view record) { return take_record(stored_key, record, now); });
}

void Lane::load_all_now(EventTime now) {
  if (!cold_.empty()) must(load_all(now));
}

Status Lane::load_all(EventTime now) {
  loaded_ += cold_.size();
  made_.clear();
  loading_ = 0;
  CEPD_TRY(stored_->backend->scan(Space::kPartial, {}, [&](std::string_view stored_key, std::string_view record) {
    return take_record(stored_key, record, now);
  }));
  cold_ = {};
  return {};
}

/// Records of one key come one after the other. What is in memory is as it is now, and all of a key is or nothing.
Status Lane::take_record(std::string_view stored_key, std::string_view record, EventTime now) {
  const auto id = decode_partial_key(stored_key);
  if (!id) return corrupt_record("key");
  if (id->key.high != std::exchange(loading_, id->key.high)) made_.clear();
  std::string own_key(stored_key);
  if (gone_.contains(own_key) || erased_.contains(own_key)) return {};
  state::Reader in(record);
  const auto head = decode_head(in);
  if (!head) return head.error();
  const auto gone = [&]() -> Status {
    note_gone(std::move(own_key));
    return {};
  };
  const std::uint32_t* owner = stored_->owner_of(id->owner, *head);
  if (owner == nullptr) return gone();
  const auto plan = stored_->plans.find(head->plan);
  if (plan == stored_->plans.end()) return corrupt_record("field plan");
  auto stored = decode_part(in, plan->second, *rules_, stored_->owners, *owner);
  if (!stored) return std::move(stored).error();
  const KeyProbe probe{hash_key(stored->key), stored->key};
  const std::uint32_t rule = rules_->rule_of(*owner);
  if (!is_mine(rule, probe)) return {};
  const std::uint32_t table = rules_->dispatch.table(rule);
  const KeyEntry* known = tables_[table].find(probe);
  if (known != nullptr && std::find(made_.begin(), made_.end(), known) == made_.end()) return {};

  KeyPart& part = *stored->part;
  if (!keep_seen(part, stored_->prefix_since)) return gone();
  if (!part.of_prefix()) drop_of_lost_clauses(static_cast<KeyState&>(part), *head, stored_->rules[rule]);
  put(probe, std::move(stored->part), now);
  if (KeyEntry* made = tables_[table].find(probe)) made_.push_back(made);
  return {};
}

bool Lane::evict(std::size_t most) {
  constexpr std::size_t kLookedAt = 16;  // for one that goes
  std::size_t evicted = 0;
  for (std::size_t left = most * kLookedAt; may_evict_ > 0 && left > 0 && evicted < most; --left, --may_evict_) {
    KeyEntry* entry = clock_.next();
    if (entry == nullptr || !can_be_read_again(*entry)) continue;
    evict(*entry);
    ++evicted;
  }
  evicted_ += evicted;
  return may_evict_ > 0;
}

/// What has no key would be read again with the next event.
bool Lane::can_be_read_again(const KeyEntry& entry) const {
  return !entry.key().empty() && std::all_of(entry.parts().begin(), entry.parts().end(), [](const auto& each) {
    return each.part->stored && each.part->changed_in == 0;
  });
}

void Lane::evict(KeyEntry& entry) {
  EventTime due = kMaxTime;
  for (const KeyEntry::OfOwner& each : entry.parts()) {
    due = std::min(due, due_of(*each.part));
    due_.set(*each.part, kMaxTime);
  }
  cold_.add(key_id(entry.key()).high, due);
  const std::uint32_t table = rules_->dispatch.table(rules_->rule_of(entry.parts().front().owner));
  entry.take();
  erase(table, entry);
}

}  // namespace cepd::engine
