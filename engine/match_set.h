#pragma once
/// Sets of partial matches that wait in the same place, as one shared structure: whatever their number, moving all of
/// them over an event makes one cell. The model is the tECS of CORE (Bucchi, Grez, Quintana, Riveros, Vansummeren:
/// CORE: a Complex Event Recognition Engine, PVLDB 15(9), 2022); its ancestor the versioned shared buffer of SASE+
/// (Agrawal, Diao, Gyllstrom, Immerman: Efficient Pattern Matching over Event Streams, SIGMOD 2008).
///
/// A cell says: `event` is bound to `element` after any of the partial matches `before` (none: it is the first event).
/// Cells of one set hang together by `next`, the newest first; CORE's output nodes and its union nodes in one. What
/// hangs below a cell never changes, so that a set can be continued and kept at the same time; only what has expired is
/// cut off at the old end. `newest` lets a walk leave out all that began too long ago without looking at it.
///
/// Of a set that several rules read (key_state.h, PrefixState) a cell may mean only the part above a *floor*: what
/// stands at or below it was taken further before. The parts that cells of one rule mean do not overlap, so that a walk
/// through what one rule holds meets a cell under one floor only.

#include <boost/smart_ptr/intrusive_ptr.hpp>
#include <boost/unordered/unordered_flat_map.hpp>
#include <boost/unordered/unordered_flat_set.hpp>
#include <cstdint>
#include <vector>

#include "base/event.h"
#include "engine/marks.h"
#include "nfa/eval.h"

namespace cepd::engine {

using nfa::Bound;

/// A place in the total order: of a first event.
struct Start {
  EventTime time = kMinTime;
  std::uint64_t sequence = 0;
  static Start of(const Event& event) { return {event.time, event.sequence}; }
  bool operator<(const Start& other) const { return sequence < other.sequence; }
};

struct Cell;
void intrusive_ptr_add_ref(Cell* cell);
void intrusive_ptr_release(Cell* cell);
using CellPtr = boost::intrusive_ptr<Cell>;

/// The old end of one list of cells, for all that look at a part of it.
struct CellList {
  Cell* oldest = nullptr;  ///< may not be looked at from a cell that has been cut off
  std::uint32_t references = 0;
};
void intrusive_ptr_add_ref(CellList* list);
void intrusive_ptr_release(CellList* list);
using CellListPtr = boost::intrusive_ptr<CellList>;

/// Belongs to one lane: the count of references is not atomic.
struct Cell {
  EventPtr event;  ///< null: no event is bound, `before` and `next` are two sets in one
  CellPtr before, next;
  CellListPtr list;         ///< that `before` was the newest cell of; null: it was the only one
  Cell* newer = nullptr;    ///< the cell whose `next` this is, while both are of a live set
  Start newest;             ///< the latest first event of all partial matches through this cell and those below
  std::uint64_t floor = 0;  ///< of `before`: sequence of the last event of those that are not meant; 0: all are
  std::uint64_t count = 0;  ///< partial matches through this cell alone when it was made, up to kManyMatches
  std::uint32_t references = 0;
  dsl::plan::ElementId element{};
  bool layered = false;  ///< it and what hangs below it lie in layers (engine/layers.h)
  bool cut = false;      ///< nothing through it counts for anybody any more

  /// The latest first event of those through this cell alone.
  Start own_newest() const { return before ? before->newest : Start::of(*event); }
  /// The next older one of its set above `limit`, a floor; null: none.
  const Cell* older(std::uint64_t limit) const {
    const Cell* cell = next.get();
    return cell == nullptr || limit == 0 || cell->event->sequence > limit ? cell : nullptr;
  }
};

/// For restore: a cell as it was. Requires that `next` is of no other set yet. `list`: of `before`.
CellPtr restored_cell(EventPtr event, dsl::plan::ElementId element, CellPtr before, CellListPtr list, CellPtr next,
                      std::uint64_t count);
/// The list that begins with this cell.
CellListPtr new_list(Cell* oldest);

/// Counts stop here.
inline constexpr std::uint64_t kManyMatches = std::uint64_t{1} << 62;

/// What of a set still counts for one rule: WITHIN and the SKIP policies by the start, CONSUME by marks.
struct Alive {
  EventTime oldest_time = kMinTime;           ///< first events before it are too old
  std::uint64_t oldest_sequence = 0;          ///< likewise, by AFTER MATCH
  const Sequences* dropped_starts = nullptr;  ///< none: no such
  const Sequences* used = nullptr;            ///< events of taken matches; likewise

  bool start(const Start& start) const;
  /// False when nothing that began at or before `newest` counts.
  bool any_up_to(const Start& newest) const { return newest.time >= oldest_time && newest.sequence >= oldest_sequence; }
  bool is_used(const Event& event) const;
};

/// The partial matches of one place. Copies share what they hold; only one of them may be added to and cut.
class MatchSet {
 public:
  bool empty() const { return head_ == nullptr; }
  const CellPtr& head() const { return head_; }
  /// How many there are. Exact while every cell stands for one partial match; else those that have expired or were
  /// dropped since may be counted.
  std::uint64_t count() const { return count_; }
  /// Requires that it is not empty.
  Start newest() const { return head_->newest; }
  Start oldest() const { return tail_->own_newest(); }
  /// Of the event that head() binds; 0: it binds none.
  std::uint64_t last_sequence() const { return last_sequence_; }
  const Cell* tail() const { return tail_; }

  /// Adds `event` bound after each of `before`; null: as first event.
  void add(EventPtr event, dsl::plan::ElementId element, MatchSet* before);
  /// Binds `event` after each of them: they are gone as they were. Requires that it is not empty.
  void go_on(EventPtr event, dsl::plan::ElementId element);
  /// Adds all of `other`, which is then empty.
  void join(MatchSet&& other);
  /// The same for a set whose cells are all new: nothing has been bound after them.
  void join_new(MatchSet&& other);
  /// What was added after the event `floor`, `count` partial matches of it: for add() to continue. Nothing is to be
  /// added to it or cut from it.
  MatchSet above(std::uint64_t floor, std::uint64_t count);
  /// Drops at the old end what began before `oldest` (by sequence).
  void cut(std::uint64_t oldest);
  /// The same by time.
  void cut(EventTime oldest);
  /// Drops at the old end what does not count any more.
  void cut_dead(const Alive& alive);
  /// Every cell is a first event: count() is exact but for what was used or dropped in between.
  bool flat() const { return flat_; }

  /// For restore: the newest cell of a list whose cells say how many they stand for.
  static MatchSet restored(CellPtr head, CellListPtr list);

 private:
  const CellListPtr& list();
  template <class Gone>
  void cut_while(const Gone& gone);
  void push(CellPtr cell);

  CellPtr head_;
  Cell* tail_ = nullptr;
  CellListPtr list_;  // once a cell of several has been continued
  std::uint64_t count_ = 0;
  std::uint64_t floor_ = 0;
  std::uint64_t last_sequence_ = 0;
  bool flat_ = true;
};

/// A set, or the part of one, to walk through.
struct SetPart {
  const Cell* head = nullptr;
  std::uint64_t floor = 0;
};

/// Walks through partial matches. Keeps its memory from one walk to the next.
class MatchWalk {
 public:
  /// Calls `visit(std::span<const Bound>)` with the events of each partial match that counts, in the order bound; the
  /// span holds until it returns. `whole`: of the set that `head` is the newest cell of, else through that cell alone.
  /// Stops when `visit` returns false.
  template <class Visit>
  void each(SetPart part, bool whole, const Alive& alive, const Visit& visit);

  struct Counted {
    std::uint64_t count = 0;
    bool all = true;  ///< false: there may be more
  };
  /// How many partial matches of the set count, at the cost of its cells, whatever the number. Looks at not many more
  /// than `most_cells` of them.
  Counted count(SetPart part, const Alive& alive, std::size_t most_cells = SIZE_MAX);

  /// Calls `visit(const Cell&)` once for each cell that partial matches of these sets that count may hang on. Returns
  /// how many there are.
  template <class Visit>
  std::size_t each_cell(std::vector<SetPart> parts, const Alive& alive, const Visit& visit);

 private:
  struct Frame {
    const Cell* cell;
    std::uint64_t floor;
    bool bound;  ///< an event of `cell` stands on the path
  };
  std::vector<Frame> frames_;
  boost::unordered_flat_map<const Cell*, std::uint64_t> counted_;
  std::vector<Bound> path_;  // from the last event to the first
  std::vector<Bound> out_;
};

template <class Visit>
std::size_t MatchWalk::each_cell(std::vector<SetPart> parts, const Alive& alive, const Visit& visit) {
  boost::unordered_flat_set<const Cell*> seen;
  while (!parts.empty()) {
    const auto [cell, floor] = parts.back();
    parts.pop_back();
    if (cell == nullptr || !alive.any_up_to(cell->newest) || !seen.insert(cell).second) continue;
    visit(*cell);
    parts.push_back({cell->older(floor), floor});
    parts.push_back({cell->before.get(), cell->floor});
  }
  return seen.size();
}

template <class Visit>
void MatchWalk::each(SetPart part, bool whole, const Alive& alive, const Visit& visit) {
  frames_.clear();
  path_.clear();
  frames_.push_back({part.head, part.floor, false});
  while (!frames_.empty()) {
    const std::size_t depth = frames_.size();
    const Cell* cell = frames_.back().cell;
    if (frames_.back().bound) {
      path_.pop_back();
      frames_.back().bound = false;
    }
    if (cell == nullptr || !alive.any_up_to(cell->newest)) {
      frames_.pop_back();
      continue;
    }
    frames_.back().cell = depth == 1 && !whole ? nullptr : cell->older(frames_.back().floor);
    if (cell->event != nullptr) {
      if (alive.is_used(*cell->event)) continue;
      if (cell->before == nullptr) {
        if (!alive.start(Start::of(*cell->event))) continue;
        out_.assign(1, {cell->element, cell->event.get()});
        out_.insert(out_.end(), path_.rbegin(), path_.rend());
        if (!visit(std::span<const Bound>(out_))) return;
        continue;
      }
      path_.push_back({cell->element, cell->event.get()});
      frames_.back().bound = true;
    }
    frames_.push_back({cell->before.get(), cell->floor, false});
  }
}

}  // namespace cepd::engine
