/// Sets of rules: how they come into place, and what stays over a reload.

#include <algorithm>
#include <boost/unordered/unordered_flat_map.hpp>
#include <utility>

#include "base/check.h"
#include "engine/engine_impl.h"

namespace cepd::engine {

void Engine::Impl::make_rules(std::shared_ptr<const nfa::Network> network, std::vector<bool> alone) {
  if (!options.share_prefixes) alone.assign(network->rules().rules.size(), true);
  rules = std::make_shared<const LaneRules>(std::move(network), options.lanes, alone);
  rule_records.assign(rules->levels.size(), {});
  for (std::uint32_t i = 0; i < rule_records.size(); ++i) {
    rule_records[i].alone = rules->prefixes().of_rule(i) == nfa::Prefix::kNone;
  }
  rules_saved = false;
  lanes.clear();
  makers.clear();
  counted_before.clear();
  top_level = 0;
  const auto& all = rules->network->rules().rules;
  for (const dsl::plan::Rule& rule : all) top_level = std::max(top_level, rule.level);
  if (top_level > 1) {
    for (const dsl::plan::Rule& rule : all) makers.emplace_back(*rules->network, rule);
  }
  // Where the order of matches is that of the work they need not be kept for a while.
  const bool direct = options.lanes == 1 && top_level <= 1;
  for (std::size_t i = 0; i < options.lanes; ++i) {
    lanes.emplace_back(rules, options, i, direct ? handlers.match : nullptr);
  }
  time_given.reset();
  if (options.lanes == 1 || top_level > 1) {
    threads.reset();
  } else if (!threads) {
    threads = std::make_unique<LaneThreads>(
        options.lanes, LaneThreads::Bounds(),
        [this](LaneThreads& of, std::size_t lane, const LaneBatch& batch) { return work(of, lane, batch); },
        [this](std::vector<LaneMatch> matches) {
          for (LaneMatch& each : matches) handlers.match(MatchView(std::move(each.match), each.rule));
        });
  }
}

Owners Engine::Impl::owners() const {
  Owners out;
  const auto& all = network().rules().rules;
  for (std::uint32_t i = 0; i < all.size(); ++i) out.emplace(all[i].fingerprint, i);
  const auto& prefixes = rules->prefixes().all();
  for (std::uint32_t i = 0; i < prefixes.size(); ++i) out.emplace(prefixes[i].identity, i | KeyPart::kPrefix);
  return out;
}

/// Puts a part in place under its present owner. False: of a prefix, and none of its rules may see anything of it.
bool Engine::Impl::keep(const KeyProbe& probe, std::unique_ptr<KeyPart> part) {
  if (!keep_seen(*part, prefix_since)) return false;
  lanes[lane_of(part->owner, probe)].put(probe, std::move(part), order.watermark());
  return true;
}

std::vector<RuleCounts> Engine::Impl::counted() const {
  const auto& all = network().rules().rules;
  std::vector<RuleCounts> out(all.size());
  for (std::size_t i = 0; i < all.size(); ++i) out[i].rule = all[i].name;
  for (const auto& [rule, tally] : counted_before) out[rule] += tally;
  for (const Lane& lane : lanes) lane.add_counted(out);
  return out;
}

std::size_t Engine::swap(std::shared_ptr<const nfa::Network> network, const DecodeAgain& decode_again) {
  CEPD_CHECK(network->fields().continues(impl_->network().fields()));
  impl_->drain();
  // The rest of a save under way is kept for its next part.
  if (impl_->saving) {
    for (Lane& lane : impl_->lanes) lane.save_some(impl_->to_save, SIZE_MAX / 2);
  }
  const std::vector<RuleCounts> counts = impl_->counted();
  std::deque<Lane> before = std::move(impl_->lanes);
  const std::shared_ptr<const LaneRules> old_rules = std::move(impl_->rules);
  const std::vector<RuleRecord> records = std::move(impl_->rule_records);
  // A rule that goes on without prefix has its partial matches by itself.
  const auto& was = old_rules->network->rules().rules;
  boost::unordered_flat_map<MatchId, std::uint32_t, MatchIdHash> old_rule;
  for (std::uint32_t i = 0; i < was.size(); ++i) old_rule.emplace(was[i].fingerprint, i);
  const auto& rules = network->rules().rules;
  std::vector<bool> alone(rules.size());
  for (std::uint32_t i = 0; i < rules.size(); ++i) {
    const auto same = old_rule.find(rules[i].fingerprint);
    // What SHADOW rules make begins no match of the others: they share nothing.
    alone[i] = same != old_rule.end() && (records[same->second].alone || was[same->second].status != rules[i].status);
  }
  impl_->make_rules(network, alone);

  const auto now = impl_->owners();
  std::size_t kept = 0;
  for (std::uint32_t i = 0; i < rules.size(); ++i) {
    const auto same = old_rule.find(rules[i].fingerprint);
    if (same == old_rule.end()) {
      // It sees nothing of what others have begun before.
      impl_->set_since(i, impl_->next_sequence);
      continue;
    }
    const RuleRecord& record = records[same->second];
    if (const RuleTally& tally = counts[same->second]; tally != RuleTally()) impl_->counted_before[i] = tally;
    impl_->set_since(i, record.since);
    impl_->rule_records[i].limit_since = was[same->second].limit ? record.limit_since : impl_->next_sequence;
    impl_->rule_records[i].timeouts_since = was[same->second].on_timeout ? record.timeouts_since : impl_->next_sequence;
    ++kept;
    const bool leaves_prefix = impl_->rule_records[i].alone && !record.alone;
    // With time-outs each first event has a deadline; what is stored from before knows one for all.
    const bool gets_timeouts = rules[i].on_timeout && !was[same->second].on_timeout;
    for (Lane& lane : before) {
      if (leaves_prefix || gets_timeouts) lane.load_all_now(impl_->order.watermark());
      if (leaves_prefix) lane.leave_prefix(same->second, impl_->order.watermark());
    }
  }
  impl_->settle_since();
  impl_->number_plan();
  const Status reads = impl_->read_from(impl_->options.stored);
  CEPD_CHECK(reads.has_value());  // they were read before
  // What waited in a prefix is not lost where a rule has taken it along.
  std::vector<bool> goes_on(old_rules->prefixes().all().size());
  for (std::uint32_t i = 0; i < was.size(); ++i) {
    if (!now.contains(was[i].fingerprint)) continue;
    const nfa::Prefixes& prefixes = old_rules->prefixes();
    for (std::uint32_t at = prefixes.of_rule(i); at != nfa::Prefix::kNone; at = prefixes[at].parent) goes_on[at] = true;
  }
  impl_->dropped_by_swap = 0;
  const auto owner_now = [&](std::uint32_t owner) -> std::optional<std::uint32_t> {
    const auto same = now.find(old_rules->id_of(owner));
    return same == now.end() ? std::nullopt : std::optional(same->second);
  };
  for (std::size_t i = 0; i < before.size(); ++i) {
    Lane& lane = impl_->lanes[i];
    lane.take_cold(before[i]);
    for (const auto& entry : before[i].take_keys()) {
      for (auto& part : entry->take()) {
        const MatchId& id = old_rules->id_of(part->owner);
        const bool stored = part->stored, lost = !part->of_prefix() || !goes_on[part->prefix()];
        const auto owner = now.find(id);
        if (owner != now.end()) {
          part->owner = owner->second;
          if (part->of_prefix()) rename_readers(static_cast<PrefixState&>(*part), owner_now);
          if (impl_->keep({entry->hash(), entry->key()}, std::move(part))) continue;
        }
        if (lost) ++impl_->dropped_by_swap;
        if (stored) lane.note_gone(encode_partial_key({key_id(entry->key()), id}));
      }
    }
  }
  for (EventPtr& event : impl_->order.waiting()) {
    event = decode_again(*event, type_name(*event, old_rules->network->fields()));
  }
  // What is stored after this can be told from what was before it though no event may have come between.
  ++impl_->next_sequence;
  return kept;
}

}  // namespace cepd::engine
