#pragma once
/// A heap whose entries can be moved and taken out, because whoever is in it is told where.

#include <cstddef>
#include <utility>
#include <vector>

namespace cepd::engine {

/// `Entry::before(const Entry&)`: it comes first. `Placed(const Entry&, slot)` is called whenever an entry gets a slot.
template <class Entry>
class SlotHeap {
 public:
  bool empty() const { return entries_.empty(); }
  std::size_t size() const { return entries_.size(); }
  const Entry& front() const { return entries_.front(); }
  Entry& operator[](std::size_t slot) { return entries_[slot]; }
  const Entry& operator[](std::size_t slot) const { return entries_[slot]; }

  template <class Placed>
  void push(Entry entry, const Placed& placed) {
    entries_.push_back(std::move(entry));
    up(entries_.size() - 1, placed);
  }
  /// The entry at `slot` has come to stand before or behind others.
  template <class Placed>
  void moved(std::size_t slot, const Placed& placed) {
    down(up(slot, placed), placed);
  }
  template <class Placed>
  void erase(std::size_t slot, const Placed& placed) {
    Entry last = std::move(entries_.back());
    entries_.pop_back();
    if (slot == entries_.size()) return;
    entries_[slot] = std::move(last);
    moved(slot, placed);
  }

 private:
  static constexpr std::size_t kWidth = 4;

  template <class Placed>
  std::size_t up(std::size_t slot, const Placed& placed) {
    Entry entry = std::move(entries_[slot]);
    while (slot > 0 && entry.before(entries_[(slot - 1) / kWidth])) {
      put(slot, std::move(entries_[(slot - 1) / kWidth]), placed);
      slot = (slot - 1) / kWidth;
    }
    put(slot, std::move(entry), placed);
    return slot;
  }

  template <class Placed>
  void down(std::size_t slot, const Placed& placed) {
    Entry entry = std::move(entries_[slot]);
    for (;;) {
      const std::size_t first = slot * kWidth + 1;
      if (first >= entries_.size()) break;
      std::size_t least = first;
      for (std::size_t child = first + 1; child < first + kWidth && child < entries_.size(); ++child) {
        if (entries_[child].before(entries_[least])) least = child;
      }
      if (!entries_[least].before(entry)) break;
      put(slot, std::move(entries_[least]), placed);
      slot = least;
    }
    put(slot, std::move(entry), placed);
  }

  template <class Placed>
  void put(std::size_t slot, Entry entry, const Placed& placed) {
    entries_[slot] = std::move(entry);
    placed(entries_[slot], slot);
  }

  std::vector<Entry> entries_;
};

}  // namespace cepd::engine
