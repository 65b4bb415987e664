#include "engine/match_set.h"

#include <algorithm>
#include <new>
#include <utility>

#include "base/block_pool.h"
#include "engine/layers.h"

namespace cepd::engine {
namespace {

/// Cells that nothing refers to any more, linked by `newer`, until they are taken apart. A long set is taken apart a
/// few cells at a time, so that no event waits for it; and one after the other, so that no recursion gets deep.
struct Dead {
  Cell* first = nullptr;
  bool working = false;

  void add(Cell* cell);
  void take_apart(std::size_t most) {
    if (first == nullptr || std::exchange(working, true)) return;
    for (; first != nullptr && most > 0; --most) {
      Cell* cell = first;
      first = cell->newer;
      cell->~Cell();
      BlockPool::release(cell, sizeof(Cell));
    }
    working = false;
  }
};
/// Needs no constructor, so that reading it is not a call that asks whether it has run.
constinit thread_local Dead dead;

/// At its end the thread takes the rest apart.
struct TakesApart {
  TakesApart() { BlockPool::release(BlockPool::allocate(1), 1); }  // which must outlive it
  ~TakesApart() { dead.take_apart(SIZE_MAX); }
};

void Dead::add(Cell* cell) {
  if (first == nullptr) {
    thread_local const TakesApart at_end;
  }
  cell->newer = first;
  first = cell;
}

constexpr std::size_t kDeadAtOnce = 4;

CellPtr make_cell() {
  dead.take_apart(kDeadAtOnce);
  return CellPtr(new (BlockPool::allocate(sizeof(Cell))) Cell);
}

std::uint64_t sum(std::uint64_t a, std::uint64_t b) { return std::min(a + b, kManyMatches); }

bool contains(const Sequences* sequences, std::uint64_t sequence) {
  return sequences != nullptr && sequences->contains(sequence);
}

/// Says of a cell that has got its place what can be said once and for all.
void place(Cell& cell) {
  cell.newest = cell.own_newest();
  cell.newer = nullptr;
  if (cell.next != nullptr) {
    cell.newest = std::max(cell.newest, cell.next->newest);
    cell.next->newer = &cell;
  }
  cell.layered = Layers::fits(cell);
}

}  // namespace

void intrusive_ptr_add_ref(CellList* list) { ++list->references; }

void intrusive_ptr_release(CellList* list) {
  if (--list->references == 0) BlockPool::release(list, sizeof(CellList));
}

CellListPtr new_list(Cell* oldest) { return new (BlockPool::allocate(sizeof(CellList))) CellList{oldest}; }

void intrusive_ptr_add_ref(Cell* cell) { ++cell->references; }

void intrusive_ptr_release(Cell* cell) {
  if (--cell->references > 0) return;
  dead.add(cell);
  dead.take_apart(kDeadAtOnce);
}

CellPtr restored_cell(EventPtr event, dsl::plan::ElementId element, CellPtr before, CellListPtr list, CellPtr next,
                      std::uint64_t count) {
  CellPtr cell = make_cell();
  cell->event = std::move(event);
  cell->element = element;
  cell->before = std::move(before);
  cell->list = std::move(list);
  cell->next = std::move(next);
  cell->count = count;
  place(*cell);
  return cell;
}

void MatchSet::push(CellPtr cell) {
  count_ = sum(count_, cell->count);
  flat_ = flat_ && cell->before == nullptr;
  if (head_ == nullptr) tail_ = cell.get();
  last_sequence_ = cell->event == nullptr ? 0 : cell->event->sequence;
  cell->next = std::move(head_);
  place(*cell);
  head_ = std::move(cell);
}

const CellListPtr& MatchSet::list() {
  if (list_ == nullptr && head_->next != nullptr) list_ = new_list(tail_);
  return list_;
}

void MatchSet::add(EventPtr event, dsl::plan::ElementId element, MatchSet* before) {
  CellPtr cell = make_cell();
  cell->event = std::move(event);
  cell->element = element;
  cell->count = 1;
  if (before != nullptr) {
    cell->before = before->head_;
    cell->list = before->list();
    cell->count = before->count_;
    cell->floor = before->floor_;
  }
  push(std::move(cell));
}

void MatchSet::go_on(EventPtr event, dsl::plan::ElementId element) {
  CellPtr cell = make_cell();
  cell->event = std::move(event);
  cell->element = element;
  cell->list = list();
  cell->count = count_;
  cell->floor = floor_;
  cell->before = std::move(head_);
  last_sequence_ = cell->event->sequence;
  floor_ = 0;
  flat_ = false;
  list_.reset();
  tail_ = cell.get();
  place(*cell);
  head_ = std::move(cell);
}

MatchSet MatchSet::above(std::uint64_t floor, std::uint64_t count) {
  if (!empty()) list();
  MatchSet part = *this;
  part.floor_ = floor;
  part.count_ = count;
  return part;
}

void MatchSet::join(MatchSet&& other) {
  if (empty()) {
    *this = std::exchange(other, {});
    return;
  }
  CellPtr both = make_cell();
  both->list = other.list();
  both->before = std::move(other.head_);
  both->count = other.count_;
  other = {};
  push(std::move(both));
}

void MatchSet::join_new(MatchSet&& other) {
  CellPtr cell = std::move(other.head_);
  other = {};
  while (cell != nullptr) {
    CellPtr next = std::move(cell->next);
    push(std::exchange(cell, std::move(next)));
  }
}

template <class Gone>
void MatchSet::cut_while(const Gone& gone) {
  while (tail_ != nullptr && gone(*tail_)) {
    Cell* const newer = tail_ == head_.get() ? nullptr : tail_->newer;
    count_ = count_ == kManyMatches ? kManyMatches : count_ - tail_->count;
    tail_->cut = true;
    if (newer == nullptr) {
      *this = {};
      return;
    }
    newer->next.reset();
    tail_ = newer;
    if (list_ != nullptr) list_->oldest = newer;
  }
}

void MatchSet::cut(std::uint64_t oldest) {
  cut_while([&](const Cell& cell) { return cell.own_newest().sequence < oldest; });
}

void MatchSet::cut(EventTime oldest) {
  cut_while([&](const Cell& cell) { return cell.own_newest().time < oldest; });
}

void MatchSet::cut_dead(const Alive& alive) {
  cut_while([&](const Cell& cell) {
    if (!alive.any_up_to(cell.own_newest())) return true;
    if (cell.event == nullptr) return false;
    if (alive.is_used(*cell.event)) return true;
    if (cell.before == nullptr) return !alive.start(Start::of(*cell.event));
    return cell.floor == 0 && cell.before->layered &&
           Layers::oldest_first(*cell.before, Layers::oldest_before(cell), alive) == nullptr;
  });
}

MatchSet MatchSet::restored(CellPtr head, CellListPtr list) {
  MatchSet set;
  set.list_ = std::move(list);
  if (head->event != nullptr) set.last_sequence_ = head->event->sequence;
  for (Cell* cell = head.get(); cell != nullptr; cell = cell->next.get()) {
    set.count_ = sum(set.count_, cell->count);
    set.tail_ = cell;
    set.flat_ = set.flat_ && cell->before == nullptr;
  }
  set.head_ = std::move(head);
  return set;
}

MatchWalk::Counted MatchWalk::count(SetPart part, const Alive& alive, std::size_t most_cells) {
  Counted counted;
  counted_.clear();
  frames_.assign(1, {part.head, part.floor, false});
  // What a cell and all below it come to needs what `before` and `next` come to.
  const auto known = [&](const Cell* cell) {
    if (cell == nullptr || counted_.contains(cell)) return true;
    if (counted_.size() + frames_.size() <= most_cells) return false;
    counted.all = false;
    return true;
  };
  const auto of = [&](const Cell* cell) {
    const auto found = counted_.find(cell);
    return found == counted_.end() ? 0 : found->second;
  };
  while (!frames_.empty()) {
    const Cell* cell = frames_.back().cell;
    const Cell* next = cell == nullptr ? nullptr : cell->older(frames_.back().floor);
    if (cell == nullptr || counted_.contains(cell)) {
      frames_.pop_back();
    } else if (!alive.any_up_to(cell->newest)) {
      counted_[cell] = 0;
    } else if (!known(cell->before.get())) {
      frames_.push_back({cell->before.get(), cell->floor, false});
    } else if (!known(next)) {
      frames_.push_back({next, frames_.back().floor, false});
    } else {
      std::uint64_t own = 0;
      if (cell->event == nullptr || !alive.is_used(*cell->event)) {
        own = cell->before != nullptr ? of(cell->before.get()) : alive.start(Start::of(*cell->event)) ? 1 : 0;
      }
      const std::uint64_t all = sum(own, of(next));
      counted_[cell] = all;
    }
  }
  counted.count = of(part.head);
  return counted;
}

bool Alive::start(const Start& start) const { return any_up_to(start) && !contains(dropped_starts, start.sequence); }

bool Alive::is_used(const Event& event) const { return contains(used, event.sequence); }

}  // namespace cepd::engine
