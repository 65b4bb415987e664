/// What a rule has waiting in its prefix: kept there for all rules that begin alike (engine/key_state.h, PrefixState),
/// while what this one has taken or dropped of it is kept with the rule.

#include <algorithm>

#include "engine/after_match.h"
#include "engine/rule_runtime.h"

namespace cepd::engine {

/// Calls `visit(PrefixState&, const Taken&)` for the rule's prefixes that hold something for the key, with what has
/// been taken of each.
template <class Visit>
void RuleRuntime::each_prefix(const KeyState& key, const Visit& visit) const {
  std::uint32_t reader = index_;
  for (std::uint32_t at = prefix_; at != nfa::Prefix::kNone; at = prefixes_[at].parent) {
    if (PrefixState* state = key.entry->find_prefix(at)) visit(*state, state->taken_by(reader));
    reader = at | KeyPart::kPrefix;
  }
}

bool RuleRuntime::waits_in_prefix(const KeyState& key) const {
  bool waits = false;
  each_prefix(key, [&](const PrefixState& state, const Taken&) { waits = waits || !state.set.empty(); });
  return waits;
}

/// All that the rule has under way, to walk through.
std::vector<SetPart> RuleRuntime::parts_of(const KeyState& key) const {
  std::vector<SetPart> parts;
  for (const Run& run : key.runs) parts.push_back({run.set.head().get()});
  each_prefix(key, [&](const PrefixState& state, const Taken& taken) { parts.push_back(state.part_above(taken)); });
  return parts;
}

void RuleRuntime::note_own(const KeyState& key) const {
  const std::uint64_t own = own_at_most(key);
  each_prefix(key, [&](PrefixState& state, const Taken&) { state.most_own = std::max(state.most_own, own); });
}

/// At most so many wait there. `own`: of the rule's runs.
std::uint64_t RuleRuntime::count_in_prefix(const KeyState& key, std::uint64_t own) const {
  std::uint64_t count = 0;
  each_prefix(key, [&](PrefixState& state, const Taken& taken) {
    count = std::min(count + state.count_above(taken), kManyMatches);
    state.most_own = std::max(state.most_own, own);
  });
  return count;
}

/// What no other rule reads need not be kept beyond what this one has dropped.
void RuleRuntime::cut_own_prefixes(KeyState& key, const Alive& alive) const {
  for (std::uint32_t at = prefix_; at != nfa::Prefix::kNone && prefixes_[at].readers() == 1;
       at = prefixes_[at].parent) {
    if (PrefixState* state = key.entry->find_prefix(at)) state->set.cut_dead(alive);
  }
}

/// The marks, where something is about to be dropped at `now`. They are about first events up to then.
Marks& RuleRuntime::note_dropped(KeyState& key, EventTime now) const {
  if (prefix_ != nfa::Prefix::kNone) key.marked_until = std::max(key.marked_until, saturating_add(now, *rule().within));
  return key.rarely().marks;
}

/// Marks are about runs and about what waits in the prefix: without these they are of no use.
void RuleRuntime::forget_marks_of_nothing(KeyState& key, EventTime now, const Workspace& work) const {
  if (!key.runs.empty() || work.joining != 0 || !key.rare || key.rare->marks.empty()) return;
  if (now >= key.marked_until || !waits_in_prefix(key)) key.rare->marks = {};
}

void RuleRuntime::leave_prefix(KeyState& key, EventTime watermark) const {
  const Alive alive = evaluator_.alive(key, watermark);
  Runs waiting;
  each_prefix(key, [&](const PrefixState& state, const Taken& taken) {
    Run like;
    like.state = nfa::StateId(static_cast<std::uint16_t>(prefixes_[state.prefix()].element));
    like.branches = 1;
    like.groups.resize(evaluator_.automaton().groups.size());
    Evaluator::add_singles(waiting, state.part_above(taken), like, alive);
  });
  evaluator_.split(key, watermark);
  for (Run& run : waiting) key.runs.push_back(std::move(run));
}

/// Where all that the rule has under way are first events, which stand in their order: drops the oldest ones that are
/// too many. False: it is not so.
bool RuleRuntime::cap_starts(KeyState& key, EventTime now, const Alive& alive, Workspace& work) {
  if (!key.runs.empty() || (key.rare && (!key.rare->marks.starts.empty() || !key.rare->marks.used.empty()))) {
    return false;
  }
  PrefixState* starts = nullptr;
  SetPart part;
  bool others = false;
  each_prefix(key, [&](PrefixState& state, const Taken& taken) {
    if (prefixes_[state.prefix()].parent == nfa::Prefix::kNone) {
      starts = &state;
      part = state.part_above(taken);
    } else {
      others = others || !state.set.empty();
    }
  });
  if (others) return false;
  if (part.head == nullptr) return true;
  const Cell* oldest = starts->set.tail();
  const bool all = alive.any_up_to(oldest->own_newest()) && oldest->event->sequence > part.floor;
  const std::uint64_t count = all ? starts->set.count() : work.walk.count(part, alive).count;
  if (count <= max_partial_matches()) return true;
  const auto counts = [&](const Cell& cell) {
    return alive.any_up_to(cell.own_newest()) && cell.event->sequence > part.floor;
  };
  while (!counts(*oldest)) oldest = oldest->newer;
  const std::uint64_t excess = count - max_partial_matches();
  for (std::uint64_t i = 0; i < excess; ++i) oldest = oldest->newer;
  note_dropped(key, now).oldest = oldest->event->sequence;
  counts_.over_cap += excess;
  cut_own_prefixes(key, evaluator_.alive(key, now));
  return true;
}

}  // namespace cepd::engine
