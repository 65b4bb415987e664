#include "tests/plain/evaluator.h"

#include <algorithm>

namespace cepd::plain {

namespace plan = dsl::plan;
using nfa::BranchSet;
using nfa::Completes;
using nfa::element_bit;
using nfa::ElementSet;
using plan::Contiguity;

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
  const KeyState& state;
  const Offer& offer;
  std::vector<Candidate> completed;
  std::vector<Run> after;  // the runs that go on

  const Event& event() const { return *offer.event; }
};

Evaluator::Evaluator(const nfa::Network& network, std::size_t rule, std::optional<Micros> state_ttl)
    : network_(network),
      rule_(network.rules().rules[rule]),
      automaton_(network.automaton(rule)),
      bound_(rule_.within    ? rule_.within
             : rule_.bounded ? std::nullopt
                             : state_ttl) {}

ElementSet Evaluator::start_elements() const {
  ElementSet elements = 0;
  for (const nfa::Edge& edge : automaton_.start.edges) elements |= edge.elements;
  return elements;
}

// ---- conditions ----

bool Evaluator::accepts(const plan::EventTest& test, const Run& run, const Step& step) const {
  const nfa::Scope scope{&step.event(), run.bound, step.state.key, {}, &network_.fields()};
  Arena scratch;
  nfa::EvalErrors errors;
  return nfa::holds(test.conditions, scope, scratch, errors);
}

/// The first of `elements` that accepts the event. `members`: of the AND, those bound so far.
std::optional<plan::ElementId> Evaluator::taker(ElementSet elements, const Run& run, ElementSet members,
                                                const Step& step) const {
  const nfa::Scope scope{&step.event(), run.bound, step.state.key, {}, &network_.fields()};
  Arena scratch;
  nfa::EvalErrors errors;
  for (std::size_t i = 0; i < rule_.elements.size(); ++i) {
    const auto id = static_cast<plan::ElementId>(i);
    if ((elements & step.offer.elements & element_bit(id)) == 0) continue;
    const plan::Element& element = rule_.elements[i];
    if (!accepts(element.test, run, step)) continue;
    const bool all_hold = std::all_of(element.joint.begin(), element.joint.end(), [&](const auto& each) {
      return (each.others & ~members) != 0 || nfa::holds({&each.condition, 1}, scope, scratch, errors);
    });
    if (all_hold) return id;
  }
  return std::nullopt;
}

bool Evaluator::until_accepts(const nfa::State& state, const Run& run, const Step& step) const {
  if (!state.until || (step.offer.elements & element_bit(*state.until)) == 0) return false;
  return accepts(rule_.elements[static_cast<std::size_t>(*state.until)].test, run, step);
}

/// The NOTs among `guards` that accept the event.
ElementSet Evaluator::accepting_guards(const Run& run, ElementSet guards, const Step& step) const {
  ElementSet accepting = 0;
  for (std::size_t i = 0; i < rule_.elements.size(); ++i) {
    const ElementSet bit = element_bit(static_cast<plan::ElementId>(i));
    if ((guards & step.offer.elements & ~run.violated & bit) == 0) continue;
    const auto within = automaton_.guard_within[i];
    if (within && step.event().time > saturating_add(run.last().time, *within)) continue;
    if (accepts(rule_.elements[i].test, run, step)) accepting |= bit;
  }
  return accepting;
}

/// An event that an UNLESS clause accepts ends the run, but for the ways in which the run binds the event itself.
bool Evaluator::unless_accepts(const Run& run, const Step& step) const {
  for (std::size_t i = 0; i < rule_.unless.size(); ++i) {
    if ((step.offer.unless >> i & 1) != 0 && accepts(rule_.unless[i], run, step)) return true;
  }
  return false;
}

// ---- moves ----

/// Fills `takes`. Returns the branches in which the run does not wait on without the event.
BranchSet Evaluator::find_takes(const Run& run, bool ends, std::vector<Take>& takes, const Step& step) const {
  const nfa::State& state = state_of(run.state);
  const EventTime time = step.event().time;
  const BranchSet going = run.branches & ~state.waiting;
  BranchSet moved = 0;
  BranchSet kept_back = 0;  // a GREEDY repeat could take the event: what follows it does not get it

  if (!ends && can_repeat(run) && time <= inside_until(run, state.inside)) {
    for (const ElementSet member : state.members) {
      if (state.joins() && (member & run.members) != 0) continue;
      if (const auto element = taker(member, run, run.members, step))
        takes.push_back({run.state, *element, nullptr, going});
    }
    if (!takes.empty() && state.again != Contiguity::kSkipTillAny) moved = going;
    if (!takes.empty() && state.greedy) kept_back = going;
  }
  if (run.count < state.min) return moved;
  for (const nfa::Edge& edge : state.edges) {
    const BranchSet open = edge.branches & going & ~kept_back;
    if (open == 0 || !edge_open(run, edge)) continue;
    if (time > edge_until(run, edge) || time < saturating_add(run.last().time, edge.link.after)) continue;
    const nfa::State& target = state_of(edge.to);
    if (until_accepts(target, run, step)) continue;
    const auto element = taker(edge.elements, run, 0, step);
    if (!element) continue;
    takes.push_back({edge.to, *element, &edge, open});
    if (edge.link.contiguity != Contiguity::kSkipTillAny) moved |= open;
    if (target.greedy) kept_back |= open;
  }
  return moved;
}

/// The run after the event. `run` may be empty: the event is then the first.
Run Evaluator::taken(const Run& run, const Take& take, const EventPtr& event) const {
  const nfa::State& state = state_of(take.to);
  Run next;
  next.bound = run.bound;
  next.bound.push_back({take.element, event.get()});
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
  // In a repeat of one element it says nothing which of its alternatives were taken.
  if (state.joins()) next.members |= element_bit(take.element);
  BranchSet agreeing = 0;
  for (std::size_t i = 0; i < 64; ++i) {
    if (has(take.branches, i)) agreeing |= take.edge == nullptr ? state.branches[i].again : take.edge->opens[i];
  }
  for (std::size_t i = 0; i < state.branches.size(); ++i) {
    const auto& when = state.branches[i].when;
    const bool open = std::all_of(when.begin(), when.end(), [&](const nfa::CountTest& test) {
      const std::uint32_t repeats = next.groups[static_cast<std::size_t>(test.group)].repeats;
      return repeats >= test.min && repeats <= test.max;
    });
    if (has(agreeing, i) && open) next.branches |= BranchSet{1} << i;
  }
  return next;
}

/// A run that has just bound the event: it may be complete, and it may go on.
void Evaluator::arrive(Run run, Step& step) const {
  const nfa::State& state = state_of(run.state);
  bool complete = false;
  for (std::size_t i = 0; i < state.branches.size(); ++i) {
    const nfa::Branch& branch = state.branches[i];
    if (!has(run.branches, i) || !may_end(run, branch)) continue;
    const bool full = branch.accept->completes == Completes::kRepeatEnd && branch.accept->greedy == run.state &&
                      run.count == state.max;
    if (full) run.branches &= ~(BranchSet{1} << i);
    complete = complete || full || branch.accept->completes == Completes::kNow;
  }
  if (complete) step.completed.push_back({run.bound, step.event().time});
  keep(std::move(run), step);
}

/// Keeps the run unless neither an event nor time can make a match of it any more.
void Evaluator::keep(Run run, Step& step) const {
  if (run.branches == 0 || open_until(run) < step.event().time) return;
  set_due(run);
  step.after.push_back(std::move(run));
}

/// What the event completes although the run does not bind it: a last NEXT NOT, and a last GREEDY repeat that it ends.
/// Requires Run::adjacent as before the event. Returns the branches that this closes.
BranchSet Evaluator::complete_at(const Run& run, bool ends, ElementSet seen, BranchSet moved, Step& step) const {
  const nfa::State& state = state_of(run.state);
  BranchSet closed = 0;
  bool complete = false;
  for (std::size_t i = 0; i < state.branches.size(); ++i) {
    const BranchSet bit = BranchSet{1} << i;
    const nfa::Branch& branch = state.branches[i];
    if (!has(run.branches, i) || !may_end(run, branch)) continue;
    if (branch.accept->completes == Completes::kNextEvent) {
      // Its repeat or what may be left out goes on all the same.
      complete = complete || (run.adjacent && (branch.accept->guards & seen) == 0);
    } else if (branch.accept->completes == Completes::kRepeatEnd && !has(moved, i)) {
      const nfa::StateId greedy = branch.accept->greedy;
      const bool misfit = run.adjacent && state_of(greedy).again == Contiguity::kStrict;
      if (greedy == run.state) {
        if (!run.ended && (ends || misfit)) closed |= bit;
        continue;
      }
      // It has taken nothing yet: only where its first event had to be this one does it end without any.
      const bool missed = std::any_of(state.edges.begin(), state.edges.end(), [&](const nfa::Edge& edge) {
        return edge.to == greedy && has(edge.branches, i) && edge.link.contiguity == Contiguity::kStrict;
      });
      if (run.adjacent && missed && (misfit || !rule_.within)) closed |= bit;
    }
  }
  if (complete || closed != 0) step.completed.push_back({run.bound, step.event().time});
  return closed;
}

/// Takes the event by every way that is open to the run, and keeps the run without it where it may be skipped.
void Evaluator::move(Run run, Step& step) const {
  const nfa::State& state = state_of(run.state);
  std::vector<Take> takes;
  BranchSet moved = 0;
  bool ends = false;
  if (step.offer.input) {
    ends = !run.ended && until_accepts(state, run, step);
    // A NEXT NOT looks at the very next event whatever takes it; a THEN NOT only at events that nothing takes.
    if (run.adjacent) run.violated |= accepting_guards(run, state.guards & automaton_.next_guards, step);
    moved = find_takes(run, ends, takes, step);
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
  for (const Take& take : takes) arrive(taken(run, take, step.offer.event), step);
  if (step.offer.input) run.adjacent = false;
  run.branches &= ~moved;
  keep(std::move(run), step);
}

void Evaluator::start(Step& step) const {
  BranchSet kept_back = 0;
  const Run nothing;
  for (const nfa::Edge& edge : automaton_.start.edges) {
    const BranchSet open = edge.branches & ~kept_back;
    const nfa::State& target = state_of(edge.to);
    if (open == 0 || until_accepts(target, nothing, step)) continue;
    const auto element = taker(edge.elements, nothing, 0, step);
    if (!element) continue;
    if (target.greedy) kept_back |= open;
    arrive(taken(nothing, {edge.to, *element, &edge, open}, step.offer.event), step);
  }
}

std::vector<Candidate> Evaluator::advance(KeyState& state, const Offer& offer) const {
  Step step{state, offer, {}, {}};
  for (const Run& run : state.runs) move(run, step);
  if (offer.input) start(step);
  state.runs = std::move(step.after);
  remove_equal(state.runs);
  return std::move(step.completed);
}

const Run& Evaluator::furthest(const std::vector<const Run*>& runs) const {
  const auto place = [this](const Run& run) {
    const nfa::State& state = state_of(run.state);
    // The members of an AND stand in one place: more of them is further.
    if (state.joins()) return std::pair{__builtin_ctzll(state.elements), run.count};
    return std::pair{static_cast<int>(run.bound.back().element), 0U};
  };
  return **std::min_element(runs.begin(), runs.end(), [&](const Run* a, const Run* b) {
    return place(*a) != place(*b) ? place(*a) > place(*b) : taken_before(a->bound, b->bound);
  });
}

}  // namespace cepd::plain
