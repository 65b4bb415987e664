/// What is stored of an engine, and how it is taken up again.

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "engine/engine_impl.h"

namespace cepd::engine {

using state::Space;

namespace {

std::string plan_key(std::uint64_t number) { return std::string(kFieldPlanKey) + state::ordered_key(number); }

}  // namespace

// ---- field plans ----

/// The present one gets the number that an equal one has, or the next.
void Engine::Impl::number_plan() {
  if (!options.track_changes) return;
  std::string text = encode_plan(network().fields());
  const auto same =
      std::find_if(plans.begin(), plans.end(), [&](const auto& each) { return each.second.text == text; });
  if (same != plans.end()) {
    plan = same->first;
    return;
  }
  plan = plans.empty() ? 1 : plans.rbegin()->first + 1;
  plans[plan] = {std::move(text), false};
}

Status Engine::Impl::restore_plans(state::StateBackend& backend) {
  plans.clear();
  CEPD_TRY(backend.scan(Space::kEngine, kFieldPlanKey, [&](std::string_view key, std::string_view record) -> Status {
    key.remove_prefix(kFieldPlanKey.size());
    if (key.size() != sizeof(std::uint64_t)) return corrupt_record("field plan");
    plans[state::read_ordered(key)] = {std::string(record), true};
    return {};
  }));
  number_plan();
  return {};
}

// ---- keys ----

void Engine::Impl::settle_since() {
  prefix_since.assign(rules->prefixes().all().size(), UINT64_MAX);
  for (std::uint32_t rule = 0; rule < rule_records.size(); ++rule) {
    for (std::uint32_t at = rules->prefixes().of_rule(rule); at != nfa::Prefix::kNone;
         at = rules->prefixes()[at].parent) {
      prefix_since[at] = std::min(prefix_since[at], rule_records[rule].since);
    }
  }
}

Status Engine::Impl::read_from(state::StateBackend* backend) {
  std::shared_ptr<StoredKeys> stored;
  if (backend != nullptr) {
    stored = std::make_shared<StoredKeys>();
    stored->backend = backend;
    stored->owners = owners();
    stored->rules = rule_records;
    stored->prefix_since = prefix_since;
    stored->unreadable = handlers.unreadable;
    for (const auto& [number, each] : plans) {
      auto decoded = StoredPlan::decode(each.text, network().fields());
      if (!decoded) return std::move(decoded).error();
      stored->plans.emplace(number, std::move(*decoded));
    }
  }
  for (Lane& lane : lanes) lane.read_from(stored);
  return {};
}

/// Requires the sequence numbers restored.
Status Engine::Impl::restore_rules(state::StateBackend& backend) {
  auto record = backend.get(Space::kEngine, kRulesKey);
  if (!record) return std::move(record).error();
  if (!*record) return {};
  auto stored = decode_rules(**record);
  if (!stored) return std::move(stored).error();
  const std::shared_ptr<const nfa::Network> network = rules->network;
  const auto& all = network->rules().rules;
  const auto stored_of = [&](std::size_t rule) { return stored->find(all[rule].fingerprint); };
  std::vector<bool> alone(all.size());
  for (std::uint32_t i = 0; i < all.size(); ++i) {
    const auto known = stored_of(i);
    alone[i] = known != stored->end() && known->second.alone;
  }
  make_rules(network, alone);
  for (std::uint32_t i = 0; i < all.size(); ++i) {
    const auto known = stored_of(i);
    if (known == stored->end()) {
      set_since(i, next_sequence);
      continue;
    }
    rule_records[i].limit_since = known->second.limit_since;
    rule_records[i].timeouts_since = known->second.timeouts_since;
    set_since(i, known->second.since);
  }
  return {};
}

/// Of every part only when it is due: it is read when it is touched.
Status Engine::Impl::restore_heads(Restored& restored, bool only_strangers) {
  const StoredKeys& stored = *lanes.front().stored();
  std::vector<std::uint64_t> used{plan};
  CEPD_TRY(stored.backend->scan(Space::kPartial, {}, [&](std::string_view key, std::string_view record) -> Status {
    const auto id = decode_partial_key(key);
    if (!id) return corrupt_record("key");
    state::Reader in(record);
    const auto head = decode_head(in);
    if (!head) return head.error();
    const std::uint32_t* owner = stored.owner_of(id->owner, *head);
    if (owner == nullptr) {
      if (lanes.front().note_gone(std::string(key))) ++restored.dropped;
      return {};
    }
    // What is here already, or was and is done with, is not what the record says any more.
    if (only_strangers) return {};
    if (head->plan != used.back()) used.push_back(head->plan);
    std::size_t lane = 0;
    if (lanes.size() > 1) {
      const std::vector<Value> values = decode_key(in);
      lane = lane_of(*owner, {hash_key(values), values});
    }
    lanes[lane].add_cold(id->key.high, head->due);
    ++restored.keys;
    return {};
  }));
  if (only_strangers) return {};
  std::sort(used.begin(), used.end());
  std::erase_if(plans, [&](const auto& each) {
    if (std::binary_search(used.begin(), used.end(), each.first)) return false;
    to_save.erase(Space::kEngine, plan_key(each.first));
    return true;
  });
  return {};
}

// ---- saving ----

void Engine::begin_save() {
  CEPD_CHECK(impl_->options.track_changes && !impl_->saving);
  impl_->drain();
  state::WriteBatch& batch = impl_->to_save;
  if (!std::exchange(impl_->rules_saved, true)) {
    batch.put(Space::kEngine, std::string(kRulesKey),
              encode_rules(impl_->network().rules().rules, impl_->rule_records));
    batch.put(Space::kEngine, std::string(kLimitsKey), encode_limits(impl_->options));
  }
  batch.clear(Space::kPending);
  std::uint64_t number = 0;
  for (const EventPtr& event : impl_->order.waiting()) {
    batch.put(Space::kPending, state::ordered_key(number++), encode_waiting(*event, impl_->network().fields()));
  }
  auto& plan = impl_->plans.at(impl_->plan);
  if (!std::exchange(plan.saved, true)) batch.put(Space::kEngine, plan_key(impl_->plan), plan.text);
  batch.put(Space::kEngine, std::string(kOrderKey), encode_order(impl_->order, impl_->next_sequence));
  impl_->seen.save(batch, [this](const PartitionId& partition) { return impl_->order.watermark_of(partition); });
  for (Lane& lane : impl_->lanes) lane.begin_save(impl_->plan, impl_->next_sequence);
  impl_->saving = true;
}

bool Engine::save_some(state::WriteBatch& batch, std::size_t most_bytes) {
  if (impl_->threads) impl_->threads->wait();
  batch.append(std::exchange(impl_->to_save, {}));
  bool more = false;
  if (impl_->saving) {
    for (Lane& lane : impl_->lanes) more = lane.save_some(batch, most_bytes / impl_->lanes.size() + 1) || more;
  }
  impl_->saving = more;
  return more;
}

void Engine::save(state::WriteBatch& batch) {
  begin_save();
  save_some(batch, SIZE_MAX / 2);
}

void Engine::saved() {
  CEPD_CHECK(!impl_->saving);
  if (impl_->threads) impl_->threads->wait();
  for (Lane& lane : impl_->lanes) lane.saved();
}

bool Engine::evict(std::size_t most_keys) {
  if (impl_->threads) impl_->threads->wait();
  bool more = false;
  for (Lane& lane : impl_->lanes) more = lane.evict(most_keys / impl_->lanes.size() + 1) || more;
  return more;
}

Engine::KeyCounts Engine::key_counts() const {
  if (impl_->threads) impl_->threads->wait();
  KeyCounts counts;
  for (const Lane& lane : impl_->lanes) {
    const KeyCounts of_lane = lane.key_counts();
    counts.here += of_lane.here;
    counts.cold += of_lane.cold;
    counts.evicted += of_lane.evicted;
    counts.loaded += of_lane.loaded;
  }
  return counts;
}

// ---- restoring ----

Result<Engine::Restored> Engine::restore(state::StateBackend& backend, const DecodeAgain& decode_again) {
  Restored restored;
  auto order = backend.get(Space::kEngine, kOrderKey);
  if (!order) return order.error();
  if (!*order) return restored;  // nothing was ever saved
  CEPD_TRY(decode_order(**order, impl_->order, impl_->next_sequence));
  CEPD_TRY(impl_->seen.restore(backend));
  impl_->time_given.reset();
  CEPD_TRY(impl_->restore_plans(backend));
  auto limits = backend.get(Space::kEngine, kLimitsKey);
  if (!limits) return std::move(limits).error();
  CEPD_TRY(impl_->restore_rules(backend));
  impl_->settle_since();
  CEPD_TRY(impl_->read_from(&backend));
  CEPD_TRY(impl_->restore_heads(restored, false));

  // What has no key is touched by the next event, whatever it is.
  for (Lane& lane : impl_->lanes) CEPD_TRY(lane.load(key_id({}).high, impl_->order.watermark()));
  const bool other_limits = *limits != encode_limits(impl_->options);
  if (impl_->options.stored == nullptr || other_limits) {
    for (Lane& lane : impl_->lanes) CEPD_TRY(lane.load_all(impl_->order.watermark()));
  }
  if (other_limits) {
    impl_->rules_saved = false;
    for (Lane& lane : impl_->lanes) lane.keep_all_under_cap(impl_->order.watermark());
  }
  if (impl_->options.stored == nullptr) CEPD_TRY(impl_->read_from(nullptr));
  CEPD_TRY(backend.scan(Space::kPending, {}, [&](std::string_view, std::string_view record) -> Status {
    auto event = decode_waiting(record, impl_->network().fields());
    if (!event) return std::move(event).error();
    impl_->order.restore_waiting(decode_again(**event, type_name(**event, impl_->network().fields())));
    ++restored.waiting;
    return {};
  }));
  return restored;
}

Result<std::size_t> Engine::drop_strangers() {
  if (impl_->options.stored == nullptr) return std::size_t{0};
  impl_->drain();
  Restored found;
  CEPD_TRY(impl_->restore_heads(found, true));
  return found.dropped;
}

}  // namespace cepd::engine
