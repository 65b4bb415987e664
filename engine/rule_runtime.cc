#include "engine/rule_runtime.h"

#include <algorithm>
#include <map>
#include <set>

#include "engine/after_match.h"
#include "engine/report.h"

namespace cepd::engine {

namespace plan = dsl::plan;

std::size_t lane_of(std::string_view rule_name, std::string_view key_id, std::size_t lanes) {
  if (lanes == 1) return 0;
  return hash_match_id(key_id.empty() ? rule_name : key_id).low % lanes;
}

RuleRuntime::RuleRuntime(std::shared_ptr<const nfa::Network> network, std::uint32_t index, const EngineOptions& options,
                         std::size_t lane)
    : network_(std::move(network)),
      index_(index),
      options_(options),
      lane_(lane),
      evaluator_(*network_, index, options.state_ttl) {
  const nfa::Automaton& automaton = evaluator_.automaton();
  for (const nfa::Edge& edge : automaton.start.edges) start_elements_ |= edge.elements;
  counts_.rule = rule().name;
}

/// One offer for each key that the event gives, in the order in which keys report.
std::vector<RuleRuntime::KeyOffer> RuleRuntime::offers(const nfa::RuleInput& input, const EventPtr& event,
                                                       Arena& scratch) {
  bool passes_from = !input.has_from;
  // Every lane sees the event; what does not belong to a key is counted by one.
  nfa::EvalErrors of_another_lane;
  nfa::EvalErrors& errors = lane_ == 0 ? evaluator_.errors() : of_another_lane;
  for (const plan::EventTest* from : input.from) {
    if (passes_from) break;
    const nfa::Scope scope{event.get(), {}, {}, {}, &network_->fields()};
    passes_from = nfa::holds(from->conditions, scope, scratch, errors);
  }

  std::vector<KeyOffer> out;
  bool any_key = false;
  for (const nfa::Entry& entry : input.entries) {
    KeyOffer offer;
    bool missing = false;
    for (const plan::FieldRef& ref : entry.key) {
      const Value value = nfa::read_property(ref, *event, network_->fields());
      missing = missing || value.is_null() || value.kind() == Kind::kJson;
      offer.key.push_back(value);
      append_canonical(offer.id, value);
    }
    if (missing) continue;
    any_key = true;
    if (lane_of(rule().name, offer.id, options_.lanes) != lane_) continue;
    offer.offer = {event, entry.elements, entry.unless, entry.input && passes_from};
    if (entry.input && !passes_from && trace_ != nullptr) trace_->filtered(offer.key, event);
    // Elements take nothing from an event that is no input.
    if (!offer.offer.input) offer.offer.elements = 0;
    if (!offer.offer.input && offer.offer.unless == 0) continue;
    const auto same = std::find_if(out.begin(), out.end(), [&](const KeyOffer& other) { return other.id == offer.id; });
    if (same == out.end()) {
      out.push_back(std::move(offer));
    } else {
      same->offer.elements |= offer.offer.elements;
      same->offer.unless |= offer.offer.unless;
      same->offer.input = same->offer.input || offer.offer.input;
    }
  }
  if (!any_key && lane_ == 0) {
    ++counts_.missing_key;
    if (trace_ != nullptr) trace_->without_key(event);
  }
  std::sort(out.begin(), out.end(),
            [](const KeyOffer& a, const KeyOffer& b) { return compare_keys(a.key, b.key) < 0; });
  return out;
}

/// Null when the event can neither start nor move anything for this key.
KeyState* RuleRuntime::find_or_add(const KeyOffer& offer) {
  if (const auto it = keys_.find(offer.id); it != keys_.end()) return it->second.get();
  if ((offer.offer.elements & start_elements_) == 0) return nullptr;
  auto state = std::make_unique<KeyState>();
  state->id = offer.id;
  for (const Value& value : offer.key) state->key.push_back(value.copied_to(state->arena));
  return keys_.emplace(offer.id, std::move(state)).first->second.get();
}

void RuleRuntime::handle(const nfa::RuleInput& input, const EventPtr& event, DueQueue& due, Arena& scratch,
                         const Report& report) {
  for (const KeyOffer& offer : offers(input, event, scratch)) {
    if (trace_ != nullptr) trace_->event(offer.key, offer.offer);
    KeyState* key = find_or_add(offer);
    if (key == nullptr) continue;
    std::vector<Candidate> completed;
    std::vector<Run> expired;
    const bool was_empty = key->runs.empty();
    evaluator_.advance(*key, offer.offer, completed, scratch);
    if (!was_empty || !key->runs.empty() || !completed.empty()) mark_changed(*key);
    finish(*key, completed, expired, due, scratch, report);
    keep_under_cap(*key);
    schedule(*key, due);
    erase_if_empty(*key);
  }
}

void RuleRuntime::fire(KeyState& key, EventTime now, DueQueue& due, Arena& scratch, const Report& report) {
  std::vector<Candidate> completed;
  std::vector<Run> expired;
  if (key.scheduled <= now) key.scheduled = kMaxTime;
  const std::size_t before = key.runs.size();
  if (trace_ != nullptr) trace_->deadline(key.key, now);
  evaluator_.expire(key, now, completed, expired);
  if (!completed.empty() || key.runs.size() != before) mark_changed(key);
  finish(key, completed, expired, due, scratch, report);
  if (rule().limit) {
    for (auto* acted : {&key.acted, &key.acted_on_timeout}) {
      while (!acted->empty() && saturating_add(acted->front(), rule().limit->per) <= now) {
        acted->pop_front();
        mark_changed(key);
      }
    }
  }
  schedule(key, due);
  erase_if_empty(key);
}

/// Sees to it that the queue names the time at which the first of the runs is due.
void RuleRuntime::schedule(KeyState& key, DueQueue& due) {
  if (key.earliest_due >= key.scheduled) return;
  key.scheduled = key.earliest_due;
  due.add(key.scheduled, index_, key);
}

/// HAVING, AFTER MATCH, LIMIT, in this order; then time-outs of what is left of the expired runs.
void RuleRuntime::finish(KeyState& key, std::vector<Candidate>& completed, std::vector<Run>& expired, DueQueue& due,
                         Arena& scratch, const Report& report) {
  if (!completed.empty()) {
    counts_.by_having += std::erase_if(completed, [&](const Candidate& candidate) {
      if (trace_ != nullptr) trace_->complete(candidate);
      if (having_holds(*network_, rule(), key, candidate.bound, scratch, evaluator_.errors())) return false;
      if (trace_ != nullptr) trace_->by_having(candidate);
      return true;
    });
    const auto report_one = [&](const Candidate& candidate) {
      report_match(key, MatchKind::kMatch, candidate.bound, candidate.time, due, report);
    };
    counts_.by_policy += take_matches(rule(), completed, key.runs, expired, report_one, trace_);
  }
  if (rule().on_timeout) report_timeouts(key, expired, due, report);
}

void RuleRuntime::report_match(KeyState& key, MatchKind kind, const std::vector<Bound>& bound, EventTime time,
                               DueQueue& due, const Report& report) {
  const bool timeout = kind == MatchKind::kTimeout;
  bool suppressed = false;
  if (rule().limit) {
    suppressed = !within_limit(*rule().limit, time, timeout ? key.acted_on_timeout : key.acted);
    if (!suppressed) due.add(saturating_add(time, rule().limit->per), index_, key);
  }
  ++(timeout ? counts_.timeouts : counts_.matches);
  if (suppressed) ++counts_.suppressed;
  MatchPtr match = make_match(kind, *network_, rule(), key, bound, time, suppressed, evaluator_.errors());
  if (trace_ != nullptr) trace_->reported(bound, *match);
  report(std::move(match));
}

/// A first event leaves a time-out when the last of its partial matches was ended by a bound; of all that bounds ended,
/// the one that got furthest is reported.
void RuleRuntime::report_timeouts(KeyState& key, std::vector<Run>& expired, DueQueue& due, const Report& report) {
  if (expired.empty() && key.expired.empty()) return;
  std::set<std::uint64_t> ended_now;
  for (Run& run : expired) {
    if (run.first_completed) continue;
    ended_now.insert(run.first().sequence);
    key.expired.push_back(std::move(run));
  }
  std::set<std::uint64_t> live;
  for (const Run& run : key.runs) live.insert(run.first().sequence);
  std::map<std::uint64_t, std::vector<const Run*>> over;
  for (const Run& run : key.expired) {
    if (live.count(run.first().sequence) == 0) over[run.first().sequence].push_back(&run);
  }
  if (over.empty()) return;
  mark_changed(key);
  for (const auto& [first, runs] : over) {
    if (ended_now.count(first) == 0) continue;  // the last one was dropped
    EventTime time = kMinTime;
    for (const Run* run : runs) time = std::max(time, run->due);
    report_match(key, MatchKind::kTimeout, Evaluator::furthest(runs, evaluator_.automaton()).bound, time, due, report);
  }
  std::erase_if(key.expired, [&](const Run& run) { return over.count(run.first().sequence) != 0; });
}

void RuleRuntime::keep_under_cap(KeyState& key) {
  while (key.runs.size() > options_.max_partial_matches) {
    const auto oldest = std::min_element(key.runs.begin(), key.runs.end(), [](const Run& a, const Run& b) {
      return a.first().sequence < b.first().sequence;
    });
    const std::uint64_t first = oldest->first().sequence;
    const auto of_first = [&](const Run& run) { return run.first().sequence == first; };
    counts_.over_cap += std::erase_if(key.runs, [&](const Run& run) {
      if (of_first(run) && trace_ != nullptr) trace_->over_cap(run);
      return of_first(run);
    });
    std::erase_if(key.expired, of_first);
  }
}

void RuleRuntime::add_deadlines(KeyState& key, DueQueue& due) {
  key.scheduled = kMaxTime;
  key.earliest_due = kMaxTime;
  for (Run& run : key.runs) {
    evaluator_.set_due(run);
    key.earliest_due = std::min(key.earliest_due, run.due);
  }
  schedule(key, due);
  std::vector<EventTime> times;
  if (rule().limit) {
    for (const auto* acted : {&key.acted, &key.acted_on_timeout}) {
      for (const EventTime time : *acted) times.push_back(saturating_add(time, rule().limit->per));
    }
  }
  std::sort(times.begin(), times.end());
  times.erase(std::unique(times.begin(), times.end()), times.end());
  for (const EventTime time : times) due.add(time, index_, key);
}

void RuleRuntime::adopt(RuleRuntime&& before, DueQueue& due) {
  keys_ = std::move(before.keys_);
  changed_ = std::move(before.changed_);
  gone_ = std::move(before.gone_);
  counts_ = before.counts_;
  evaluator_.errors() = before.evaluator_.errors();
  std::vector<KeyState*> keys;
  for (auto& [id, key] : keys_) keys.push_back(key.get());
  for (KeyState* key : keys) {
    key->due_entries = 0;  // the queue starts anew with the new set of rules
    forget_limit(*key);
    add_deadlines(*key, due);
    erase_if_empty(*key);
  }
}

void RuleRuntime::put(std::unique_ptr<KeyState> restored, DueQueue& due) {
  std::string id = restored->id;
  KeyState& key = *keys_.emplace(std::move(id), std::move(restored)).first->second;
  forget_limit(key);
  add_deadlines(key, due);
  erase_if_empty(key);
}

/// The times that a LIMIT counted, where the rule has none any more.
void RuleRuntime::forget_limit(KeyState& key) {
  if (rule().limit || (key.acted.empty() && key.acted_on_timeout.empty())) return;
  key.acted.clear();
  key.acted_on_timeout.clear();
  mark_changed(key);
}

void RuleRuntime::mark_changed(KeyState& key) {
  if (!options_.track_changes || key.dirty) return;
  key.dirty = true;
  changed_.push_back(key.id);
}

void RuleRuntime::erase_if_empty(KeyState& key) {
  if (!key.empty() || key.due_entries > 0) return;
  if (key.stored) gone_.push_back(key.id);
  keys_.erase(std::string(key.id));
}

void RuleRuntime::clear_changes() {
  for (const std::string& id : changed_) {
    if (const auto it = keys_.find(id); it != keys_.end()) {
      it->second->dirty = false;
      it->second->stored = true;
    }
  }
  changed_.clear();
  gone_.clear();
}

RuleCounts& RuleCounts::operator+=(const RuleCounts& other) {
  matches += other.matches;
  timeouts += other.timeouts;
  by_having += other.by_having;
  by_policy += other.by_policy;
  suppressed += other.suppressed;
  over_cap += other.over_cap;
  missing_key += other.missing_key;
  expression_errors += other.expression_errors;
  partial_matches += other.partial_matches;
  return *this;
}

RuleCounts RuleRuntime::counts() const {
  RuleCounts counts = counts_;
  counts.expression_errors = evaluator_.errors().count;
  counts.partial_matches = 0;
  for (const auto& [id, key] : keys_) counts.partial_matches += key->runs.size();
  return counts;
}

}  // namespace cepd::engine
