#include "engine/run_index.h"

#include <algorithm>
#include <functional>

namespace cepd::engine {

using nfa::element_bit;

RunIndex::RunIndex(const nfa::LookBack& look_back, const FieldPlan& fields, const Runs& runs)
    : look_back_(look_back), fields_(fields), states_(look_back.states.size()) {
  places_.reserve(runs.size());
  for (const Run& run : runs) add(run);
}

/// Of a state without equality look-back all runs are in one chain.
std::uint64_t RunIndex::bucket_of(std::size_t state, std::uint64_t value_hash) {
  return (value_hash + state + 1) * 0x9E3779B97F4A7C15;
}

void RunIndex::add(const Run& run) {
  const auto at = static_cast<std::uint32_t>(places_.size());
  Place& place = places_.emplace_back();
  place.state = static_cast<std::uint16_t>(run.state);
  InState& state = states_[place.state];
  ++state.runs;
  if (const auto& equal = look_back_.states[place.state].equal) {
    const nfa::Scope scope{nullptr, run.bound, {}, {}, &fields_};
    const Value value = nfa::read_field(equal->of, scope);
    place.kind = family(value);
    ++state.by_kind[static_cast<std::size_t>(place.kind)];
    place.chained = !value.is_null();
    if (place.chained) place.bucket = bucket_of(place.state, equality_hash(value));
  } else {
    place.chained = true;
    place.bucket = bucket_of(place.state, 0);
  }
  if (place.chained) link(at);
  joined(run.set.count());
  set_due(at, run.due);
}

void RunIndex::link(std::uint32_t at) {
  const auto [first, fresh] = chains_.try_emplace(places_[at].bucket, at);
  if (fresh) return;
  places_[at].next = first->second;
  places_[first->second].before = at;
  first->second = at;
}

void RunIndex::unlink(const Place& place) {
  if (place.next != kNone) places_[place.next].before = place.before;
  if (place.before != kNone) {
    places_[place.before].next = place.next;
  } else if (place.next != kNone) {
    chains_[place.bucket] = place.next;
  } else {
    chains_.erase(place.bucket);
  }
}

void RunIndex::remove(std::size_t at, const Run& run) {
  set_due(at, kMaxTime);
  const Place gone = places_[at];
  InState& state = states_[gone.state];
  --state.runs;
  --state.by_kind[static_cast<std::size_t>(gone.kind)];
  count_ -= std::min(count_, run.set.count());
  if (gone.chained) unlink(gone);
  const Place last = places_.back();
  places_.pop_back();
  if (at == places_.size()) return;
  const auto place = static_cast<std::uint32_t>(at);
  places_[at] = last;
  if (last.due_slot != kNone) heap_[last.due_slot].place = place;
  if (!last.chained) return;
  if (last.next != kNone) places_[last.next].before = place;
  if (last.before != kNone) {
    places_[last.before].next = place;
  } else {
    chains_[last.bucket] = place;
  }
}

void RunIndex::set_due(std::size_t at, EventTime due) {
  const std::uint32_t slot = places_[at].due_slot;
  if (due == kMaxTime) {
    if (slot == kNone) return;
    places_[at].due_slot = kNone;
    heap_.erase(slot, placed());
  } else if (slot == kNone) {
    heap_.push({due, static_cast<std::uint32_t>(at)}, placed());
  } else if (heap_[slot].time != due) {
    heap_[slot].time = due;
    heap_.moved(slot, placed());
  }
}

const std::vector<std::uint32_t>& RunIndex::take_due(EventTime now) {
  found_.clear();
  while (first_due() <= now && !heap_.empty()) {
    found_.push_back(heap_.front().place);
    set_due(found_.back(), kMaxTime);
  }
  std::sort(found_.begin(), found_.end(), std::greater<>());
  return found_;
}

const std::vector<std::uint32_t>& RunIndex::find(const Offer& offer, nfa::EvalErrors& errors) {
  found_.clear();
  for (std::size_t i = 0; i < states_.size(); ++i) {
    if (states_[i].runs != 0) find_in_state(i, offer, errors);
  }
  std::sort(found_.begin(), found_.end(), std::greater<>());
  // An event may be of several elements.
  found_.erase(std::unique(found_.begin(), found_.end()), found_.end());
  return found_;
}

void RunIndex::find_in_state(std::size_t state, const Offer& offer, nfa::EvalErrors& errors) {
  const nfa::LookBack::AtState& ahead = look_back_.states[state];
  if (!ahead.equal) {
    if (ahead.at_next || offer.unless != 0 || (offer.elements & ahead.moved_by) != 0) find_chain(bucket_of(state, 0));
    return;
  }
  std::uint64_t unless = offer.unless;
  for (const auto& [clause, tested] : ahead.equal->unless) unless &= ~(std::uint64_t{1} << clause);
  if (unless != 0) return find_all(state);
  for (const auto& [element, tested] : ahead.equal->elements) {
    if ((offer.elements & element_bit(element)) != 0) find_equal(state, tested, *offer.event(), errors);
  }
  for (const auto& [clause, tested] : ahead.equal->unless) {
    if ((offer.unless >> clause & 1) != 0) find_equal(state, tested, *offer.event(), errors);
  }
}

void RunIndex::find_equal(std::size_t state, const dsl::plan::FieldRef& tested, const Event& event,
                          nfa::EvalErrors& errors) {
  const Value value = nfa::read_property(tested, event, fields_);
  if (value.is_null()) return;
  const InState& in = states_[state];
  const auto of_kind = [&](Kind kind) { return in.by_kind[static_cast<std::size_t>(kind)]; };
  errors.count += in.runs - of_kind(family(value)) - of_kind(Kind::kNull);
  find_chain(bucket_of(state, equality_hash(value)));
}

void RunIndex::find_chain(std::uint64_t bucket) {
  const auto first = chains_.find(bucket);
  if (first == chains_.end()) return;
  for (std::uint32_t at = first->second; at != kNone; at = places_[at].next) found_.push_back(at);
}

void RunIndex::find_all(std::size_t state) {
  for (std::uint32_t at = 0; at < places_.size(); ++at) {
    if (places_[at].state == state) found_.push_back(at);
  }
}

}  // namespace cepd::engine
