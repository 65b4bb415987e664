#pragma once
/// The keys of one lane and what each rule knows of them. Rules with the same KEY share a table, so that an event's key
/// is looked up once for all of them.

#include <boost/container/deque.hpp>
#include <boost/unordered/unordered_flat_set.hpp>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/block_pool.h"
#include "base/value.h"
#include "engine/marks.h"
#include "engine/run.h"
#include "engine/run_index.h"

namespace cepd::engine {

class KeyEntry;

/// Of matches, in rising order. Empty it takes no memory, unlike std::deque.
using Times = boost::container::deque<EventTime>;

/// All that one rule knows of one key.
struct KeyState {
  /// What most have not.
  struct Rare {
    Runs expired;  ///< ended by a bound while others of their first event go on: may be reported later
    Times acted;   ///< times of matches whose actions ran, for LIMIT
    Times acted_on_timeout;
    Marks marks;

    static void* operator new(std::size_t bytes) { return BlockPool::allocate(bytes); }
    static void operator delete(void* block, std::size_t bytes) { BlockPool::release(block, bytes); }
    /// Marks alone say nothing: they are about runs.
    bool empty() const { return expired.empty() && acted.empty() && acted_on_timeout.empty(); }
  };

  KeyEntry* entry = nullptr;
  std::uint32_t rule = 0;               ///< index into RuleSet::rules
  std::uint32_t due_slot = UINT32_MAX;  ///< in the due queue; UINT32_MAX: not there
  EventTime runs_due = kMaxTime;        ///< at or before the first Run::due; kMaxTime: none
  std::uint64_t last_input = 0;         ///< sequence of the last event of the input
  Runs runs;
  std::uint32_t merge_at = 32;      ///< number of runs at which it is looked whether some have come to agree
  std::unique_ptr<RunIndex> index;  ///< of `runs`, where there are many; null: none
  std::unique_ptr<Rare> rare;
  std::uint32_t changed_slot = UINT32_MAX;  ///< in the list of what changed since the last save
  bool stored = false;                      ///< the backend has a record of it
  bool sets = false;                        ///< runs may stand for several partial matches (Evaluator::sets())

  static void* operator new(std::size_t bytes) { return BlockPool::allocate(bytes); }
  static void operator delete(void* block, std::size_t bytes) { BlockPool::release(block, bytes); }

  Rare& rarely() {
    if (!rare) rare = std::make_unique<Rare>();
    return *rare;
  }
  void add_run(Run&& run) {
    runs.push_back(std::move(run));
    if (index) index->add(runs.back());
  }
  /// The last run takes the place.
  void remove_run(std::size_t place) {
    if (index) index->remove(place, runs[place]);
    if (place + 1 != runs.size()) runs[place] = std::move(runs.back());
    runs.pop_back();
  }
  /// Returns how many were erased.
  template <class Gone>
  std::size_t erase_runs(const Gone& gone) {
    if (!index) return erase_if(runs, gone);
    const std::size_t before = runs.size();
    for (std::size_t i = before; i-- > 0;) {
      if (gone(runs[i])) remove_run(i);
    }
    return before - runs.size();
  }
  /// After Run::due of the run at `place` was set.
  void note_due(std::size_t place) {
    if (index) index->set_due(place, runs[place].due);
    runs_due = index ? index->first_due() : std::min(runs_due, runs[place].due);
  }

  bool empty() const { return runs.empty() && (!rare || rare->empty()); }
  std::span<const Value> key() const;
};

/// The values of the key fields, found or to be found.
struct KeyProbe {
  std::uint64_t hash = 0;
  std::span<const Value> key;
};

/// Equal keys (1 and 1.0, 0.0 and -0.0) have one hash.
std::uint64_t hash_key(std::span<const Value> key);
/// -1, 0 or 1: the order in which keys report (language-details.md section 5).
int compare_keys(std::span<const Value> a, std::span<const Value> b);

/// One key: its values and the states of the rules that have something under way for it.
class KeyEntry {
 public:
  KeyEntry() = default;
  explicit KeyEntry(const KeyProbe& probe);
  ~KeyEntry();
  KeyEntry(const KeyEntry&) = delete;
  KeyEntry& operator=(const KeyEntry&) = delete;

  static void* operator new(std::size_t bytes) { return BlockPool::allocate(bytes); }
  static void operator delete(void* block, std::size_t bytes) { BlockPool::release(block, bytes); }

  std::uint64_t hash() const { return hash_; }
  std::span<const Value> key() const { return {key_.data(), key_.size()}; }
  std::string canonical() const;  ///< bytes that are equal for equal keys

  /// Stands for a key that has no entry yet, whose values outlive what is done with it.
  void look_at(const KeyProbe& probe) {
    hash_ = probe.hash;
    key_.assign(probe.key.begin(), probe.key.end());
  }

  /// A rule's state, beside its rule so that a look at many touches few of them.
  struct OfRule {
    std::uint32_t rule;
    KeyState* state;
  };
  std::span<const OfRule> states() const { return {states_.data(), states_.size()}; }
  KeyState* find(std::uint32_t rule) const;
  /// Requires that its rule has none.
  KeyState& add(std::unique_ptr<KeyState> state);
  void erase(KeyState& state);
  bool empty() const { return states_.empty(); }
  /// Gives up all states, in the order of rules.
  std::vector<std::unique_ptr<KeyState>> take();

 private:
  std::uint64_t hash_ = 0;
  boost::container::small_vector<Value, 1> key_;
  char* text_ = nullptr;  // of key_, from the pool
  std::uint32_t text_bytes_ = 0;
  boost::container::small_vector<OfRule, 1, PoolAllocator<OfRule>> states_;  // sorted by rule
};

/// The keys of one KEY clause.
class KeyTable {
 public:
  KeyTable() = default;
  KeyTable(KeyTable&&) = default;
  KeyTable& operator=(KeyTable&&) = default;
  ~KeyTable();

  KeyEntry* find(const KeyProbe& probe) const;
  KeyEntry& find_or_add(const KeyProbe& probe);
  /// Requires that the entry is empty.
  void erase(KeyEntry& entry);

  template <class Visit>
  void each(const Visit& visit) const {
    for (KeyEntry* entry : entries_) visit(*entry);
  }
  /// Gives up all entries.
  std::vector<std::unique_ptr<KeyEntry>> take();

 private:
  struct Hash {
    using is_transparent = void;
    using is_avalanching = void;
    std::uint64_t operator()(const KeyEntry* entry) const { return entry->hash(); }
    std::uint64_t operator()(const KeyProbe& probe) const { return probe.hash; }
  };
  struct Equal {
    using is_transparent = void;
    bool operator()(const KeyEntry* a, const KeyEntry* b) const { return a == b; }
    bool operator()(const KeyProbe& a, const KeyEntry* b) const { return compare_keys(a.key, b->key()) == 0; }
    bool operator()(const KeyEntry* a, const KeyProbe& b) const { return (*this)(b, a); }
  };
  boost::unordered_flat_set<KeyEntry*, Hash, Equal> entries_;
};

inline std::span<const Value> KeyState::key() const { return entry->key(); }

}  // namespace cepd::engine
