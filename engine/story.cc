#include "engine/story.h"

#include <algorithm>

#include "engine/evaluator.h"

namespace cepd::engine {

namespace plan = dsl::plan;

namespace {

constexpr std::size_t kMostKept = 20;
constexpr std::size_t kMostReported = 5;

std::string identity(std::span<const Bound> bound) {
  std::string out;
  for (const Bound& each : bound) {
    out.append(reinterpret_cast<const char*>(&each.event->sequence), sizeof each.event->sequence);
    out.append(reinterpret_cast<const char*>(&each.element), sizeof each.element);
  }
  return out;
}

bool same_events(std::span<const Bound> a, std::span<const Bound> b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const Bound& x, const Bound& y) {
    return x.element == y.element && x.event->sequence == y.event->sequence;
  });
}

}  // namespace

void TriedList::add(Tried tried) {
  const auto same = [&](const Tried& other) {
    return other.element == tried.element && other.event->sequence == tried.event->sequence;
  };
  // Several ways may lead to the same element.
  if (!last.empty() ? same(last.back()) : std::any_of(first.begin(), first.end(), same)) return;
  ++count;
  if (first.size() < kMostKept) {
    first.push_back(std::move(tried));
    return;
  }
  last.push_back(std::move(tried));
  if (last.size() > kMostKept) last.pop_front();
}

std::vector<Tried> TriedList::all() const {
  std::vector<Tried> out = first;
  out.insert(out.end(), last.begin(), last.end());
  return out;
}

Story::Story(const nfa::Network& network, std::size_t rule, KeyFilter wanted, EventTime until)
    : automaton_(network.automaton(rule)), wanted_(std::move(wanted)), until_(until) {}

void Story::begin_chapter() {
  settle();
  best_ended_.reset();
  best_last_.reset();
  told_ = {};
}

// ---- the input ----

void Story::without_key(const EventPtr& event) {
  if (event->time > until_) return;
  if (told_.without_key_count++ < kMostKept) told_.without_key.push_back(event);
}

void Story::filtered(std::span<const Value> key, const EventPtr& event) {
  const bool wanted = wanted_(key);
  told_.any_event = told_.any_event || wanted;
  if (!wanted || event->time > until_) return;
  if (told_.filtered_count++ < kMostKept) told_.filtered.push_back(event);
}

void Story::event(std::span<const Value> key, const Offer& offer) {
  settle();
  now_ = offer.event()->time;
  const bool wanted = wanted_(key);
  told_.any_event = told_.any_event || wanted;
  listening_ = wanted && now_ <= until_;
  if (!listening_) return;
  events_.push_back(offer.event());
  for (nfa::ElementSet rest = offer.elements; rest != 0; rest &= rest - 1) {
    ++told_.offered[static_cast<plan::ElementId>(__builtin_ctzll(rest))];
  }
}

void Story::deadline(std::span<const Value> key, EventTime now) {
  settle();
  now_ = now;
  listening_ = wanted_(key) && now_ <= until_;
}

// ---- partial matches ----

PartialStory& Story::of(std::span<const Bound> bound) {
  PartialStory& partial = partial_[identity(bound)];
  if (partial.bound.empty()) partial.bound.assign(bound.begin(), bound.end());
  return partial;
}

PartialStory& Story::of(const Run& run) {
  PartialStory& partial = of(run.bound);
  if (!partial.run) partial.run = run;
  return partial;
}

void Story::bound(const Run& run) {
  if (!listening_) return;
  const bool is_new = partial_.count(identity(run.bound)) == 0;
  PartialStory& partial = of(run);
  const std::string before = identity(std::span(run.bound).first(run.bound.size() - 1));
  moved_now_.insert(before);
  const auto grown_from = partial_.find(before);
  if (!is_new || grown_from == partial_.end()) return;
  // What has failed so far to take the match on from here: the event just bound may be among it.
  const nfa::ElementSet next = may_follow(run);
  for (const Tried& tried : grown_from->second.tried.all()) {
    if ((next & nfa::element_bit(tried.element)) != 0) partial.tried.add(tried);
  }
}

/// The elements that may take the next event.
nfa::ElementSet Story::may_follow(const Run& run) const {
  const nfa::State& state = automaton_.states[static_cast<std::size_t>(run.state)];
  if (run.count < state.min) return state.joins() ? state.elements & ~run.members : state.elements;
  nfa::ElementSet elements = run.count < state.max ? state.elements : 0;
  for (const nfa::Edge& edge : state.edges) {
    if ((edge.branches & run.branches) != 0) elements |= edge.elements;
  }
  return elements;
}

void Story::refused(const Run& run, plan::ElementId element, const EventPtr& event) {
  if (!listening_) return;
  (run.bound.empty() ? told_.at_start : of(run).tried)
      .add({Tried::Failed::kCondition, element, nullptr, event, run.bound.size()});
}

void Story::out_of_bounds(const Run& run, const nfa::Edge& edge, const Offer& offer) {
  const nfa::ElementSet elements = edge.elements & offer.elements;
  if (!listening_ || elements == 0) return;
  const bool early = offer.event()->time < saturating_add(run.last_time, edge.link.after);
  of(run).tried.add({early ? Tried::Failed::kTooEarly : Tried::Failed::kTooLate,
                     static_cast<plan::ElementId>(__builtin_ctzll(elements)), &edge, offer.event(), run.bound.size()});
}

void Story::close(const Run& run, plan::ElementId by, const EventPtr& event) {
  if (listening_ && !run.bound.empty()) of(run).closed = Bound{by, event.get()};
}

void Story::forbidden(const Run& run, plan::ElementId by, const EventPtr& event) { close(run, by, event); }
void Story::until(const Run& run, plan::ElementId by, const EventPtr& event) { close(run, by, event); }

void Story::end(PartialStory& partial, Fate fate, EventTime at) {
  if (partial.ended != kMaxTime) return;
  partial.fate = fate;
  partial.ended = at;
  ended_now_.push_back(identity(partial.bound));
}

void Story::unless(const Run& run, std::size_t clause, const EventPtr& event) {
  if (!listening_) return;
  PartialStory& partial = of(run);
  partial.by = event;
  partial.clause = clause;
  end(partial, Fate::kUnless, event->time);
}

void Story::over(const Run& run, const EventPtr& event) {
  if (!listening_) return;
  PartialStory& partial = of(run);
  partial.by = event;
  const bool closed = partial.closed && partial.closed->event->sequence == event->sequence;
  end(partial, closed ? Fate::kClosed : Fate::kNext, event->time);
}

void Story::expired(const Run& run, bool by_ttl) {
  if (listening_) end(of(run), by_ttl ? Fate::kTtl : Fate::kExpired, run.due);
}

void Story::over_cap(const Run& run) {
  if (listening_) end(of(run), Fate::kCap, now_);
}

// ---- after a match ----

void Story::complete(const Candidate& candidate) {
  if (listening_) of(candidate.bound).complete = true;
}

/// What completes with its last event is over before HAVING and the policy see it: theirs is the word that counts.
void Story::by_having(const Candidate& candidate) {
  if (!listening_) return;
  PartialStory& partial = of(candidate.bound);
  end(partial, Fate::kHaving, candidate.time);
  partial.fate = Fate::kHaving;
}

void Story::by_policy(std::span<const Bound> dropped, std::span<const Bound> taken) {
  const auto found = partial_.find(identity(dropped));
  if (!listening_ || found == partial_.end()) return;
  end(found->second, Fate::kPolicy, now_);
  found->second.fate = Fate::kPolicy;
  found->second.taken.assign(taken.begin(), taken.end());
}

void Story::reported(std::span<const Bound> bound, const Match& match) {
  if (!listening_) return;
  matches_now_.emplace_back(std::vector(bound.begin(), bound.end()), match.id);
  if (match.kind == MatchKind::kMatch) {
    reported_firsts_.insert(bound.front().event->sequence);
    end(of(bound), Fate::kMatch, match.time);
  }
  ++(match.kind == MatchKind::kMatch ? told_.match_count : told_.timeout_count);
  told_.reported.push_back({match.id, match.kind, match.time, match.suppressed, {bound.begin(), bound.end()}});
  if (told_.reported.size() > kMostReported) told_.reported.pop_front();
}

// ---- what is told ----

/// A first event that gave a match did not fail.
bool Story::reported_first(const PartialStory& partial) const {
  return reported_firsts_.count(partial.bound.front().event->sequence) != 0;
}

/// Complete ones before all others; then by place, by number of events, and the later story, which is better known.
bool Story::further(const PartialStory& a, const PartialStory& b) const {
  if (a.complete != b.complete) return a.complete;
  if (!a.complete) {
    const auto place_a = Evaluator::place(*a.run, automaton_), place_b = Evaluator::place(*b.run, automaton_);
    if (place_a != place_b) return place_a > place_b;
  }
  if (a.bound.size() != b.bound.size()) return a.bound.size() > b.bound.size();
  return a.bound.front().event->sequence >= b.bound.front().event->sequence;
}

/// Whatever was to be told of what ended at the event or deadline before this one has been told.
void Story::settle() {
  for (const std::string& id : ended_now_) {
    auto node = partial_.extract(id);
    PartialStory& partial = node.mapped();
    for (const auto& [bound, match] : matches_now_) {
      if (same_events(bound, partial.taken)) partial.taken_id = match;
    }
    // What went on with the event is told by what it became.
    if (moved_now_.count(id) == 0 && !reported_first(partial)) keep_ended(std::move(partial));
  }
  ended_now_.clear();
  moved_now_.clear();
  matches_now_.clear();
}

void Story::keep_ended(PartialStory&& partial) {
  if (!best_last_ || partial.ended > best_last_->ended ||
      (partial.ended == best_last_->ended && further(partial, *best_last_))) {
    best_last_ = partial;
  }
  if (!best_ended_ || further(partial, *best_ended_)) best_ended_ = std::move(partial);
}

Story::Told Story::tell() {
  settle();
  Told told = told_;
  const bool whole = until_ == kMaxTime;
  const PartialStory* best = nullptr;
  if (whole && best_ended_) best = &*best_ended_;
  if (!whole && best_last_ && best_last_->ended == until_) best = &*best_last_;
  for (const auto& [id, partial] : partial_) {
    if (reported_first(partial)) continue;
    if (best == nullptr || further(partial, *best)) best = &partial;
  }
  told.under_way = best != nullptr;
  if (best == nullptr && best_last_) best = &*best_last_;
  told.furthest = best;
  return told;
}

}  // namespace cepd::engine
