#include "nfa/automaton.h"

#include <algorithm>
#include <map>

#include "base/check.h"

namespace cepd::nfa {
namespace {

namespace plan = dsl::plan;
using plan::Sequence;
using plan::SlotId;

/// A sequence of the tree with the step it stands in and, for the body of a group, the group.
struct Frame {
  const Sequence* sequence = nullptr;
  const Frame* around = nullptr;
  std::size_t index = 0;  ///< of the step of `around` that holds this sequence
  const plan::Group* group = nullptr;
  GroupId id{};

  bool repeats() const { return group != nullptr && group->repeats(); }
};

/// One alternative of an OR, or whether a group is entered, repeated or left: the step or sequence, and which.
using Decision = std::pair<const void*, std::size_t>;
using Decisions = std::vector<Decision>;

bool begins_with(const Decisions& all, const Decisions& first) {
  return first.size() <= all.size() && std::equal(first.begin(), first.end(), all.begin());
}

struct WayEdge {
  Edge edge;
  std::size_t decided = 0;  ///< decisions made before it
};

/// One way from a place of the pattern to the next events: what becomes a branch.
struct Way {
  std::vector<WayEdge> edges;
  Decisions decisions;
  std::vector<CountTest> when;
  std::optional<Accept> accept;
  ElementSet guards = 0;              ///< NOTs passed since the place
  std::vector<plan::ElementId> nots;  ///< the same, in their order
  std::optional<StateId> greedy;      ///< the repeat that comes last on it, if GREEDY
  GroupSet enters = 0, repeats = 0, inside = 0;
};
using FirstLink = std::optional<plan::Link>;  ///< instead of the link of the step that comes first in a repeat

bool same_but_branches(const Edge& a, const Edge& b) {
  return a.to == b.to && a.elements == b.elements && a.link.contiguity == b.link.contiguity &&
         a.link.within == b.link.within && a.link.after == b.link.after && a.guards == b.guards &&
         a.enters == b.enters && a.repeats == b.repeats && a.inside == b.inside;
}

class Compiler {
 public:
  explicit Compiler(const plan::Rule& rule) : rule_(rule) {
    out_.guard_within.resize(rule.elements.size());
    out_.states.resize(rule.slots.size());
    for (std::size_t i = 0; i < rule.slots.size(); ++i) {
      const plan::Slot& slot = rule.slots[i];
      State& state = out_.states[i];
      state.members = slot.members;
      for (const ElementSet member : slot.members) state.elements |= member;
      const auto members = static_cast<std::uint32_t>(slot.members.size());
      state.min = members > 1 ? members : std::max(1U, slot.min);  // a state is entered with one event bound
      state.max = members > 1 ? members : slot.max;
      state.again = slot.again;
      state.greedy = slot.greedy;
      state.until = slot.until;
    }
  }

  Automaton compile() {
    const Frame root{&rule_.pattern};
    collect_nots(rule_.pattern);
    make_branches(out_.start, ways_from(root, 0, Way{}));
    for (Edge& edge : out_.start.edges) {
      out_.starting |= edge.elements;
      edge.link = {};
      edge.guards = 0;
    }
    states_in(root, 0);
    keep_decisions(out_.start);
    for (State& state : out_.states) {
      keep_decisions(state);
      note_moving(state);
    }
    return std::move(out_);
  }

 private:
  void collect_nots(const Sequence& sequence) {
    for (const plan::Step& step : sequence.steps) {
      if (const auto* no = std::get_if<plan::NotStep>(&step.item)) {
        out_.guard_within[static_cast<std::size_t>(no->element)] = step.link.within;
        if (step.link.contiguity == plan::Contiguity::kStrict) out_.next_guards |= element_bit(no->element);
      } else if (const auto* group = std::get_if<plan::Group>(&step.item)) {
        collect_nots(group->body);
      } else if (const auto* alternatives = std::get_if<plan::Alternatives>(&step.item)) {
        for (const Sequence& branch : alternatives->branches) collect_nots(branch);
      }
    }
  }

  // ---- states ----

  /// `inside`: groups with a bound around the sequence.
  void states_in(const Frame& frame, GroupSet inside) {
    for (std::size_t i = 0; i < frame.sequence->steps.size(); ++i) {
      const plan::Step& step = frame.sequence->steps[i];
      if (const auto* slot = std::get_if<SlotId>(&step.item)) {
        State& state = out_.states[static_cast<std::size_t>(*slot)];
        state.inside = inside;
        Way start;
        start.inside = inside;
        if (state.greedy) start.greedy = state_of(*slot);
        make_branches(state, ways_from(frame, i + 1, std::move(start)));
      } else if (std::holds_alternative<plan::Group>(step.item)) {
        const Frame body = body_of(frame, i);
        states_in(body, body.group->within ? inside | group_bit(body.id) : inside);
      } else if (const auto* alternatives = std::get_if<plan::Alternatives>(&step.item)) {
        for (const Sequence& branch : alternatives->branches) states_in(Frame{&branch, &frame, i}, inside);
      }
    }
  }

  void make_branches(State& state, std::vector<Way> ways) {
    for (Way& way : ways) {
      std::vector<Decisions>& settled = settled_[&state];
      // What waits for the deadline of a last NOT does so whatever the others take.
      if (way.accept && way.accept->completes == Completes::kDeadline) {
        Branch waiting{way.when, way.accept, true};
        state.waiting |= BranchSet{1} << state.branches.size();
        state.branches.push_back(std::move(waiting));
        settled.push_back(way.decisions);
        state.guards |= way.accept->guards;
        way.accept.reset();
        // A repeat that goes on needs a branch to do so in.
        if (way.edges.empty() && state.max == 1) continue;
      }
      const BranchSet bit = BranchSet{1} << state.branches.size();
      CEPD_CHECK(state.branches.size() < plan::kMaxBranches);
      if (way.accept) state.guards |= way.accept->guards;
      state.branches.push_back({std::move(way.when), std::move(way.accept), false});
      settled.push_back(std::move(way.decisions));
      for (auto& [edge, decided] : way.edges) {
        state.guards |= edge.guards;
        edge.opens.resize(state.branches.size());
        edge.opens.back() = decided;  // until keep_decisions()
        const auto same = std::find_if(state.edges.begin(), state.edges.end(),
                                       [&](const Edge& known) { return same_but_branches(known, edge); });
        if (same != state.edges.end()) {
          same->branches |= bit;
          same->opens.resize(state.branches.size());
          same->opens.back() = decided;
        } else {
          edge.branches = bit;
          state.edges.push_back(edge);
        }
      }
    }
    for (std::size_t i = 0; i < state.branches.size(); ++i) {
      const Branch& branch = state.branches[i];
      const BranchSet bit = BranchSet{1} << i;
      if (branch.accept) state.accepting |= bit;
      if (branch.accept && branch.accept->completes != Completes::kNow) state.later |= bit;
      if (!branch.when.empty()) state.counted |= bit;
    }
    // Pattern order within each branch: what is written later comes later, the next repeat of a group last.
    std::stable_sort(state.edges.begin(), state.edges.end(), [](const Edge& a, const Edge& b) {
      return std::pair(a.repeats != 0, a.to) < std::pair(b.repeats != 0, b.to);
    });
    for (std::size_t i = 0; i < state.edges.size(); ++i) {
      out_.ambiguous |= state.max > 1 && (state.edges[i].elements & state.elements) != 0;
      for (std::size_t k = 0; k < i; ++k) out_.ambiguous |= (state.edges[k].elements & state.edges[i].elements) != 0;
    }
  }

  void note_moving(const State& state) {
    out_.moving |= state.guards;
    if (state.max > 1) out_.moving |= state.elements;
    if (state.until) out_.moving |= element_bit(*state.until);
    out_.looks_at_next |= state.max > 1 && state.again == plan::Contiguity::kStrict;
    for (const Edge& edge : state.edges) {
      const State& target = out_.states[static_cast<std::size_t>(edge.to)];
      out_.moving |= edge.elements;
      if (target.until) out_.moving |= element_bit(*target.until);
      out_.looks_at_next |= edge.link.contiguity == plan::Contiguity::kStrict;
    }
    for (const Branch& branch : state.branches) {
      out_.looks_at_next |= branch.accept && branch.accept->completes == Completes::kNextEvent;
    }
    out_.looks_at_next |= (state.guards & out_.next_guards) != 0;
  }

  /// Once all states have their branches.
  void keep_decisions(State& state) {
    const std::vector<Decisions>& settled = settled_[&state];
    for (Branch& branch : state.branches) {
      const Decisions& own = settled[static_cast<std::size_t>(&branch - state.branches.data())];
      for (std::size_t i = 0; i < settled.size(); ++i) branch.again |= settled[i] == own ? BranchSet{1} << i : 0;
    }
    for (Edge& edge : state.edges) {
      edge.opens.resize(state.branches.size());
      const std::vector<Decisions>& there = settled_[&out_.states[static_cast<std::size_t>(edge.to)]];
      for (std::size_t b = 0; b < edge.opens.size(); ++b) {
        if ((edge.branches >> b & 1) == 0) continue;
        const Decisions rest(settled[b].begin() + static_cast<std::ptrdiff_t>(edge.opens[b]), settled[b].end());
        edge.opens[b] = 0;
        for (std::size_t i = 0; i < there.size(); ++i) {
          edge.opens[b] |= begins_with(there[i], rest) ? BranchSet{1} << i : 0;
        }
      }
    }
  }

  // ---- ways ----

  std::vector<Way> ways_from(const Frame& frame, std::size_t index, Way way) {
    ways_.clear();
    // An event has just been bound in every group around the place, or nothing at all at the start.
    go(frame, index, std::move(way), true, {});
    return std::move(ways_);
  }

  Frame body_of(const Frame& frame, std::size_t index) {
    const auto& group = std::get<plan::Group>(frame.sequence->steps[index].item);
    Frame body{&group.body, &frame, index, &group, {}};
    for (std::size_t i = 0; i < seen_.size(); ++i) {
      if (seen_[i] == &group) {
        body.id = GroupId(static_cast<std::uint8_t>(i));
        return body;
      }
    }
    CEPD_CHECK(seen_.size() < plan::kMaxGroups);
    body.id = GroupId(static_cast<std::uint8_t>(seen_.size()));
    seen_.push_back(&group);
    const std::uint32_t counted = group.max == plan::kUnbounded ? std::max(1U, minimum(group)) : group.max;
    out_.groups.push_back({counted, group.within});
    return body;
  }

  /// Empty repeats fill up the minimum.
  std::uint32_t minimum(const plan::Group& group) const { return nullable(group.body, rule_.slots) ? 0 : group.min; }

  /// `bound`: an event of the innermost repeated group's present repeat is bound, so that the repeat may end.
  void go(const Frame& frame, std::size_t index, Way way, bool bound, const FirstLink& first) {
    if (index == frame.sequence->steps.size()) return end_of(frame, std::move(way), bound);
    const plan::Step& step = frame.sequence->steps[index];
    plan::Link link = first.value_or(step.link);
    if (const auto* slot = std::get_if<SlotId>(&step.item)) {
      add_edges(*slot, link, way);
      if (rule_.slots[static_cast<std::size_t>(*slot)].min > 0) {
        ways_.push_back(std::move(way));
      } else {
        go(frame, index + 1, std::move(way), bound, {});
      }
    } else if (const auto* no = std::get_if<plan::NotStep>(&step.item)) {
      way.guards |= element_bit(no->element);
      way.nots.push_back(no->element);
      go(frame, index + 1, std::move(way), bound, {});
    } else if (std::holds_alternative<plan::Group>(step.item)) {
      const Frame body = body_of(frame, index);
      Way into = way;
      into.enters |= group_bit(body.id);
      if (body.repeats()) into.decisions.emplace_back(&step, 1);
      if (body.group->again == plan::Contiguity::kSkipTillAny) free_first(link);
      go(body, 0, std::move(into), !body.repeats() && bound, link);
      if (!body.repeats() || minimum(*body.group) > 0) return;
      way.greedy.reset();
      way.decisions.emplace_back(&step, 0);
      go(frame, index + 1, std::move(way), bound, {});
    } else {
      for (const Sequence& branch : std::get<plan::Alternatives>(step.item).branches) {
        Way into = way;
        into.decisions.emplace_back(&branch, 0);
        go(Frame{&branch, &frame, index}, 0, std::move(into), bound, link);
      }
    }
  }

  void end_of(const Frame& frame, Way way, bool bound) {
    if (frame.around == nullptr) return accept(std::move(way));
    if (frame.group == nullptr) return go(*frame.around, frame.index + 1, std::move(way), bound, {});
    const GroupSet bit = group_bit(frame.id);
    if (!frame.repeats()) {
      way.inside &= ~bit;
      way.enters &= ~bit;
      return go(*frame.around, frame.index + 1, std::move(way), bound, {});
    }
    // A repeat that has bound nothing does not end: the way past the group is one of its own.
    if (!bound) {
      ways_.push_back(std::move(way));
      return;
    }
    const plan::Group& group = *frame.group;
    way.inside &= ~bit;
    if (group.max > 1) {
      Way next = way;
      if (group.max != plan::kUnbounded) next.when.push_back({frame.id, 0, group.max - 1});
      next.repeats = bit;
      next.decisions.emplace_back(&group.body, 1);
      plan::Link again;
      again.contiguity = group.again;
      go(frame, 0, std::move(next), false, again);
    }
    way.decisions.emplace_back(&group.body, 0);
    if (minimum(group) > 1) way.when.push_back({frame.id, minimum(group), plan::kUnbounded});
    go(*frame.around, frame.index + 1, std::move(way), true, {});
  }

  /// COMBINATIONS leaves out the first event of a repeat as it does the others; NEXT still means the very next event.
  static void free_first(plan::Link& link) {
    if (link.contiguity == plan::Contiguity::kSkipTillNext) link.contiguity = plan::Contiguity::kSkipTillAny;
  }

  void add_edges(SlotId id, plan::Link link, Way& way) {
    const State& state = out_.states[static_cast<std::size_t>(id)];
    if (!state.joins() && state.again == plan::Contiguity::kSkipTillAny) free_first(link);
    for (const ElementSet member : state.members) {
      Edge edge;
      edge.to = state_of(id);
      edge.elements = member;
      edge.link = link;
      edge.guards = way.guards;
      edge.enters = way.enters;
      edge.repeats = way.repeats;
      edge.inside = way.inside & ~way.repeats;
      way.edges.push_back({std::move(edge), way.decisions.size()});
    }
    way.greedy = state.greedy ? std::optional(state_of(id)) : std::nullopt;
  }

  void accept(Way way) {
    Accept accept;
    accept.guards = way.guards;
    if (!way.nots.empty()) {
      const bool next = (out_.next_guards & element_bit(way.nots.back())) != 0;
      accept.completes = next ? Completes::kNextEvent : Completes::kDeadline;
      if (!next) accept.within = longest(way.nots);
    } else if (way.greedy) {
      accept.completes = Completes::kRepeatEnd;
      accept.greedy = *way.greedy;
    }
    way.accept = accept;
    ways_.push_back(std::move(way));
  }

  /// How long a last absence lasts: as long as the longest of its NOTs; none: as long as the match may.
  std::optional<Micros> longest(const std::vector<plan::ElementId>& nots) const {
    Micros out{0};
    for (const plan::ElementId no : nots) {
      if ((out_.next_guards & element_bit(no)) != 0) continue;
      const auto within = out_.guard_within[static_cast<std::size_t>(no)];
      if (!within) return std::nullopt;
      out = std::max(out, *within);
    }
    return out;
  }

  static StateId state_of(SlotId slot) { return StateId(static_cast<std::uint16_t>(slot)); }

  const plan::Rule& rule_;
  Automaton out_;
  std::vector<const plan::Group*> seen_;  // by GroupId
  std::vector<Way> ways_;
  std::map<const State*, std::vector<Decisions>> settled_;  ///< what each branch of a state has settled
};

}  // namespace

Automaton compile_automaton(const plan::Rule& rule) { return Compiler(rule).compile(); }

}  // namespace cepd::nfa
