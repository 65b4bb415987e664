#include <algorithm>
#include <utility>

#include "engine/evaluator_step.h"

namespace cepd::engine {

namespace plan = dsl::plan;
using nfa::BranchSet;
using nfa::Completes;
using nfa::element_bit;
using nfa::ElementSet;
using plan::Contiguity;

namespace {

/// Runs of a key that a new one is compared with at once; where there are more, merge() does it now and then.
constexpr std::size_t kFewRuns = 16;

}  // namespace

Evaluator::Evaluator(const nfa::Network& network, std::size_t rule, const EngineOptions& options,
                     const nfa::Prefix* prefix)
    : network_(network),
      rule_(network.rules().rules[rule]),
      automaton_(network.automaton(rule)),
      look_back_(network.look_back(rule)),
      tests_(network.element_tests().of_rule(rule)),
      options_(options),
      prefix_(prefix),
      bound_(rule_.within                          ? *rule_.within
             : rule_.bounded || !options.state_ttl ? Micros::max()
                                                   : *options.state_ttl) {
  facts_.policy = rule_.policy;
  facts_.having = !rule_.having.empty();
  facts_.limit = rule_.limit.has_value();
  facts_.on_timeout = rule_.on_timeout.has_value();
  facts_.joint = std::any_of(rule_.elements.begin(), rule_.elements.end(),
                             [](const plan::Element& each) { return !each.joint.empty(); });
}

// ---- conditions ----

nfa::Scope Evaluator::scope_of(const Run& run, const Step& step) const {
  return {&step.event(), run.bound, step.state.key(), {}, &network_.fields(), &run.tallies};
}

bool Evaluator::accepts(const plan::EventTest& test, const Run& run, Step& step) {
  return test.conditions.empty() || nfa::holds(test.conditions, scope_of(run, step), step.scratch, errors_);
}

bool Evaluator::accepts(plan::ElementId element, const Run& run, Step& step) {
  const auto index = static_cast<std::size_t>(element);
  if (tests_ != nullptr) {
    const nfa::ElementTest& test = tests_[index];
    if (test.number != nullptr) {
      const auto known = test.number->holds(step.event(), run.bound, run.tallies, network_.fields(), step.scratch);
      if (known) return *known;
    } else if (test.shared != nfa::ElementTest::kAlone) {
      return step.outcomes.holds(test.shared, rule_.elements[index].test, step.event(), network_.fields(), step.scratch,
                                 errors_);
    }
  }
  return accepts(rule_.elements[index].test, run, step);
}

bool Evaluator::joints_hold(plan::ElementId id, const Run& run, ElementSet members, Step& step) {
  const plan::Element& element = rule_.elements[static_cast<std::size_t>(id)];
  const nfa::Scope scope = scope_of(run, step);
  return std::all_of(element.joint.begin(), element.joint.end(), [&](const plan::JointCondition& each) {
    return (each.others & ~members) != 0 || nfa::holds({&each.condition, 1}, scope, step.scratch, errors_);
  });
}

/// The first of `elements` that accepts the event. `members`: of the AND, those bound so far.
std::optional<plan::ElementId> Evaluator::taker(ElementSet elements, const Run& run, ElementSet members, Step& step) {
  elements &= step.offer.elements;
  for (; elements != 0; elements &= elements - 1) {
    const auto id = static_cast<plan::ElementId>(__builtin_ctzll(elements));
    const bool accepted = (step.accepted & element_bit(id)) != 0 || accepts(id, run, step);
    if (accepted && (!facts_.joint || joints_hold(id, run, members, step))) return id;
    if (trace_ != nullptr) trace_->refused(run, id, step.offer.event());
  }
  return std::nullopt;
}

bool Evaluator::until_accepts(const nfa::State& state, const Run& run, Step& step) {
  if (!state.until || (step.offer.elements & element_bit(*state.until)) == 0) return false;
  if (!accepts(*state.until, run, step)) return false;
  // Before the repeat's first event it ends nothing: it is only not taken.
  if (trace_ != nullptr && !run.bound.empty() && &state == &state_of(run)) {
    trace_->until(run, *state.until, step.offer.event());
  }
  return true;
}

/// The NOTs among `guards` that accept the event.
ElementSet Evaluator::accepting_guards(const Run& run, ElementSet guards, Step& step) {
  if (guards == 0) return 0;
  ElementSet accepting = 0;
  for (guards &= step.offer.elements & ~run.violated; guards != 0; guards &= guards - 1) {
    const auto index = static_cast<std::size_t>(__builtin_ctzll(guards));
    const auto within = automaton_.guard_within[index];
    if (within && step.event().time > saturating_add(run.last_time, *within)) continue;
    if (!accepts(plan::ElementId(static_cast<std::uint16_t>(index)), run, step)) continue;
    accepting |= ElementSet{1} << index;
    if (trace_ != nullptr) trace_->forbidden(run, static_cast<plan::ElementId>(index), step.offer.event());
  }
  return accepting;
}

/// An event that an UNLESS clause accepts ends the run, but for the ways in which the run binds the event itself.
bool Evaluator::unless_accepts(const Run& run, Step& step) {
  if (step.offer.unless == 0) return false;
  for (std::size_t i = 0; i < rule_.unless.size(); ++i) {
    if ((step.offer.unless >> i & 1) == 0) continue;
    if (!accepts(rule_.unless[i], run, step)) continue;
    if (trace_ != nullptr) trace_->unless(run, i, step.offer.event());
    return true;
  }
  return false;
}

// ---- moves ----

/// Fills step.takes. Returns the branches in which the run does not wait on without the event.
BranchSet Evaluator::find_takes(const Run& run, bool ends, Step& step) {
  const nfa::State& state = state_of(run);
  const EventTime time = step.event().time;
  const bool adjacent = step.adjacent(run);
  const BranchSet going = run.branches & ~state.waiting;
  BranchSet moved = 0;
  BranchSet kept_back = 0;  // a GREEDY repeat could take the event: what follows it does not get it

  if (!ends && can_repeat(run, adjacent) && time <= inside_until(run, state.inside)) {
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
    if (open == 0 || !edge_open(run, edge, adjacent)) continue;
    if (time > edge_until(run, edge) || time < saturating_add(run.last_time, edge.link.after)) {
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

/// False when neither an event nor time can make a match of the run any more, which did not bind the event.
bool Evaluator::stays(Run& run, Step& step) {
  const EventTime open = run.branches == 0 ? kMinTime : open_until(run, !step.offer.input && step.adjacent(run));
  if (open < step.event().time) {
    if (trace_ != nullptr) trace_->over(run, step.offer.event());
    return false;
  }
  set_due(run, open);
  step.state.note_due(static_cast<std::size_t>(&run - step.state.runs.data()));
  return true;
}

/// What the event completes although the run does not bind it: a last NEXT NOT, and a last GREEDY repeat that it ends.
/// Returns the branches that this closes.
BranchSet Evaluator::complete_at(const Run& run, bool ends, ElementSet seen, BranchSet moved, Step& step) {
  const nfa::State& state = state_of(run);
  if ((run.branches & state.later) == 0) return 0;
  const bool adjacent = step.adjacent(run);
  BranchSet closed = 0;
  bool complete = false;
  state.each_branch(run.branches & state.later, [&](const nfa::Branch& branch, BranchSet bit) {
    if (!may_end(run, branch)) return;
    if (branch.accept->completes == Completes::kNextEvent) {
      // Its repeat or what may be left out goes on all the same.
      complete = complete || (adjacent && (branch.accept->guards & seen) == 0);
    } else if (branch.accept->completes == Completes::kRepeatEnd && (moved & bit) == 0) {
      const nfa::StateId greedy = branch.accept->greedy;
      const nfa::State& repeat = automaton_.states[static_cast<std::size_t>(greedy)];
      const bool misfit = adjacent && repeat.again == Contiguity::kStrict;
      if (greedy == run.state) {
        if (!run.ended && (ends || misfit)) closed |= bit;
        return;
      }
      // It has taken nothing yet: only where its first event had to be this one does it end without any.
      const bool missed = std::any_of(state.edges.begin(), state.edges.end(), [&](const nfa::Edge& edge) {
        return edge.to == greedy && (edge.branches & bit) != 0 && edge.link.contiguity == Contiguity::kStrict;
      });
      if (adjacent && missed && (misfit || !rule_.within)) closed |= bit;
    }
  });
  if (complete || closed != 0) step.completed.push_back({run.set.head(), true, step.event().time});
  return closed;
}

/// Takes the event by every way that is open to the run. False: the run does not go on without it.
bool Evaluator::move(Run& run, Step& step) {
  const nfa::State& state = state_of(run);
  step.takes.clear();
  BranchSet moved = 0;
  bool ends = false;
  if (step.offer.input) {
    ends = !run.ended && until_accepts(state, run, step);
    // A NEXT NOT looks at the very next event whatever takes it; a THEN NOT only at events that nothing takes.
    if (step.adjacent(run)) run.violated |= accepting_guards(run, state.guards & automaton_.next_guards, step);
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
  if (!goes_on && step.takes.size() == 1 && stays_in_place(step.takes.front(), step)) {
    return take_in_place(run, step.takes.front(), step);
  }
  for (const Take& each : step.takes) take(run, each, goes_on || &each != &step.takes.back(), step);
  if (!goes_on) return false;
  run.branches &= ~moved;
  return stays(run, step);
}

/// What only begins a match, or is waited for elsewhere, is nothing to the run.
bool Evaluator::untouched(const Run& run, const Step& step) const {
  if (step.offer.unless != 0 || trace_ != nullptr) return false;
  const nfa::LookBack::AtState& ahead = ahead_of(run);
  if ((step.offer.elements & ahead.moved_by) != 0) return false;
  return !ahead.at_next || !step.adjacent(run);
}

void Evaluator::start(Step& step) {
  BranchSet kept_back = 0;
  Run nothing;
  if (step.offer.start_accepted) step.accepted = automaton_.starting & step.offer.elements;
  for (const nfa::Edge& edge : automaton_.start.edges) {
    const BranchSet open = edge.branches & ~kept_back;
    if (open == 0 || (edge.elements & step.offer.elements) == 0) continue;
    const nfa::State& target = automaton_.states[static_cast<std::size_t>(edge.to)];
    if (until_accepts(target, nothing, step)) continue;
    const auto element = taker(edge.elements, nothing, 0, step);
    if (!element) continue;
    if (target.greedy) kept_back |= open;
    const Take way{edge.to, *element, &edge, open};
    if (!stays_in_place(way, step)) {
      take(nothing, way, true, step);
    } else if (look_back_.strict) {
      start_strict(way, step);
    } else {
      Runs& runs = step.state.runs;
      if (!take_in_place(runs.emplace_back(), way, step)) runs.pop_back();
    }
  }
  step.accepted = 0;
}

/// Takes the partial matches that wait in the prefix further, all at once.
void Evaluator::continue_prefix(Step& step) {
  PrefixState& from = *step.offer.from;
  const SetPart part = from.part_above(from.taken_by(step.state.owner));
  if (part.head == nullptr || saturating_add(part.head->newest.time, bound_) < step.event().time) return;
  Run run;
  run.state = nfa::StateId(static_cast<std::uint16_t>(prefix_->element));
  run.branches = 1;
  step.takes.clear();
  if (step.offer.from_accepted) {
    for (const nfa::Edge& edge : state_of(run).edges) step.accepted |= edge.elements & step.offer.elements;
  }
  const BranchSet moved = find_takes(run, false, step);
  step.accepted = 0;
  if (step.takes.empty()) return;
  run.set = from.take(step.state.owner, moved != 0, prefix_->readers() == 1);
  for (const Take& each : step.takes) take(run, each, true, step);
}

/// Brings the runs that have bound the event to the others.
void Evaluator::settle(Step& step) {
  Runs& runs = step.state.runs;
  const std::size_t before = runs.size();
  for (Run& run : step.arrived) {
    // The event itself is among what conditions ahead may read of it: no older run is like it.
    const bool is_new = !run.bound.empty() && run.bound.back().event == step.offer.event().get();
    std::size_t same = before;
    if (sets() && !is_new && before <= kFewRuns) {
      for (same = 0; same < before && !runs[same].same_place(run);) ++same;
    }
    if (same == before) {
      step.state.add_run(std::move(run));
      same = runs.size() - 1;
    } else {
      if (step.state.index) step.state.index->joined(run.set.count());
      Run& into = runs[same];
      if (is_bounded()) into.set.cut(saturating_add(step.event().time, -bound_));
      into.set.join_new(std::move(run.set));
      into.last_time = run.last_time;
      into.last_sequence = run.last_sequence;
      set_due(into, open_until(into, true));
    }
    step.state.note_due(same);
  }
  if (sets() && runs.size() >= step.state.merge_at) {
    step.state.index.reset();
    merge(runs);
    step.state.merge_at = static_cast<std::uint32_t>(2 * (runs.size() + kFewRuns));
  }
}

void Evaluator::advance(KeyState& state, const Offer& offer, std::vector<Completed>& completed,
                        nfa::SharedOutcomes& outcomes, Arena& scratch) {
  Step step(state, offer, completed, outcomes, scratch);
  state.sets = sets();
  const std::size_t complete_before = completed.size();
  see_to_index(state);
  const bool marked = state.rare && !state.rare->marks.empty();
  const Alive alive = marked ? alive_in_sets(state, step.event().time) : Alive{};
  const auto is_dropped = [&](Run& run) {
    if (!marked) return false;
    run.set.cut_dead(alive);
    return run.set.empty();
  };
  const bool strict = look_back_.strict && trace_ == nullptr;
  const auto stays_at = [&](std::size_t i) {
    Run& run = state.runs[i];
    const bool stays = strict ? !is_dropped(run) && move_strict(run, step)
                              : untouched(run, step) || (!is_dropped(run) && move(run, step));
    if (!stays) state.remove_run(i);
    return stays;
  };
  if (state.index) {
    for (const std::uint32_t i : state.index->find(offer, errors_)) stays_at(i);
    state.runs_due = state.index->first_due();
  } else {
    // From the back: then a removed run's place is taken by one that was there already.
    for (std::size_t i = state.runs.size(); i-- > 0;) stays_at(i);
  }
  if (offer.from != nullptr) continue_prefix(step);
  if (offer.starts) start(step);
  settle(step);
  if (offer.input) state.last_input = offer.event()->sequence;
  if (automaton_.ambiguous) remove_equal(state.runs);
  mark_completed(state, completed, complete_before);
}

/// A first event that has a match leaves no time-out.
void Evaluator::mark_completed(KeyState& state, const std::vector<Completed>& completed, std::size_t from) const {
  if (!facts_.on_timeout) return;
  for (std::size_t i = from; i < completed.size(); ++i) {
    const std::uint64_t first = completed[i].cell->own_newest().sequence;
    for (Run& run : state.runs) run.first_completed = run.first_completed || run.set.newest().sequence == first;
    if (!state.rare) continue;
    erase_if(state.rare->expired, [&](const Run& run) { return run.set.newest().sequence == first; });
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
