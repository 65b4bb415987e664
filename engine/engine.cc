#include "engine/engine.h"

#include <algorithm>
#include <boost/unordered/unordered_flat_map.hpp>
#include <deque>

#include "base/check.h"
#include "engine/derived_queue.h"
#include "engine/event_maker.h"
#include "engine/lane.h"
#include "engine/lane_threads.h"
#include "engine/order.h"
#include "engine/snapshot.h"
#include "state/layout.h"

namespace cepd::engine {

/// With several lanes: events pushed before they are handled together.
constexpr std::size_t kBatch = 512;

namespace {

std::string_view type_name(const Event& event, const FieldPlan& fields) {
  return event.type == kOtherType ? event.other_type() : std::string_view(fields.type(event.type).name);
}

}  // namespace

struct Engine::Impl {
  std::shared_ptr<const nfa::Network> network;
  EngineOptions options;
  Handlers handlers;
  EventOrder order;
  std::deque<Lane> lanes;
  LaneThreads threads;
  std::vector<EventMaker> makers;     // by index in RuleSet::rules
  DerivedQueue derived;               // empty between two places of the total order
  std::vector<std::uint32_t> levels;  // by rule
  std::uint32_t top_level = 0;
  std::deque<EventPtr> ready;   // their place in the order is settled; handled with the next drain()
  std::size_t not_drained = 0;  // events pushed since the last drain()
  std::vector<EventPtr> batch;  // of drain_by_lane
  std::uint64_t next_sequence = 1;
  std::uint64_t handled = 0;
  std::vector<std::string>
      dropped_keys;  // stored under rules that are gone or changed: to be erased with the next save

  explicit Impl(std::size_t lane_count) : threads(lane_count) {}

  void make_rules() {
    lanes.clear();
    makers.clear();
    levels.clear();
    for (const dsl::plan::Rule& rule : network->rules().rules) {
      levels.push_back(rule.level);
      makers.emplace_back(*network, rule);
    }
    top_level = levels.empty() ? 0 : *std::max_element(levels.begin(), levels.end());
    for (std::size_t i = 0; i < options.lanes; ++i) lanes.emplace_back(network, options, levels, i);
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
      if (auto event = makers[each.rule].make(*each.match)) derived.add(each.rule, levels[each.rule], std::move(event));
      handlers.match(std::move(each.match));
    }
  }

  void number(EventPtr& event) {
    // Only an event that still waits is stored, or decoded again after a reload, from its bytes.
    if (!options.keep_raw && !event->raw().empty()) event = with_raw(*event, {});
    event->sequence = next_sequence++;
  }

  static EventPtr with_raw(const Event& event, std::string_view raw) {
    EventDraft draft(event);
    draft.raw = raw;
    return draft.build();
  }

  /// What can be handled takes its place at once, whenever it is handled: an event of a source that begins later must
  /// not come before it with some numbers of lanes only.
  void settle() {
    while (EventPtr event = order.next()) ready.push_back(std::move(event));
  }

  /// An instant goes: events in their order, then deadlines (language-details.md section 2).
  void drain() {
    settle();
    not_drained = 0;
    if (top_level > 1) {
      drain_by_level();
    } else {
      drain_by_lane();
    }
  }

  // ---- no rule reads what another makes: every lane goes through all that is ready, by itself ----

  void drain_by_lane() {
    for (; !ready.empty(); ready.pop_front()) {
      number(ready.front());
      ++handled;
      batch.push_back(std::move(ready.front()));
    }
    const EventTime watermark = order.watermark();
    const auto work = [&](std::size_t index) {
      Lane& lane = lanes[index];
      std::uint64_t step = 0;
      for (const EventPtr& event : batch) {
        lane.fire_before(event->time, step++);
        lane.give(event, network->inputs(event->type), step++);
      }
      lane.fire_before(watermark, step);
    };
    if (lanes.size() == 1) {
      work(0);
    } else {
      threads.run(work);
    }
    batch.clear();
    report();
  }

  // ---- rules read what others make: one place of the total order after the other, level by level ----

  void drain_by_level() {
    while (!ready.empty()) {
      EventPtr event = std::move(ready.front());
      ready.pop_front();
      fire_due(event->time);
      ++handled;
      const nfa::Inputs inputs = network->inputs(event->type);
      give(std::move(event), inputs);
      for (std::uint32_t level = 1; level < top_level; ++level) handle_derived(level);
    }
    fire_due(order.watermark());
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
      const nfa::Inputs inputs = network->derived_inputs(event->type);
      give(std::move(event), inputs);
    }
  }

  void give(EventPtr event, const nfa::Inputs& inputs) {
    number(event);
    for (Lane& lane : lanes) lane.give(event, inputs, 0);
    report();
  }
};

Engine::Engine(std::shared_ptr<const nfa::Network> network, EngineOptions options, Handlers handlers)
    : impl_(std::make_unique<Impl>(options.lanes)) {
  impl_->network = std::move(network);
  impl_->options = options;
  impl_->handlers = std::move(handlers);
  impl_->make_rules();
}

Engine::~Engine() = default;

void Engine::set_max_delay(SourceId source, Micros max_delay) { impl_->order.set_max_delay(source, max_delay); }

void Engine::push(EventPtr event, std::string_view raw) {
  if (!raw.empty() && impl_->order.would_wait(*event)) event = Impl::with_raw(*event, raw);
  if (const auto reason = impl_->order.offer(event)) {
    if (impl_->handlers.late) impl_->handlers.late(*event, *reason, raw);
    return;
  }
  impl_->settle();
  if (impl_->lanes.size() == 1 || ++impl_->not_drained >= kBatch) impl_->drain();
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
const nfa::Network& Engine::network() const { return *impl_->network; }
std::uint64_t Engine::events() const { return impl_->handled; }

std::size_t Engine::swap(std::shared_ptr<const nfa::Network> network, const DecodeAgain& decode_again) {
  impl_->drain();
  std::deque<Lane> before = std::move(impl_->lanes);
  const std::shared_ptr<const nfa::Network> old_network = std::move(impl_->network);
  impl_->network = std::move(network);
  impl_->make_rules();

  boost::unordered_flat_map<MatchId, std::uint32_t, MatchIdHash> by_meaning;
  const auto& rules = impl_->network->rules().rules;
  for (std::uint32_t i = 0; i < rules.size(); ++i) by_meaning.emplace(rules[i].fingerprint, i);
  std::size_t kept = 0;
  for (std::size_t lane = 0; lane < before.size(); ++lane) {
    for (RuleRuntime& old : before[lane].rules()) {
      if (const auto same = by_meaning.find(old.rule().fingerprint); same != by_meaning.end()) {
        impl_->lanes[lane].adopt(same->second, std::move(old));
        if (lane == 0) ++kept;
      } else if (impl_->options.track_changes) {
        for (const auto& [id, key] : old.keys()) {
          if (key->stored) impl_->dropped_keys.push_back(partial_key(old.rule(), id));
        }
        for (const std::string& id : old.gone()) impl_->dropped_keys.push_back(partial_key(old.rule(), id));
      }
    }
  }
  for (EventPtr& event : impl_->order.waiting()) {
    event = decode_again(*event, type_name(*event, old_network->fields()));
  }
  return kept;
}

namespace {

void save_rule(const RuleRuntime& rule, state::WriteBatch& batch) {
  using state::Space;
  for (const std::string& id : rule.gone()) batch.erase(Space::kPartial, partial_key(rule.rule(), id));
  for (const std::string& id : rule.changed()) {
    const auto it = rule.keys().find(id);
    if (it == rule.keys().end()) continue;
    if (it->second->empty()) {
      batch.erase(Space::kPartial, partial_key(rule.rule(), id));
    } else {
      batch.put(Space::kPartial, partial_key(rule.rule(), id), encode_key(*it->second));
    }
  }
}

}  // namespace

void Engine::save(state::WriteBatch& batch) {
  CEPD_CHECK(impl_->options.track_changes);
  impl_->drain();
  using state::Space;
  for (const std::string& key : impl_->dropped_keys) batch.erase(Space::kPartial, key);
  for (const Lane& lane : impl_->lanes) {
    for (const RuleRuntime& rule : lane.rules()) save_rule(rule, batch);
  }
  batch.clear(Space::kPending);
  std::uint64_t number = 0;
  for (const EventPtr& event : impl_->order.waiting()) {
    std::string key;
    state::append_ordered(key, number++);
    batch.put(Space::kPending, std::move(key), encode_waiting(*event, impl_->network->fields()));
  }
  batch.put(Space::kEngine, std::string(kFieldPlanKey), encode_plan(impl_->network->fields()));
  batch.put(Space::kEngine, std::string(kOrderKey), encode_order(impl_->order, impl_->next_sequence));
}

void Engine::saved() {
  impl_->dropped_keys.clear();
  for (Lane& lane : impl_->lanes) {
    for (RuleRuntime& rule : lane.rules()) rule.clear_changes();
  }
}

Result<Engine::Restored> Engine::restore(state::StateBackend& backend, const DecodeAgain& decode_again) {
  using state::Space;
  Restored restored;
  auto plan_record = backend.get(Space::kEngine, kFieldPlanKey);
  if (!plan_record) return plan_record.error();
  if (!*plan_record) return restored;  // nothing was ever saved
  auto plan = StoredPlan::decode(**plan_record, impl_->network->fields());
  if (!plan) return plan.error();
  auto order = backend.get(Space::kEngine, kOrderKey);
  if (!order) return order.error();
  if (!*order) return error(Errc::kCorrupt, "stored watermarks are missing");
  CEPD_TRY(decode_order(**order, impl_->order, impl_->next_sequence));

  boost::unordered_flat_map<std::string, std::uint32_t> by_prefix;
  const auto& rules = impl_->network->rules().rules;
  for (std::uint32_t i = 0; i < rules.size(); ++i) by_prefix.emplace(partial_prefix(rules[i]), i);
  CEPD_TRY(backend.scan(Space::kPartial, {}, [&](std::string_view stored_key, std::string_view record) -> Status {
    const auto rule = by_prefix.find(std::string(stored_key.substr(0, kPartialPrefixBytes)));
    if (rule == by_prefix.end()) {
      impl_->dropped_keys.emplace_back(stored_key);
      ++restored.dropped;
      return {};
    }
    auto key = decode_key(record, *plan, impl_->network->automaton(rule->second));
    if (!key) return std::move(key).error();
    const std::size_t lane = lane_of(rules[rule->second].name, (*key)->id, impl_->lanes.size());
    impl_->lanes[lane].put(rule->second, std::move(*key));
    ++restored.keys;
    return {};
  }));
  CEPD_TRY(backend.scan(Space::kPending, {}, [&](std::string_view, std::string_view record) -> Status {
    auto event = decode_waiting(record, impl_->network->fields());
    if (!event) return std::move(event).error();
    impl_->order.restore_waiting(decode_again(**event, type_name(**event, impl_->network->fields())));
    ++restored.waiting;
    return {};
  }));
  return restored;
}

void Engine::set_trace(const std::string& name, Trace* trace) {
  CEPD_CHECK(impl_->lanes.size() == 1);
  auto& rules = impl_->lanes.front().rules();
  const auto rule =
      std::find_if(rules.begin(), rules.end(), [&](const RuleRuntime& each) { return each.rule().name == name; });
  CEPD_CHECK(rule != rules.end());
  rule->set_trace(trace);
}

std::vector<RuleCounts> Engine::counts() const {
  std::vector<RuleCounts> counts;
  for (const RuleRuntime& rule : impl_->lanes.front().rules()) counts.push_back(rule.counts());
  for (std::size_t lane = 1; lane < impl_->lanes.size(); ++lane) {
    for (std::size_t i = 0; i < counts.size(); ++i) counts[i] += impl_->lanes[lane].rules()[i].counts();
  }
  return counts;
}

}  // namespace cepd::engine
