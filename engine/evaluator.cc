#include "engine/evaluator.h"

#include <algorithm>
#include <tuple>

namespace cepd::engine {

namespace plan = dsl::plan;
using nfa::BranchSet;
using nfa::Completes;
using nfa::element_bit;
using nfa::ElementSet;
using plan::Contiguity;

namespace {

std::vector<Bound> copy_with_room(const std::vector<Bound>& bound) {
  std::vector<Bound> copy;
  copy.reserve(bound.size() + 1);
  copy = bound;
  return copy;
}

const plan::EventTest& test_of(const plan::Rule& rule, plan::ElementId element) {
  return rule.elements[static_cast<std::size_t>(element)].test;
}

}  // namespace

/// One way to take the event: `element` of state `to`, by `edge`, or as a further repeat or AND member where it is
/// none.
struct Evaluator::Take {
  nfa::StateId to{};
  plan::ElementId element{};
  const nfa::Edge* edge = nullptr;
  BranchSet branches = 0;  ///< of the run's state: those that take it
};

/// What one call of advance() works on.
struct Evaluator::Step {
  KeyState& state;
  const Offer& offer;
  std::vector<Candidate>& completed;
  Arena& scratch;
  std::vector<Run> after;                         // the runs that go on
  EventTime earliest_due = kMaxTime;              // of them
  boost::container::small_vector<Take, 4> takes;  // of the run at hand

  const Event& event() const { return *offer.event; }
};

Evaluator::Evaluator(const nfa::Network& network, std::size_t rule, std::optional<Micros> state_ttl)
    : network_(network),
      rule_(network.rules().rules[rule]),
      automaton_(network.automaton(rule)),
      bound_(rule_.within    ? rule_.within
             : rule_.bounded ? std::nullopt
                             : state_ttl) {}

// ---- conditions ----

bool Evaluator::accepts(const plan::EventTest& test, const Event& event, std::span<const Bound> bound,
                        const KeyState& state, Arena& scratch) {
  if (test.conditions.empty()) return true;
  const nfa::Scope scope{&event, bound, state.key, {}, &network_.fields()};
  return nfa::holds(test.conditions, scope, scratch, errors_);
}

/// The first of `elements` that accepts the event. `members`: of the AND, those bound so far.
std::optional<plan::ElementId> Evaluator::taker(ElementSet elements, const Run& run, ElementSet members, Step& step) {
  elements &= step.offer.elements;
  for (; elements != 0; elements &= elements - 1) {
    const auto id = static_cast<plan::ElementId>(__builtin_ctzll(elements));
    const plan::Element& element = rule_.elements[static_cast<std::size_t>(id)];
    const nfa::Scope scope{&step.event(), run.bound, step.state.key, {}, &network_.fields()};
    const auto joint_holds = [&](const plan::JointCondition& each) {
      return (each.others & ~members) != 0 || nfa::holds({&each.condition, 1}, scope, step.scratch, errors_);
    };
    if (accepts(element.test, step.event(), run.bound, step.state, step.scratch) &&
        std::all_of(element.joint.begin(), element.joint.end(), joint_holds)) {
      return id;
    }
    if (trace_ != nullptr) trace_->refused(run, id, step.offer.event);
  }
  return std::nullopt;
}

bool Evaluator::until_accepts(const nfa::State& state, const Run& run, Step& step) {
  if (!state.until || (step.offer.elements & element_bit(*state.until)) == 0) return false;
  if (!accepts(test_of(rule_, *state.until), step.event(), run.bound, step.state, step.scratch)) return false;
  // Before the repeat's first event it ends nothing: it is only not taken.
  if (trace_ != nullptr && !run.bound.empty() && &state == &state_of(run)) {
    trace_->until(run, *state.until, step.offer.event);
  }
  return true;
}

/// The NOTs among `guards` that accept the event.
ElementSet Evaluator::accepting_guards(const Run& run, ElementSet guards, Step& step) {
  ElementSet accepting = 0;
  for (guards &= step.offer.elements & ~run.violated; guards != 0; guards &= guards - 1) {
    const auto index = static_cast<std::size_t>(__builtin_ctzll(guards));
    const auto within = automaton_.guard_within[index];
    if (within && step.event().time > saturating_add(run.last().time, *within)) continue;
    if (!accepts(rule_.elements[index].test, step.event(), run.bound, step.state, step.scratch)) continue;
    accepting |= ElementSet{1} << index;
    if (trace_ != nullptr) trace_->forbidden(run, static_cast<plan::ElementId>(index), step.offer.event);
  }
  return accepting;
}

/// An event that an UNLESS clause accepts ends the run, but for the ways in which the run binds the event itself.
bool Evaluator::unless_accepts(const Run& run, Step& step) {
  for (std::size_t i = 0; i < rule_.unless.size(); ++i) {
    if ((step.offer.unless >> i & 1) == 0) continue;
    if (!accepts(rule_.unless[i], step.event(), run.bound, step.state, step.scratch)) continue;
    if (trace_ != nullptr) trace_->unless(run, i, step.offer.event);
    return true;
  }
  return false;
}

// ---- moves ----

/// Fills step.takes. Returns the branches in which the run does not wait on without the event.
BranchSet Evaluator::find_takes(const Run& run, bool ends, Step& step) {
  const nfa::State& state = state_of(run);
  const EventTime time = step.event().time;
  const BranchSet going = run.branches & ~state.waiting;
  BranchSet moved = 0;
  BranchSet kept_back = 0;  // a GREEDY repeat could take the event: what follows it does not get it

  if (!ends && can_repeat(run) && time <= inside_until(run, state.inside)) {
    for (const ElementSet member : state.members) {
      if (state.joins() && (member & run.members) != 0) continue;
      if (const auto element = taker(member, run, run.members, step))
        step.takes.push_back({run.state, *element, nullptr, going});
    }
    if (!step.takes.empty() && state.again != Contiguity::kSkipTillAny) moved = going;
    if (!step.takes.empty() && state.greedy) kept_back = going;
  }
  if (run.count < state.min) return moved;
  for (const nfa::Edge& edge : state.edges) {
    const BranchSet open = edge.branches & going & ~kept_back;
    if (open == 0 || !edge_open(run, edge)) continue;
    if (time > edge_until(run, edge) || time < saturating_add(run.last().time, edge.link.after)) {
      if (trace_ != nullptr) trace_->out_of_bounds(run, edge, step.offer);
      continue;
    }
    const nfa::State& target = automaton_.states[static_cast<std::size_t>(edge.to)];
    if (until_accepts(target, run, step)) continue;
    const auto element = taker(edge.elements, run, 0, step);
    if (!element) continue;
    step.takes.push_back({edge.to, *element, &edge, open});
    if (edge.link.contiguity != Contiguity::kSkipTillAny) moved |= open;
    if (target.greedy) kept_back |= open;
  }
  return moved;
}

/// The run after the event, but for its list of events.
Run Evaluator::taken(const Run& run, const Take& take, const EventPtr& event) const {
  const nfa::State& state = automaton_.states[static_cast<std::size_t>(take.to)];
  Run next;
  next.state = take.to;
  next.groups = run.groups;
  next.first_completed = run.first_completed;
  if (take.edge == nullptr) {
    next.members = run.members;
    next.count = state.max == plan::kUnbounded ? std::min(run.count + 1, state.min) : run.count + 1;
  } else {
    next.groups.resize(automaton_.groups.size());
    for (std::size_t i = 0; i < next.groups.size(); ++i) {
      const bool enters = (take.edge->enters >> i & 1) != 0;
      if (!enters && (take.edge->repeats >> i & 1) == 0) continue;
      GroupProgress& group = next.groups[i];
      group.repeats = enters ? 1 : std::min(group.repeats + 1, automaton_.groups[i].max_counted);
      if (automaton_.groups[i].within) group.start = event->time;
    }
  }
  next.members |= element_bit(take.element);
  BranchSet agreeing = 0;
  for (BranchSet in = take.branches; in != 0; in &= in - 1) {
    const auto branch = static_cast<std::size_t>(__builtin_ctzll(in));
    agreeing |= take.edge == nullptr ? state.branches[branch].again : take.edge->opens[branch];
  }
  for (std::size_t i = 0; i < state.branches.size(); ++i) {
    if ((agreeing >> i & 1) == 0) continue;
    const auto& when = state.branches[i].when;
    const bool open = std::all_of(when.begin(), when.end(), [&](const nfa::CountTest& test) {
      const std::uint32_t repeats = next.groups[static_cast<std::size_t>(test.group)].repeats;
      return repeats >= test.min && repeats <= test.max;
    });
    if (open) next.branches |= BranchSet{1} << i;
  }
  return next;
}

/// A run that has just bound the event: it may be complete, and it may go on.
void Evaluator::arrive(Run run, Step& step) {
  if (trace_ != nullptr) trace_->bound(run);
  const nfa::State& state = state_of(run);
  bool complete = false;
  for (std::size_t i = 0; i < state.branches.size(); ++i) {
    const nfa::Branch& branch = state.branches[i];
    if ((run.branches >> i & 1) == 0 || !may_end(run, branch)) continue;
    const bool full = branch.accept->completes == Completes::kRepeatEnd && branch.accept->greedy == run.state &&
                      run.count == state.max;
    if (full) run.branches &= ~(BranchSet{1} << i);
    complete = complete || full || branch.accept->completes == Completes::kNow;
  }
  if (complete) step.completed.push_back({run.bound, step.event().time});
  keep(std::move(run), step);
}

/// Keeps the run unless neither an event nor time can make a match of it any more.
void Evaluator::keep(Run run, Step& step) {
  const EventTime open = run.branches == 0 ? kMinTime : open_until(run);
  if (open < step.event().time) {
    if (trace_ != nullptr) trace_->over(run, step.offer.event);
    return;
  }
  set_due(run, open);
  step.earliest_due = std::min(step.earliest_due, run.due);
  step.after.push_back(std::move(run));
}

/// What the event completes although the run does not bind it: a last NEXT NOT, and a last GREEDY repeat that it ends.
/// Requires Run::adjacent as before the event. Returns the branches that this closes.
BranchSet Evaluator::complete_at(const Run& run, bool ends, ElementSet seen, BranchSet moved, Step& step) {
  const nfa::State& state = state_of(run);
  BranchSet closed = 0;
  bool complete = false;
  for (std::size_t i = 0; i < state.branches.size(); ++i) {
    const BranchSet bit = BranchSet{1} << i;
    const nfa::Branch& branch = state.branches[i];
    if ((run.branches & bit) == 0 || !may_end(run, branch)) continue;
    if (branch.accept->completes == Completes::kNextEvent) {
      // Its repeat or what may be left out goes on all the same.
      complete = complete || (run.adjacent && (branch.accept->guards & seen) == 0);
    } else if (branch.accept->completes == Completes::kRepeatEnd && (moved & bit) == 0) {
      const nfa::StateId greedy = branch.accept->greedy;
      const nfa::State& repeat = automaton_.states[static_cast<std::size_t>(greedy)];
      const bool misfit = run.adjacent && repeat.again == Contiguity::kStrict;
      if (greedy == run.state) {
        if (!run.ended && (ends || misfit)) closed |= bit;
        continue;
      }
      // It has taken nothing yet: only where its first event had to be this one does it end without any.
      const bool missed = std::any_of(state.edges.begin(), state.edges.end(), [&](const nfa::Edge& edge) {
        return edge.to == greedy && (edge.branches & bit) != 0 && edge.link.contiguity == Contiguity::kStrict;
      });
      if (run.adjacent && missed && (misfit || !rule_.within)) closed |= bit;
    }
  }
  if (complete || closed != 0) step.completed.push_back({run.bound, step.event().time});
  return closed;
}

/// Takes the event by every way that is open to the run, and keeps the run without it where it may be skipped.
void Evaluator::move(Run& run, Step& step) {
  const nfa::State& state = state_of(run);
  step.takes.clear();
  BranchSet moved = 0;
  bool ends = false;
  if (step.offer.input) {
    ends = !run.ended && until_accepts(state, run, step);
    // A NEXT NOT looks at the very next event whatever takes it; a THEN NOT only at events that nothing takes.
    if (run.adjacent) run.violated |= accepting_guards(run, state.guards & automaton_.next_guards, step);
    moved = find_takes(run, ends, step);
  }
  if (unless_accepts(run, step)) {
    moved = run.branches;
  } else if (step.offer.input) {
    const ElementSet seen = accepting_guards(run, state.guards & ~automaton_.next_guards, step);
    moved |= complete_at(run, ends, seen, moved, step);
    // A repeat that UNTIL ends before its minimum cannot get there any more.
    if (ends && run.count < state.min) moved = run.branches;
    run.violated |= seen;
    run.ended = run.ended || ends;
  }
  // Nearly always the run goes one way only: then its list of events goes along and is not copied.
  const bool goes_on = (run.branches & ~moved) != 0 || trace_ != nullptr;
  for (const Take& take : step.takes) {
    Run next = taken(run, take, step.offer.event);
    next.bound = !goes_on && &take == &step.takes.back() ? std::move(run.bound) : copy_with_room(run.bound);
    next.bound.push_back({take.element, step.offer.event});
    arrive(std::move(next), step);
  }
  if (!goes_on) return;
  if (step.offer.input) run.adjacent = false;
  run.branches &= ~moved;
  keep(std::move(run), step);
}

void Evaluator::start(Step& step) {
  BranchSet kept_back = 0;
  const Run nothing;
  for (const nfa::Edge& edge : automaton_.start.edges) {
    const BranchSet open = edge.branches & ~kept_back;
    const nfa::State& target = automaton_.states[static_cast<std::size_t>(edge.to)];
    if (open == 0 || until_accepts(target, nothing, step)) continue;
    const auto element = taker(edge.elements, nothing, 0, step);
    if (!element) continue;
    if (target.greedy) kept_back |= open;
    Run run = taken(nothing, {edge.to, *element, &edge, open}, step.offer.event);
    run.bound.push_back({*element, step.offer.event});
    arrive(std::move(run), step);
  }
}

void Evaluator::advance(KeyState& state, const Offer& offer, std::vector<Candidate>& completed, Arena& scratch) {
  Step step{state, offer, completed, scratch, {}, kMaxTime, {}};
  const std::size_t complete_before = completed.size();
  // What only begins a match is nothing to the runs that there are.
  const bool nothing_to_runs =
      (offer.elements & automaton_.moving) == 0 && offer.unless == 0 && !automaton_.looks_at_next && trace_ == nullptr;
  if (nothing_to_runs) {
    step.after = std::move(state.runs);
    step.earliest_due = state.earliest_due;
  } else {
    step.after.reserve(state.runs.size() + 1);
    for (Run& run : state.runs) move(run, step);
  }
  if (offer.input) start(step);
  state.runs = std::move(step.after);
  state.earliest_due = step.earliest_due;
  if (automaton_.ambiguous) remove_equal(state.runs);
  mark_completed(state, completed, complete_before);
}

void Evaluator::mark_completed(KeyState& state, const std::vector<Candidate>& completed, std::size_t from) {
  for (std::size_t i = from; i < completed.size(); ++i) {
    const std::uint64_t first = completed[i].first().sequence;
    for (Run& run : state.runs) run.first_completed = run.first_completed || run.first().sequence == first;
    std::erase_if(state.expired, [&](const Run& run) { return run.first().sequence == first; });
  }
}

std::pair<int, std::uint32_t> Evaluator::place(const Run& run, const nfa::Automaton& automaton) {
  const nfa::State& state = automaton.states[static_cast<std::size_t>(run.state)];
  // The members of an AND stand in one place: more of them is further.
  if (state.joins()) return {__builtin_ctzll(state.elements), run.count};
  return {static_cast<int>(run.bound.back().element), 0U};
}

const Run& Evaluator::furthest(const std::vector<const Run*>& runs, const nfa::Automaton& automaton) {
  return **std::min_element(runs.begin(), runs.end(), [&](const Run* a, const Run* b) {
    const auto place_a = place(*a, automaton), place_b = place(*b, automaton);
    return place_a != place_b ? place_a > place_b : taken_before(a->bound, b->bound);
  });
}

}  // namespace cepd::engine
