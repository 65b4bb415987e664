#include "engine/engine.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "engine/engine_impl.h"

namespace cepd::engine {

namespace {

/// Matches that a lane keeps to itself inside a batch.
constexpr std::size_t kKeptMatches = 1024;

}  // namespace

// ---- the way of an event ----

void Engine::Impl::number(EventPtr& event) {
  // Only an event that still waits is stored, or decoded again after a reload, from its bytes.
  if (!options.keep_raw && !event->raw().empty()) event = with_raw(*event, {});
  event->sequence = next_sequence++;
}

EventPtr Engine::Impl::with_raw(const Event& event, std::string_view raw) {
  EventDraft draft(event);
  draft.raw = raw;
  return draft.build();
}

/// What can be handled takes its place at once, whenever it is handled: an event of a source that begins later must
/// not come before it with some numbers of lanes only.
void Engine::Impl::settle() {
  while (EventPtr event = order.next()) add_ready(std::move(event));
}

void Engine::Impl::add_ready(EventPtr event) {
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
void Engine::Impl::drain() {
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
void Engine::Impl::handle(EventPtr event) {
  if (top_level > 1) return handle_by_level(std::move(event));
  number(event);
  ++handled;
  Lane& lane = lanes.front();
  lane.fire_before(event->time, 0);
  lane.give(event, rules->dispatch.of(event->type), 0);
}

// ---- no rule reads what another makes: every lane goes through all that is ready, by itself ----

void Engine::Impl::give_lanes(EventTime watermark) {
  handled += ready.size();
  LaneBatch batch{std::exchange(ready, {}), watermark, next_step};
  ready.reserve(options.lane_batch);
  next_step = batch.end_step();
  time_given = watermark;
  threads->give(std::move(batch));
}

/// On the lane's thread.
std::vector<LaneMatch> Engine::Impl::work(LaneThreads& of, std::size_t index, const LaneBatch& batch) {
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

void Engine::Impl::handle_by_level(EventPtr event) {
  fire_due(event->time);
  ++handled;
  const nfa::TypeDispatch& dispatch = rules->dispatch.of(event->type);
  give(std::move(event), dispatch);
  for (std::uint32_t level = 1; level < top_level; ++level) handle_derived(level);
}

EventTime Engine::Impl::earliest_due() const {
  EventTime earliest = kMaxTime;
  for (const Lane& lane : lanes) earliest = std::min(earliest, lane.earliest());
  return earliest;
}

/// Everything that falls due before `limit`. Level by level: what a deadline makes is
/// handled before the deadlines of higher levels at the same time.
void Engine::Impl::fire_due(EventTime limit) {
  for (EventTime earliest = earliest_due(); earliest < limit; earliest = earliest_due()) {
    for (std::uint32_t level = 1; level <= top_level; ++level) {
      for (Lane& lane : lanes) lane.fire(earliest, level, 0);
      report();
      handle_derived(level);
    }
  }
}

/// The events that rules of `level` have made at this place; they have all been at work.
void Engine::Impl::handle_derived(std::uint32_t level) {
  for (EventPtr& event : derived.take(level)) {
    const nfa::TypeDispatch& dispatch = rules->dispatch.of_derived(event->type);
    give(std::move(event), dispatch);
  }
}

void Engine::Impl::give(EventPtr event, const nfa::TypeDispatch& dispatch) {
  number(event);
  for (Lane& lane : lanes) lane.give(event, dispatch, 0);
  report();
}

void Engine::Impl::report() {
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

// ---- the engine ----

Engine::Engine(std::shared_ptr<const nfa::Network> network, EngineOptions options, Handlers handlers)
    : impl_(std::make_unique<Impl>()) {
  impl_->options = options;
  impl_->handlers = std::move(handlers);
  impl_->make_rules(std::move(network));
  impl_->settle_since();
  impl_->number_plan();
  const Status reads = impl_->read_from(options.stored);
  CEPD_CHECK(reads.has_value());  // there is no field plan yet but its own
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

void Engine::push(EventPtr event, std::string_view raw, const MatchId& id, std::size_t most) {
  const PartitionId partition{event->position.source, event->position.partition};
  const EventTime watermark = impl_->order.watermark_of(partition);
  if (event->time >= watermark && !impl_->seen.add(partition, id, event->time, watermark, most)) {
    impl_->order.set_awake(partition);
    if (impl_->handlers.late) impl_->handlers.late(*event, DropReason::kDuplicate, raw);
    return;
  }
  push(std::move(event), raw);
}

void Engine::flush() { impl_->drain(); }

void Engine::set_awake(SourceId source, std::int32_t partition) { impl_->order.set_awake({source, partition}); }

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
Engine::SeenIdCounts Engine::seen_ids() const { return {impl_->seen.size(), impl_->seen.forgotten()}; }
std::size_t Engine::dropped_by_swap() const { return impl_->dropped_by_swap; }
const nfa::Network& Engine::network() const { return impl_->network(); }
std::uint64_t Engine::events() const { return impl_->handled; }

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

std::vector<RuleCounts> Engine::counted() const {
  if (impl_->threads) impl_->threads->wait();
  return impl_->counted();
}

std::vector<RuleCounts> Engine::counts() const {
  std::vector<RuleCounts> counts = counted();
  for (const Lane& lane : impl_->lanes) lane.add_partial_matches(counts, impl_->order.watermark());
  return counts;
}

}  // namespace cepd::engine
