#include "engine/engine.h"

#include <algorithm>
#include <boost/unordered/unordered_flat_map.hpp>
#include <deque>
#include <utility>

#include "base/check.h"
#include "engine/derived_queue.h"
#include "engine/event_maker.h"
#include "engine/lane.h"
#include "engine/lane_threads.h"
#include "engine/order.h"
#include "engine/snapshot.h"
#include "state/layout.h"

namespace cepd::engine {

namespace {

/// Matches that a lane keeps to itself inside a batch.
constexpr std::size_t kKeptMatches = 1024;

std::string_view type_name(const Event& event, const FieldPlan& fields) {
  return event.type == kOtherType ? event.other_type() : std::string_view(fields.type(event.type).name);
}

}  // namespace

struct Engine::Impl {
  std::shared_ptr<const LaneRules> rules;
  EngineOptions options;
  Handlers handlers;
  EventOrder order;
  std::deque<Lane> lanes;
  std::vector<EventMaker> makers;  // by index in RuleSet::rules
  DerivedQueue derived;            // empty between two places of the total order
  std::uint32_t top_level = 0;
  std::vector<RuleCounts> counted_before;  // by rule, under earlier sets of rules
  std::vector<EventPtr> ready;             // their place in the order is settled; handled with the next drain()
  std::uint64_t next_sequence = 1;
  std::uint64_t handled = 0;
  std::vector<std::string>
      dropped_keys;                      // stored under rules that are gone or changed: to be erased with the next save
  std::vector<RuleRecord> rule_records;  // by rule
  std::vector<std::uint64_t> prefix_since;  // by prefix: the least of its rules' RuleRecord::since, while parts are put
  bool rules_saved = false;
  std::size_t dropped_by_swap = 0;
  state::WriteBatch to_save;  // of the save under way, beside what the lanes have
  bool saving = false;
  // With several lanes, while no rule reads what others make:
  std::uint64_t next_step = 0;           // of the next batch
  std::optional<EventTime> time_given;   // the lanes' watermark; none: it may be anything
  std::unique_ptr<LaneThreads> threads;  // the last member: they work on the others

  const nfa::Network& network() const { return *rules->network; }

  /// `alone`: see LaneRules.
  void make_rules(std::shared_ptr<const nfa::Network> network, std::vector<bool> alone = {}) {
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
    for (const dsl::plan::Rule& rule : rules->network->rules().rules) {
      top_level = std::max(top_level, rule.level);
      makers.emplace_back(*rules->network, rule);
      counted_before.emplace_back();
      counted_before.back().rule = rule.name;
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

  /// Puts a part that was kept in place under its present owner. False: of a prefix, and none of its rules may see
  /// anything of it.
  bool put(const KeyProbe& probe, std::unique_ptr<KeyPart> part) {
    if (part->of_prefix()) {
      auto& set = static_cast<PrefixState&>(*part).set;
      set.cut(prefix_since[part->prefix()]);
      if (set.empty()) return false;
    }
    lanes[lane_of(part->owner, probe)].put(probe, std::move(part), order.watermark());
    return true;
  }

  /// Requires the sequence numbers restored.
  Status restore_rules(state::StateBackend& backend) {
    auto record = backend.get(state::Space::kEngine, kRulesKey);
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
      set_since(i, known == stored->end() ? next_sequence : known->second.since);
    }
    return {};
  }

  void number(EventPtr& event) {
    // Only an event that still waits is stored, or decoded again after a reload, from its bytes.
    if (!options.keep_raw && !event->raw().empty()) event = with_raw(*event, {});
    event->sequence = next_sequence++;
  }

  std::size_t lane_of(std::uint32_t owner, const KeyProbe& probe) const {
    return probe.key.empty() ? rules->lane_of_unkeyed[rules->rule_of(owner)] : probe.hash % lanes.size();
  }

  void set_since(std::uint32_t rule, std::uint64_t sequence) {
    rule_records[rule].since = sequence;
    for (Lane& lane : lanes) lane.runtime(rule).set_since(sequence);
  }

  /// After the last set_since(), before the first put().
  void settle_since() {
    prefix_since.assign(rules->prefixes().all().size(), UINT64_MAX);
    for (std::uint32_t rule = 0; rule < rule_records.size(); ++rule) {
      for (std::uint32_t at = rules->prefixes().of_rule(rule); at != nfa::Prefix::kNone;
           at = rules->prefixes()[at].parent) {
        prefix_since[at] = std::min(prefix_since[at], rule_records[rule].since);
      }
    }
  }

  Owners owners() const {
    Owners out;
    const auto& all = network().rules().rules;
    for (std::uint32_t i = 0; i < all.size(); ++i) out.emplace(all[i].fingerprint, i);
    const auto& prefixes = rules->prefixes().all();
    for (std::uint32_t i = 0; i < prefixes.size(); ++i) out.emplace(prefixes[i].identity, i | KeyPart::kPrefix);
    return out;
  }

  static EventPtr with_raw(const Event& event, std::string_view raw) {
    EventDraft draft(event);
    draft.raw = raw;
    return draft.build();
  }

  /// What can be handled takes its place at once, whenever it is handled: an event of a source that begins later must
  /// not come before it with some numbers of lanes only.
  void settle() {
    while (EventPtr event = order.next()) add_ready(std::move(event));
  }

  void add_ready(EventPtr event) {
    if (!threads) {
      ready.push_back(std::move(event));
      return;
    }
    number(event);
    ready.push_back(std::move(event));
    // Time has not come further: what is ready behind it comes with the next batch.
    if (ready.size() >= options.lane_batch) give_lanes(ready.back()->time);
  }

  /// An instant goes: events in their order, then deadlines (language-details.md section 2).
  void drain() {
    settle();
    if (threads) {
      if (!ready.empty() || time_given != order.watermark()) give_lanes(order.watermark());
      threads->finish();
      return;
    }
    for (EventPtr& event : ready) handle(std::move(event));
    ready.clear();
    if (top_level > 1) {
      fire_due(order.watermark());
    } else {
      lanes.front().fire_before(order.watermark(), 0);
    }
  }

  /// The next event in order, without threads; nothing is left to be handled before it.
  void handle(EventPtr event) {
    if (top_level > 1) return handle_by_level(std::move(event));
    number(event);
    ++handled;
    Lane& lane = lanes.front();
    lane.fire_before(event->time, 0);
    lane.give(event, rules->dispatch.of(event->type), 0);
  }

  // ---- no rule reads what another makes: every lane goes through all that is ready, by itself ----

  void give_lanes(EventTime watermark) {
    handled += ready.size();
    LaneBatch batch{std::exchange(ready, {}), watermark, next_step};
    ready.reserve(options.lane_batch);
    next_step = batch.end_step();
    time_given = watermark;
    threads->give(std::move(batch));
  }

  /// On the lane's thread.
  std::vector<LaneMatch> work(LaneThreads& of, std::size_t index, const LaneBatch& batch) {
    Lane& lane = lanes[index];
    std::uint64_t step = batch.first_step;
    for (const EventPtr& event : batch.events) {
      lane.fire_before(event->time, step++);
      lane.give(event, rules->dispatch.of(event->type), step++);
      if (lane.kept_matches() >= kKeptMatches) of.hand_over(index, lane.take_matches(), step);
    }
    lane.fire_before(batch.watermark, step);
    return lane.take_matches();
  }

  // ---- rules read what others make: one place of the total order after the other, level by level ----

  void handle_by_level(EventPtr event) {
    fire_due(event->time);
    ++handled;
    const nfa::TypeDispatch& dispatch = rules->dispatch.of(event->type);
    give(std::move(event), dispatch);
    for (std::uint32_t level = 1; level < top_level; ++level) handle_derived(level);
  }

  std::optional<EventTime> earliest_due() const {
    std::optional<EventTime> earliest;
    for (const Lane& lane : lanes) {
      if (const auto due = lane.earliest(); due && (!earliest || *due < *earliest)) earliest = due;
    }
    return earliest;
  }

  /// Everything that falls due before `limit`; at the end of time everything. Level by level: what a deadline makes is
  /// handled before the deadlines of higher levels at the same time.
  void fire_due(EventTime limit) {
    while (const auto earliest = earliest_due()) {
      if (*earliest >= limit && limit != kMaxTime) return;
      for (std::uint32_t level = 1; level <= top_level; ++level) {
        for (Lane& lane : lanes) lane.fire(*earliest, level, 0);
        report();
        handle_derived(level);
      }
    }
  }

  /// The events that rules of `level` have made at this place; they have all been at work.
  void handle_derived(std::uint32_t level) {
    for (EventPtr& event : derived.take(level)) {
      const nfa::TypeDispatch& dispatch = rules->dispatch.of_derived(event->type);
      give(std::move(event), dispatch);
    }
  }

  void give(EventPtr event, const nfa::TypeDispatch& dispatch) {
    number(event);
    for (Lane& lane : lanes) lane.give(event, dispatch, 0);
    report();
  }

  void report() {
    std::vector<LaneMatch> matches = lanes.front().take_matches();
    if (lanes.size() > 1) {
      for (std::size_t i = 1; i < lanes.size(); ++i) {
        for (LaneMatch& match : lanes[i].take_matches()) matches.push_back(std::move(match));
      }
      merge(matches);
    }
    for (LaneMatch& each : matches) {
      if (auto event = makers[each.rule].make(*each.match)) {
        derived.add(each.rule, rules->levels[each.rule], std::move(event));
      }
      handlers.match(MatchView(std::move(each.match), each.rule));
    }
  }
};

Engine::Engine(std::shared_ptr<const nfa::Network> network, EngineOptions options, Handlers handlers)
    : impl_(std::make_unique<Impl>()) {
  impl_->options = options;
  impl_->handlers = std::move(handlers);
  impl_->make_rules(std::move(network));
}

Engine::~Engine() = default;

void Engine::set_max_delay(SourceId source, Micros max_delay) { impl_->order.set_max_delay(source, max_delay); }

void Engine::push(EventPtr event, std::string_view raw) {
  const bool one = impl_->lanes.size() == 1;
  if ((one ? impl_->ready.empty() : impl_->threads != nullptr) && impl_->order.pass(*event)) {
    if (one) {
      impl_->handle(std::move(event));
    } else {
      impl_->add_ready(std::move(event));
    }
    return;
  }
  if (!raw.empty() && impl_->order.would_wait(*event)) event = Impl::with_raw(*event, raw);
  if (const auto reason = impl_->order.offer(event)) {
    if (impl_->handlers.late) impl_->handlers.late(*event, *reason, raw);
    return;
  }
  impl_->settle();
  if (one || (!impl_->threads && impl_->ready.size() >= impl_->options.lane_batch)) impl_->drain();
}

void Engine::flush() { impl_->drain(); }

void Engine::set_idle(SourceId source, std::int32_t partition) {
  impl_->order.set_idle({source, partition});
  impl_->drain();
}

void Engine::advance(EventTime watermark) {
  impl_->order.advance(watermark);
  impl_->drain();
}

void Engine::finish() {
  impl_->order.end();
  impl_->drain();
}

EventTime Engine::watermark() const { return impl_->order.watermark(); }
std::size_t Engine::waiting() const { return impl_->order.waiting().size(); }
std::size_t Engine::dropped_by_swap() const { return impl_->dropped_by_swap; }
const nfa::Network& Engine::network() const { return impl_->network(); }
std::uint64_t Engine::events() const { return impl_->handled; }

std::size_t Engine::swap(std::shared_ptr<const nfa::Network> network, const DecodeAgain& decode_again) {
  impl_->drain();
  // The rest of a save under way is kept for its next part.
  if (impl_->saving) {
    for (Lane& lane : impl_->lanes) lane.save_some(impl_->to_save, SIZE_MAX / 2);
  }
  std::deque<Lane> before = std::move(impl_->lanes);
  const std::shared_ptr<const LaneRules> old_rules = std::move(impl_->rules);
  std::vector<RuleCounts> counts = std::move(impl_->counted_before);
  for (const Lane& lane : before) lane.add_counted(counts);
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
    impl_->counted_before[i] = std::move(counts[same->second]);
    impl_->set_since(i, records[same->second].since);
    ++kept;
    if (impl_->rule_records[i].alone && !records[same->second].alone) {
      for (Lane& lane : before) lane.leave_prefix(same->second, impl_->order.watermark());
    }
  }
  impl_->settle_since();
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
    for (std::string& key : before[i].take_gone()) impl_->dropped_keys.push_back(std::move(key));
    for (const auto& entry : before[i].take_keys()) {
      for (auto& part : entry->take()) {
        const MatchId& id = old_rules->id_of(part->owner);
        const bool stored = part->stored, lost = !part->of_prefix() || !goes_on[part->prefix()];
        const auto owner = now.find(id);
        if (owner != now.end()) {
          part->owner = owner->second;
          if (part->of_prefix()) rename_readers(static_cast<PrefixState&>(*part), owner_now);
          if (impl_->put({entry->hash(), entry->key()}, std::move(part))) continue;
        }
        if (lost) ++impl_->dropped_by_swap;
        if (stored) impl_->dropped_keys.push_back(partial_key(id, entry->canonical()));
      }
    }
  }
  for (EventPtr& event : impl_->order.waiting()) {
    event = decode_again(*event, type_name(*event, old_rules->network->fields()));
  }
  return kept;
}

void Engine::begin_save() {
  CEPD_CHECK(impl_->options.track_changes && !impl_->saving);
  impl_->drain();
  using state::Space;
  state::WriteBatch& batch = impl_->to_save;
  for (std::string& key : impl_->dropped_keys) batch.erase(Space::kPartial, std::move(key));
  impl_->dropped_keys.clear();
  if (!std::exchange(impl_->rules_saved, true)) {
    batch.put(Space::kEngine, std::string(kRulesKey),
              encode_rules(impl_->network().rules().rules, impl_->rule_records));
  }
  batch.clear(Space::kPending);
  std::uint64_t number = 0;
  for (const EventPtr& event : impl_->order.waiting()) {
    batch.put(Space::kPending, state::ordered_key(number++), encode_waiting(*event, impl_->network().fields()));
  }
  batch.put(Space::kEngine, std::string(kFieldPlanKey), encode_plan(impl_->network().fields()));
  batch.put(Space::kEngine, std::string(kOrderKey), encode_order(impl_->order, impl_->next_sequence));
  for (Lane& lane : impl_->lanes) lane.begin_save();
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

Result<Engine::Restored> Engine::restore(state::StateBackend& backend, const DecodeAgain& decode_again) {
  using state::Space;
  Restored restored;
  auto plan_record = backend.get(Space::kEngine, kFieldPlanKey);
  if (!plan_record) return plan_record.error();
  if (!*plan_record) return restored;  // nothing was ever saved
  auto plan = StoredPlan::decode(**plan_record, impl_->network().fields());
  if (!plan) return plan.error();
  auto order = backend.get(Space::kEngine, kOrderKey);
  if (!order) return order.error();
  if (!*order) return error(Errc::kCorrupt, "stored watermarks are missing");
  CEPD_TRY(decode_order(**order, impl_->order, impl_->next_sequence));
  impl_->time_given.reset();

  CEPD_TRY(impl_->restore_rules(backend));

  impl_->settle_since();
  const Owners owners = impl_->owners();
  CEPD_TRY(backend.scan(Space::kPartial, {}, [&](std::string_view stored_key, std::string_view record) -> Status {
    const std::optional<MatchId> id = owner_in(stored_key);
    const auto owner = id ? owners.find(*id) : owners.end();
    if (owner == owners.end()) {
      impl_->dropped_keys.emplace_back(stored_key);
      ++restored.dropped;
      return {};
    }
    auto stored = decode_part(record, *plan, *impl_->rules, owners, owner->second);
    if (!stored) return std::move(stored).error();
    if (impl_->put({hash_key(stored->key), stored->key}, std::move(stored->part))) {
      ++restored.keys;
    } else {
      impl_->dropped_keys.emplace_back(stored_key);
      ++restored.dropped;
    }
    return {};
  }));
  for (Lane& lane : impl_->lanes) lane.keep_all_under_cap(impl_->order.watermark());
  CEPD_TRY(backend.scan(Space::kPending, {}, [&](std::string_view, std::string_view record) -> Status {
    auto event = decode_waiting(record, impl_->network().fields());
    if (!event) return std::move(event).error();
    impl_->order.restore_waiting(decode_again(**event, type_name(**event, impl_->network().fields())));
    ++restored.waiting;
    return {};
  }));
  return restored;
}

void Engine::set_trace(const std::string& name, Trace* trace) {
  CEPD_CHECK(impl_->lanes.size() == 1);
  // A rule that is watched keeps all that it has by itself.
  impl_->options.share_prefixes = false;
  impl_->make_rules(impl_->rules->network);
  const auto& rules = impl_->network().rules().rules;
  const auto rule = std::find_if(rules.begin(), rules.end(), [&](const auto& each) { return each.name == name; });
  CEPD_CHECK(rule != rules.end());
  impl_->lanes.front().set_trace(static_cast<std::uint32_t>(rule - rules.begin()), trace);
}

std::vector<RuleCounts> Engine::counts() const {
  if (impl_->threads) impl_->threads->wait();
  std::vector<RuleCounts> counts = impl_->counted_before;
  for (const Lane& lane : impl_->lanes) {
    lane.add_counted(counts);
    lane.add_partial_matches(counts, impl_->order.watermark());
  }
  return counts;
}

}  // namespace cepd::engine
