#include "tests/plain/rule_state.h"

#include <algorithm>
#include <set>

#include "tests/plain/after_match.h"
#include "tests/plain/report.h"

namespace cepd::plain {

namespace plan = dsl::plan;

bool RuleState::KeyLess::operator()(const std::vector<Value>& a, const std::vector<Value>& b) const {
  for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
    if (const int order = key_order(a[i], b[i]); order != 0) return order < 0;
  }
  return false;
}

RuleState::RuleState(const nfa::Network& network, std::uint32_t index, Options options)
    : network_(network), options_(options), evaluator_(network, index, options.state_ttl) {
  counts_.rule = rule().name;
}

/// What the event is to each key that it gives.
std::map<std::vector<Value>, Offer, RuleState::KeyLess> RuleState::offers(const nfa::RuleInput& input,
                                                                          const EventPtr& event) {
  Arena scratch;
  nfa::EvalErrors errors;
  const nfa::Scope scope{event.get(), {}, {}, {}, &network_.fields()};
  const auto passes_from = [&](const nfa::Entry& entry) {
    return !input.has_from || std::any_of(input.from.begin(), input.from.end(), [&](const plan::EventTest* from) {
      return (!entry.of_from || nfa::same_fields(from->key, entry.key)) &&
             nfa::holds(from->conditions, scope, scratch, errors);
    });
  };

  std::map<std::vector<Value>, Offer, KeyLess> out;
  bool any_key = false;
  for (const nfa::Entry& entry : input.entries) {
    std::vector<Value> key;
    for (const plan::FieldRef& ref : entry.key) key.push_back(nfa::read_property(ref, *event, network_.fields()));
    const bool missing = std::any_of(key.begin(), key.end(),
                                     [](const Value& value) { return value.is_null() || value.kind() == Kind::kJson; });
    if (missing) continue;
    any_key = true;
    const bool is_input = entry.input && passes_from(entry);
    if (!is_input && entry.unless == 0) continue;
    Offer& offer = out[key];
    offer.event = event;
    offer.input = offer.input || is_input;
    offer.unless |= entry.unless;
    // Elements take nothing from an event that is no input.
    if (is_input) offer.elements |= entry.elements;
  }
  if (!any_key) ++counts_.missing_key;
  return out;
}

void RuleState::handle(const nfa::RuleInput& input, const EventPtr& event, const Report& report) {
  for (const auto& [key, offer] : offers(input, event)) {
    auto place = keys_.find(key);
    if (place == keys_.end()) {
      if ((offer.elements & evaluator_.start_elements()) == 0) continue;
      auto fresh = std::make_unique<KeyState>();
      for (const Value& value : key) fresh->key.push_back(value.copied_to(fresh->arena));
      const std::vector<Value> own = fresh->key;
      place = keys_.emplace(own, std::move(fresh)).first;
    }
    KeyState& state = *place->second;
    finish(state, evaluator_.advance(state, offer), {}, report);
    keep_under_cap(state);
    if (state.empty()) keys_.erase(place);
  }
}

EventTime RuleState::due_of(const KeyState& state) const {
  EventTime due = kMaxTime;
  for (const Run& run : state.runs) due = std::min(due, run.due);
  for (const auto* acted : {&state.acted, &state.acted_on_timeout}) {
    if (rule().limit && !acted->empty()) due = std::min(due, saturating_add(acted->front(), rule().limit->per));
  }
  return due;
}

std::optional<EventTime> RuleState::earliest_due() const {
  EventTime due = kMaxTime;
  for (const auto& [key, state] : keys_) due = std::min(due, due_of(*state));
  return due == kMaxTime ? std::nullopt : std::optional(due);
}

void RuleState::fire(EventTime now, const Report& report) {
  for (auto place = keys_.begin(); place != keys_.end();) {
    KeyState& state = *place->second;
    if (due_of(state) <= now) {
      std::vector<Run> expired;
      std::vector<Candidate> completed = evaluator_.expire(state, now, expired);
      finish(state, std::move(completed), std::move(expired), report);
      for (auto* acted : {&state.acted, &state.acted_on_timeout}) {
        while (!acted->empty() && saturating_add(acted->front(), rule().limit->per) <= now) acted->pop_front();
      }
    }
    place = state.empty() ? keys_.erase(place) : std::next(place);
  }
}

/// HAVING, AFTER MATCH, LIMIT, in this order; then time-outs of what is left of the expired runs.
void RuleState::finish(KeyState& state, std::vector<Candidate> completed, std::vector<Run> expired,
                       const Report& report) {
  for (const Candidate& candidate : completed) {
    if (!rule().on_timeout) break;
    const auto of_first = [&](const Run& run) { return run.first().sequence == candidate.first().sequence; };
    for (auto* runs : {&state.runs, &expired}) {
      for (Run& run : *runs) run.first_completed = run.first_completed || of_first(run);
    }
    std::erase_if(state.expired, of_first);
  }
  counts_.by_having += std::erase_if(
      completed, [&](const Candidate& candidate) { return !having_holds(network_, rule(), state, candidate.bound); });
  const Taken taken = take_matches(rule(), std::move(completed), state.runs, expired);
  counts_.by_policy += taken.dropped;
  for (const Candidate& each : taken.matches) report_match(state, MatchKind::kMatch, each.bound, each.time, report);
  if (rule().on_timeout) report_timeouts(state, std::move(expired), report);
}

void RuleState::report_match(KeyState& state, MatchKind kind, const std::vector<Bound>& bound, EventTime time,
                             const Report& report) {
  const bool timeout = kind == MatchKind::kTimeout;
  const bool suppressed =
      rule().limit && !within_limit(*rule().limit, time, timeout ? state.acted_on_timeout : state.acted);
  ++(timeout ? counts_.timeouts : counts_.matches);
  if (suppressed) ++counts_.suppressed;
  report(make_match(kind, network_, rule(), bound, time, suppressed));
}

/// A first event leaves a time-out when the last of its partial matches was ended by a bound; of all that bounds ended,
/// the one that got furthest is reported.
void RuleState::report_timeouts(KeyState& state, std::vector<Run> expired, const Report& report) {
  std::set<std::uint64_t> ended_now, live;
  for (Run& run : expired) {
    if (run.first_completed) continue;
    ended_now.insert(run.first().sequence);
    state.expired.push_back(std::move(run));
  }
  for (const Run& run : state.runs) live.insert(run.first().sequence);
  std::map<std::uint64_t, std::vector<const Run*>> over;
  for (const Run& run : state.expired) {
    if (live.count(run.first().sequence) == 0) over[run.first().sequence].push_back(&run);
  }
  for (const auto& [first, runs] : over) {
    if (ended_now.count(first) == 0) continue;  // the last one was dropped
    EventTime time = kMinTime;
    for (const Run* run : runs) time = std::max(time, run->due);
    report_match(state, MatchKind::kTimeout, evaluator_.furthest(runs).bound, time, report);
  }
  std::erase_if(state.expired, [&](const Run& run) { return over.count(run.first().sequence) != 0; });
}

void RuleState::keep_under_cap(KeyState& state) {
  while (state.runs.size() > options_.max_partial_matches) {
    const auto oldest = std::min_element(state.runs.begin(), state.runs.end(), [](const Run& a, const Run& b) {
      return a.first().sequence < b.first().sequence;
    });
    const std::uint64_t first = oldest->first().sequence;
    const auto of_first = [&](const Run& run) { return run.first().sequence == first; };
    counts_.over_cap += std::erase_if(state.runs, of_first);
    std::erase_if(state.expired, of_first);
  }
}

void RuleState::adopt(RuleState&& before) {
  keys_ = std::move(before.keys_);
  counts_ = before.counts_;
  for (auto place = keys_.begin(); place != keys_.end();) {
    KeyState& state = *place->second;
    if (!rule().on_timeout) {
      state.expired.clear();
      for (Run& run : state.runs) run.first_completed = false;
    }
    if (!rule().limit) {
      state.acted.clear();
      state.acted_on_timeout.clear();
    }
    place = state.empty() ? keys_.erase(place) : std::next(place);
  }
}

}  // namespace cepd::plain
