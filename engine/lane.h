#pragma once
/// A lane holds a share of the keys of every rule, with their deadlines: all of one key's partial matches are in one
/// lane, whatever the rule set, so that lanes can work side by side and never look at each other.

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "engine/cold_keys.h"
#include "engine/due_queue.h"
#include "engine/key_clock.h"
#include "engine/rule_runtime.h"
#include "nfa/dispatch.h"

namespace cepd::engine {

struct PartHead;
struct StoredKeys;

/// A match with its place among those of other lanes.
struct LaneMatch {
  std::uint64_t step = 0;    ///< of the work at hand, the same in every lane
  EventTime due = kMinTime;  ///< the deadline; kMinTime: an event set it off
  std::uint32_t rule = 0;    ///< index into RuleSet::rules
  MatchPtr match;
};

/// Brings the matches of several lanes into the order of one: step, deadline, rule, key (language-details.md section
/// 5). Those of one rule and key come from one lane and keep their order.
void merge(std::vector<LaneMatch>& matches);

/// What all lanes look at; immutable while they work.
struct LaneRules {
  std::shared_ptr<const nfa::Network> network;
  nfa::Dispatch dispatch;
  std::vector<std::uint32_t> levels;           ///< by rule
  std::vector<std::uint32_t> lane_of_unkeyed;  ///< by rule: where it works when it has no KEY

  /// `alone`: by rule: it has no prefix (nfa/prefixes.h); empty: as its pattern says.
  LaneRules(std::shared_ptr<const nfa::Network> rules, std::size_t lanes, const std::vector<bool>& alone);

  const nfa::Prefixes& prefixes() const { return dispatch.prefixes(); }
  /// What the owner of a part (KeyPart::owner) is known by, over reloads and restarts.
  const MatchId& id_of(std::uint32_t owner) const;
  /// Of a rule's or prefix's (KeyPart::owner).
  std::uint32_t rule_of(std::uint32_t owner) const {
    return (owner & KeyPart::kPrefix) != 0 ? prefixes()[owner & ~KeyPart::kPrefix].rule : owner;
  }
};

/// One thread at a time.
class Lane {
 public:
  /// `direct`: gets every match at once; empty: they are kept for take_matches().
  Lane(std::shared_ptr<const LaneRules> rules, const EngineOptions& options, std::size_t index,
       Workspace::Report direct);
  Lane(const Lane&) = delete;
  Lane& operator=(const Lane&) = delete;

  /// Offers the event to the rules that it can do something to. Requires every earlier deadline fired.
  void give(const EventPtr& event, const nfa::TypeDispatch& dispatch, std::uint64_t step);
  /// When something falls due next; kMaxTime: never.
  EventTime earliest() const { return std::min(due_.earliest(), cold_.earliest()); }
  /// What falls due at `now` in rules of `level`. Requires that nothing is due earlier, and nothing of lower levels.
  void fire(EventTime now, std::uint32_t level, std::uint64_t step);
  /// All that falls due before `limit`, for rule sets of one level.
  void fire_before(EventTime limit, std::uint64_t step);

  /// The matches since the last call.
  std::vector<LaneMatch> take_matches() { return std::exchange(matches_, {}); }
  std::size_t kept_matches() const { return matches_.size(); }

  // ---- state ----

  /// Puts a part of a key in place, restored or of an earlier set of rules. Requires that it is not there yet.
  void put(const KeyProbe& probe, std::unique_ptr<KeyPart> part, EventTime watermark);
  /// After put(): what is too much for EngineOptions::max_partial_matches, which may have been larger, is dropped.
  void keep_all_under_cap(EventTime watermark);
  /// What waits in the rule's prefixes becomes its own, one by one: it will have none. Before take_keys().
  void leave_prefix(std::uint32_t rule, EventTime watermark);
  /// Gives up all keys, with their parts by the owners that they had here.
  std::vector<std::unique_ptr<KeyEntry>> take_keys();

  /// Begins a save of what changed since the last one, as it is now: what is still to be written is written before it
  /// changes again (as in a snapshot by copy on write). Events are stored by field plan `plan`, and the next one gets
  /// the number `sequence`. Requires that none is under way and EngineOptions::track_changes.
  void begin_save(std::uint64_t plan, std::uint64_t sequence);
  /// Moves to `batch` what has been written, and writes parts until there are `most_bytes`. False: nothing is left.
  bool save_some(state::WriteBatch& batch, std::size_t most_bytes);
  /// The record (snapshot.h) is to be erased with the next save, and is not looked at until then.
  /// False: that was known.
  bool note_gone(std::string stored_key) {
    return !erased_.contains(stored_key) && gone_.insert(std::move(stored_key)).second;
  }

  // ---- keys that are stored and not in memory (lane_cold.cc) ----

  /// From where they are read; null: all keys are in memory.
  void read_from(std::shared_ptr<const StoredKeys> stored);
  const std::shared_ptr<const StoredKeys>& stored() const { return stored_; }
  /// Something is stored under `key` (ColdKeys).
  void add_cold(std::uint64_t key, EventTime due) { cold_.add(key, due); }
  /// Takes over what an earlier set of rules has stored.
  void take_cold(Lane& before);
  const ColdKeys& cold() const { return cold_; }
  /// Reads those that begin with `key`.
  Status load(std::uint64_t key, EventTime now);
  /// Reads all of them.
  Status load_all(EventTime now);
  void load_all_now(EventTime now);  ///< StoredKeys::unreadable() has the error
  /// What save_some() has given can be read from where keys are stored.
  void saved();
  /// Engine::evict().
  bool evict(std::size_t most);
  Engine::KeyCounts key_counts() const { return {clock_.size(), cold_.size(), evicted_, loaded_}; }

  /// Null: nobody. Requires that the rule has nothing under way.
  void set_trace(std::uint32_t rule, Trace* trace);
  RuleRuntime& runtime(std::uint32_t rule) { return runtimes_[rule]; }
  /// Adds what was counted since the lane was made, by rule.
  void add_counted(std::vector<RuleCounts>& counts) const;
  void add_partial_matches(std::vector<RuleCounts>& counts, EventTime watermark) const;

 private:
  /// One rule that an event meets under one key.
  struct Item {
    std::uint32_t rule = 0;
    KeyState* state = nullptr;  ///< null: it has nothing under way by itself
    std::size_t key = 0;        ///< number of the key among those of the event
    Offer offer;
  };
  /// One prefix whose last event the event may be.
  struct PrefixItem {
    std::uint32_t prefix = 0;
    PrefixState* from = nullptr;  ///< of the shorter prefix; null: it is the first event
    std::size_t key = 0;
    bool accepted = false;          ///< the prefix's element was asked
    PrefixState* joined = nullptr;  ///< where the event waits then
  };
  /// What counts for all rules of a prefix.
  struct PrefixCounts {
    WorkCounts work;
    nfa::EvalErrors errors;
  };
  /// Adds what is done while it lives to the counts, its time from a sample.
  class Cost {
   public:
    Cost(Lane& lane, WorkCounts& counts) : lane_(lane), counts_(counts) {
      ++counts_.tested;
      if (lane_.options_.clock_ns != nullptr && ++lane_.sample_ % kEvery == 0) begin_ = lane_.options_.clock_ns();
    }
    ~Cost() {
      if (begin_) counts_.time_ns += static_cast<std::uint64_t>(lane_.options_.clock_ns() - *begin_) * kEvery;
    }
    Cost(const Cost&) = delete;
    Cost& operator=(const Cost&) = delete;

   private:
    static constexpr std::uint64_t kEvery = 64;
    Lane& lane_;
    WorkCounts& counts_;
    std::optional<std::int64_t> begin_;
  };
  struct EventKey {
    boost::container::small_vector<Value, 2> values;
    std::uint64_t hash = 0;
    std::uint32_t table = 0;
    KeyEntry* known = nullptr;  ///< before the event

    KeyProbe probe() const { return {hash, values}; }
  };

  void collect(const EventPtr& event, const nfa::TypeDispatch& dispatch);
  void collect(const EventPtr& event, const nfa::KeyWay& way);
  void collect_several(const EventPtr& event, const nfa::RuleInput& input);
  void find_readers(const EventPtr& event, const nfa::KeyWay& way, std::size_t key);
  void add_prefix_item(const Event& event, std::uint32_t prefix, PrefixState* from, std::size_t key, bool accepted);
  bool add_item(const EventPtr& event, const nfa::RuleEntry& entry, KeyState* state, std::size_t key, bool starts,
                PrefixState* from, const nfa::Entry* way = nullptr);
  void count_missing(const Event& event, const nfa::KeyWay& way);
  bool read_key(const List<dsl::plan::FieldRef>& fields, const Event& event, EventKey& key) const;
  bool is_mine(std::uint32_t rule, const KeyProbe& key) const;
  bool passes_from(std::uint32_t rule, const nfa::RuleInput& input, const nfa::Entry* way, const Event& event);
  KeyEntry& entry_of(EventKey& key);
  void handle(Item& item);
  KeyState& fresh(std::uint32_t rule, KeyEntry& entry);
  void keep_fresh(KeyEntry& entry);
  void after(KeyState& state);
  void settle(KeyState& state);
  KeyEntry& find_or_add(std::uint32_t table, const KeyProbe& probe);
  void erase(std::uint32_t table, KeyEntry& entry);
  void mark_changed(KeyPart& part);
  // Saves (lane_save.cc).
  void before_change(KeyPart& part) {
    if (part.changed_in == saving_list_ && !saving_.empty()) write(part);
  }
  void before_change_with_prefixes(KeyState& state);
  std::size_t write(KeyPart& part);
  void forget(KeyPart& part);
  void remove(KeyPart& part);
  void forget_emptied();
  EventTime due_of(const KeyPart& part) const;
  EventTime due_of(const PrefixState& state) const;
  std::string stored_key(const KeyPart& part) const;
  // Keys that are not in memory (lane_cold.cc).
  KeyEntry* find_key(std::uint32_t table, const KeyProbe& probe, EventTime now);
  void load_due(EventTime now);
  void must(const Status& read) const;
  Status take_record(std::string_view stored_key, std::string_view record, EventTime now);
  bool can_be_read_again(const KeyEntry& entry) const;
  void evict(KeyEntry& entry);
  // What rules with one prefix share (lane_prefixes.cc).
  void handle(PrefixItem& item, const EventPtr& event);
  void keep_joined_under_cap(EventTime now);
  bool begins_or_goes_on(const PrefixItem& item, const EventPtr& event);
  void keep_under_cap(PrefixState& state, EventTime now);
  std::uint64_t most_own(const KeyEntry& entry, std::uint32_t root) const;
  void cut(PrefixState& state, EventTime oldest);
  void expire(PrefixState& state, EventTime now);
  void after(PrefixState& state);
  void settle(PrefixState& state);
  void see_to_prefixes_of(const KeyState& state);
  bool may_join_prefix(const Item& item) const;
  void add_prefix_counts(std::vector<RuleCounts>& counts) const;
  void add_waiting(const PrefixState& state, std::vector<RuleCounts>& counts, EventTime watermark,
                   MatchWalk& walk) const;

  std::shared_ptr<const LaneRules> rules_;
  EngineOptions options_;
  std::size_t index_;
  std::vector<RuleRuntime> runtimes_;  // by rule
  std::optional<std::uint32_t> traced_;
  std::vector<KeyTable> tables_;  // by number of the KEY clause
  DueQueue due_;
  Workspace work_;
  std::vector<PrefixCounts> prefix_counts_;  // by prefix
  std::vector<KeyPart*> changed_;            // null: gone
  std::vector<KeyPart*> saving_;             // of the save under way; null: written, or gone
  std::uint32_t changed_list_ = 2;           // KeyPart::changed_in of those in changed_
  std::uint32_t saving_list_ = 1;            // of those in saving_
  state::WriteBatch written_;
  std::vector<std::pair<std::uint32_t, KeyEntry*>> emptied_;  // entries that may be empty, with their tables
  using Records = boost::unordered_flat_set<std::string>;     // by their keys
  Records gone_;                                              // to be erased
  Records erased_;                                            // by a save that is not saved() yet
  std::uint64_t saving_plan_ = 0, saving_before_ = 0;         // PartHead of the save under way
  std::shared_ptr<const StoredKeys> stored_;
  ColdKeys cold_;
  KeyClock clock_;               // of all keys, where they can be read again
  std::size_t may_evict_ = 0;    // slots of the clock to be looked at
  std::vector<KeyEntry*> made_;  // from the records under loading_
  std::uint64_t loading_ = 0;
  std::uint64_t evicted_ = 0, loaded_ = 0;
  std::vector<std::uint64_t> missing_by_way_;  // events without a key
  // Of the event at hand.
  std::vector<EventKey> keys_;
  std::size_t key_count_ = 0;
  std::vector<Item> items_;
  std::vector<PrefixItem> prefix_items_;
  std::vector<nfa::StartIndex::Found> starts_;
  std::vector<std::pair<nfa::StartIndex::Found, PrefixState*>> readers_;  // with what they read
  std::vector<PrefixState*> read_;                                        // that may have been emptied
  KeyEntry fresh_entry_;                                                  // of a key without entry
  KeyState fresh_;
  std::vector<LaneMatch> matches_;
  // Of what is being worked: where its matches belong.
  std::uint64_t step_ = 0;
  EventTime due_now_ = kMinTime;
  std::uint64_t sample_ = 0;
};

}  // namespace cepd::engine
