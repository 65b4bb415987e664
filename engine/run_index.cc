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
  if (look_back_.states[place.state].equal || look_back_.states[place.state].range) {
    add_by_value(at, run);
  } else {
    place.chained = true;
    place.bucket = bucket_of(place.state, 0);
  }
  if (place.chained) link(at);
  joined(run.set.count());
  set_due(at, run.due);
}

/// `known`: false where the value is not one to go by, and the run is to be looked at whatever comes.
Value RunIndex::value_of(const Run& run, const nfa::RangeLookBack& range, bool& known) {
  const nfa::Scope scope{nullptr, run.bound, {}, {}, &fields_};
  if (const auto* field = std::get_if<dsl::plan::FieldRef>(&range.of->node)) return nfa::read_field(*field, scope);
  nfa::EvalErrors errors;
  const Value value = nfa::evaluate(*range.of, scope, scratch_, errors);
  scratch_.release();
  // An error is counted for each event, and a computed text is gone.
  known = errors.count == 0 && !value.is_text();
  return known ? value : Value::null();
}

void RunIndex::add_by_value(std::uint32_t at, const Run& run) {
  Place& place = places_[at];
  const nfa::LookBack::AtState& ahead = look_back_.states[place.state];
  InState& state = states_[place.state];
  bool known = true;
  Value value;
  if (ahead.equal) {
    value = nfa::read_field(ahead.equal->of, nfa::Scope{nullptr, run.bound, {}, {}, &fields_});
  } else {
    value = value_of(run, *ahead.range, known);
  }
  place.kind = family(value);
  ++state.by_kind[static_cast<std::size_t>(place.kind)];
  if (ahead.range) {
    place.chained = !known;
    place.bucket = bucket_of(place.state, 0);
    place.ordered = !value.is_null();
    if (place.ordered) place.in_order = state.ordered.emplace(value, at);
  } else {
    place.chained = !value.is_null();
    if (place.chained) place.bucket = bucket_of(place.state, equality_hash(value));
  }
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
  if (gone.ordered) state.ordered.erase(gone.in_order);
  const Place last = places_.back();
  places_.pop_back();
  if (at == places_.size()) return;
  const auto place = static_cast<std::uint32_t>(at);
  places_[at] = last;
  if (last.due_slot != kNone) heap_[last.due_slot].place = place;
  if (last.ordered) last.in_order->second = place;
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
  if (!ahead.equal && !ahead.range) {
    if (ahead.at_next || offer.unless != 0 || (offer.elements & ahead.moved_by) != 0) find_chain(bucket_of(state, 0));
    return;
  }
  const nfa::LookedBackFrom& from = ahead.equal ? static_cast<const nfa::LookedBackFrom&>(*ahead.equal) : *ahead.range;
  std::uint64_t unless = offer.unless;
  for (const auto& [clause, tested] : from.unless) unless &= ~(std::uint64_t{1} << clause);
  if (unless != 0) return find_all(state);
  for (const auto& [element, tested] : from.elements) {
    if ((offer.elements & element_bit(element)) != 0) find_by_value(state, tested, *offer.event(), errors);
  }
  for (const auto& [clause, tested] : from.unless) {
    if ((offer.unless >> clause & 1) != 0) find_by_value(state, tested, *offer.event(), errors);
  }
}

void RunIndex::find_by_value(std::size_t state, const dsl::plan::FieldRef& tested, const Event& event,
                             nfa::EvalErrors& errors) {
  const nfa::LookBack::AtState& ahead = look_back_.states[state];
  if (ahead.range) find_chain(bucket_of(state, 0));
  const Value value = nfa::read_property(tested, event, fields_);
  if (value.is_null()) return;
  const InState& in = states_[state];
  const auto of_kind = [&](Kind kind) { return in.by_kind[static_cast<std::size_t>(kind)]; };
  if (ahead.equal) {
    errors.count += in.runs - of_kind(family(value)) - of_kind(Kind::kNull);
    find_chain(bucket_of(state, equality_hash(value)));
    return;
  }
  // These have no order.
  const bool ordered = value.kind() != Kind::kBool && value.kind() != Kind::kJson;
  errors.count += in.runs - (ordered ? of_kind(family(value)) : 0) - of_kind(Kind::kNull);
  if (ordered) find_in_order(in.ordered, value, ahead.range->above);
}

/// Those with which the value makes the comparison true; equal ones are for the full test.
void RunIndex::find_in_order(const Ordered& ordered, const Value& value, bool above) {
  const Kind kind = family(value);
  if (above) {
    for (auto at = ordered.upper_bound(value); at != ordered.begin();) {
      --at;
      if (family(at->first) != kind) return;
      found_.push_back(at->second);
    }
    return;
  }
  for (auto at = ordered.lower_bound(value); at != ordered.end() && family(at->first) == kind; ++at) {
    found_.push_back(at->second);
  }
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
