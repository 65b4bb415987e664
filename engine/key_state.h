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

/// What is kept for one key: by a rule, or by a prefix for all rules that begin with it.
struct KeyPart {
  static constexpr std::uint32_t kPrefix = 1U << 31;  ///< beside the number of a prefix in an `owner`

  KeyEntry* entry = nullptr;
  std::uint32_t owner = 0;              ///< index into RuleSet::rules; or kPrefix and one into nfa::Prefixes
  std::uint32_t level = 1;              ///< of the rule; at its deadlines it has its turn with the others of it
  std::uint32_t due_slot = UINT32_MAX;  ///< in the due queue; UINT32_MAX: not there
  std::uint32_t changed_in = 0;         ///< the lane's list of what changed that it is in; 0: in none
  std::uint32_t changed_slot = 0;       ///< its place there
  bool stored = false;                  ///< some save has written it

  bool of_prefix() const { return (owner & kPrefix) != 0; }
  std::uint32_t prefix() const { return owner & ~kPrefix; }
  std::span<const Value> key() const;

  KeyPart() = default;
  KeyPart(KeyPart&&) = default;
  KeyPart& operator=(KeyPart&&) = default;
  virtual ~KeyPart() = default;
  static void* operator new(std::size_t bytes) { return BlockPool::allocate(bytes); }
  static void operator delete(void* block, std::size_t bytes) { BlockPool::release(block, bytes); }
};

/// How much of a prefix's partial matches a reader has taken for good: those up to an event.
struct Taken {
  std::uint64_t sequence = 0;  ///< of that event; 0: none
  std::uint64_t added = 0;     ///< PrefixState::added then
};

/// The partial matches that wait in one prefix (nfa/prefixes.h). Its readers, rules and longer prefixes, take them from
/// the set as it is, and it remembers up to where each has; a reader that is the only one takes them away.
struct PrefixState final : KeyPart {
  struct Reader {
    std::uint32_t owner;  ///< as in KeyPart
    Taken taken;
  };
  MatchSet set;
  std::uint64_t added = 0;     ///< partial matches ever, up to kManyMatches
  std::uint64_t most_own = 0;  ///< of a prefix of one event: at least as many as any of its rules holds by itself
  std::vector<Reader, PoolAllocator<Reader>> readers;  ///< who has taken something, by owner
  std::uint32_t forget_at = 8;  ///< how many readers there may be before those of no use are looked for

  /// What taken_by() reads is wanted soon; the second time a while after the first.
  void prefetch() const {
    __builtin_prefetch(this);
    __builtin_prefetch(reinterpret_cast<const std::byte*>(&readers + 1) - 1);
  }
  void prefetch_readers() const { __builtin_prefetch(readers.data()); }
  Taken taken_by(std::uint32_t reader) const;
  void note_taken(std::uint32_t reader, const Taken& taken);
  /// What the reader has not taken yet, to be continued. `for_good`: it is not to have it again; who is the `only_one`
  /// to read takes it away then. Requires that there is some.
  MatchSet take(std::uint32_t reader, bool for_good, bool only_one);
  /// Drops readers who have taken nothing of what there still is.
  void forget_readers();
  /// What was added since.
  SetPart part_above(const Taken& floor) const {
    const Cell* head = set.head().get();
    if (head == nullptr || (floor.sequence != 0 && set.last_sequence() <= floor.sequence)) return {};
    return {head, floor.sequence};
  }
  /// How many these are, at most.
  std::uint64_t count_above(const Taken& floor) const {
    if (part_above(floor).head == nullptr) return 0;
    return added >= kManyMatches ? set.count() : std::min(set.count(), added - floor.added);
  }
};

/// All that one rule knows of one key, but for what its prefix keeps.
struct KeyState final : KeyPart {
  /// What most have not.
  struct Rare {
    Runs expired;  ///< ended by a bound while others of their first event go on: may be reported later
    Times acted;   ///< times of matches whose actions ran, for LIMIT
    Times acted_on_timeout;
    Marks marks;

    static void* operator new(std::size_t bytes) { return BlockPool::allocate(bytes); }
    static void operator delete(void* block, std::size_t bytes) { BlockPool::release(block, bytes); }
    bool empty() const { return expired.empty() && acted.empty() && acted_on_timeout.empty() && marks.empty(); }
  };

  EventTime runs_due = kMaxTime;  ///< at or before the first Run::due; kMaxTime: none
  std::uint64_t last_input = 0;   ///< sequence of the last event of the input
  Runs runs;
  std::uint32_t merge_at = 32;      ///< number of runs at which it is looked whether some have come to agree
  std::unique_ptr<RunIndex> index;  ///< of `runs`, where there are many; null: none
  std::unique_ptr<Rare> rare;
  EventTime marked_until = kMinTime;  ///< then marks are about nothing in the prefix any more
  bool sets = false;                  ///< runs may stand for several partial matches (Evaluator::sets())

  Rare& rarely() {
    if (!rare) rare = std::make_unique<Rare>();
    return *rare;
  }
  /// What only time-outs ask. True when there was something.
  bool forget_timeouts();
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
};

/// The values of the key fields, found or to be found.
struct KeyProbe {
  std::uint64_t hash = 0;
  std::span<const Value> key;
};

/// Equal keys (1 and 1.0, 0.0 and -0.0) have one hash.
std::uint64_t hash_key(std::span<const Value> key);
/// Bytes that are equal for equal keys, and for no others.
std::string canonical_key(std::span<const Value> key);
/// -1, 0 or 1: the order in which keys report (language-details.md section 5).
int compare_keys(std::span<const Value> a, std::span<const Value> b);

/// One key: its values and what rules and prefixes have under way for it.
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

  /// Stands for a key that has no entry yet, whose values outlive what is done with it.
  void look_at(const KeyProbe& probe) {
    hash_ = probe.hash;
    key_.assign(probe.key.begin(), probe.key.end());
  }

  /// Beside its owner so that a look at many touches few of them.
  struct OfOwner {
    std::uint32_t owner;
    bool waits;  ///< an event may do something to it; a rule's state without runs only remembers
    KeyPart* part;
  };
  /// Those of rules first.
  std::span<const OfOwner> parts() const { return {parts_.data(), parts_.size()}; }
  /// Of them, those of prefixes.
  std::span<const OfOwner> prefixes() const;
  KeyState* find_rule(std::uint32_t rule) const { return static_cast<KeyState*>(find(rule)); }
  PrefixState* find_prefix(std::uint32_t prefix) const {
    return static_cast<PrefixState*>(find(prefix | KeyPart::kPrefix));
  }
  /// Requires that its owner has none.
  void add(std::unique_ptr<KeyPart> part);
  void erase(KeyPart& part);
  void set_waits(std::uint32_t owner, bool waits);
  bool empty() const { return parts_.empty(); }
  /// Gives up all, in their order.
  std::vector<std::unique_ptr<KeyPart>> take();

  bool emptied = false;  ///< the lane looks whether it still is empty
  bool touched = true;   ///< since the hand of the clock came by (KeyClock)

 private:
  friend class KeyClock;
  KeyPart* find(std::uint32_t owner) const;

  std::uint64_t hash_ = 0;
  boost::container::small_vector<Value, 1> key_;
  char* text_ = nullptr;  // of key_, from the pool
  std::uint32_t text_bytes_ = 0;
  std::uint32_t clock_slot_ = UINT32_MAX;
  boost::container::small_vector<OfOwner, 1, PoolAllocator<OfOwner>> parts_;  // sorted by owner
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

inline std::span<const Value> KeyPart::key() const { return entry->key(); }

}  // namespace cepd::engine
