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

#include "engine/due_queue.h"
#include "engine/rule_runtime.h"
#include "nfa/dispatch.h"

namespace cepd::engine {

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

  LaneRules(std::shared_ptr<const nfa::Network> rules, std::size_t lanes);
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
  std::optional<EventTime> earliest() const { return due_.earliest(); }
  /// What falls due at `now` in rules of `level`. Requires that nothing is due earlier, and nothing of lower levels.
  void fire(EventTime now, std::uint32_t level, std::uint64_t step);
  /// All that falls due before `limit` (kMaxTime: everything), for rule sets of one level.
  void fire_before(EventTime limit, std::uint64_t step);

  /// The matches since the last call.
  std::vector<LaneMatch> take_matches() { return std::exchange(matches_, {}); }
  std::size_t kept_matches() const { return matches_.size(); }

  // ---- state ----

  /// Puts a key of a rule in place, restored or of an earlier set of rules. Requires that it is not there yet.
  void put(const KeyProbe& probe, std::unique_ptr<KeyState> state, EventTime watermark);
  /// Gives up all keys, with the states of their rules by the indexes that they had here.
  std::vector<std::unique_ptr<KeyEntry>> take_keys();

  /// Kept when asked for: states that changed since the last clear_changes(), and the stored keys (snapshot.h) of those
  /// that are gone.
  template <class Visit>
  void each_changed(const Visit& visit) const {
    for (const KeyState* state : changed_) {
      if (state != nullptr) visit(*state);
    }
  }
  std::vector<std::string>& gone() { return gone_; }
  void clear_changes();

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
    KeyState* state = nullptr;  ///< null: it has nothing under way
    std::size_t key = 0;        ///< number of the key among those of the event
    Offer offer;
  };
  class Cost;
  struct EventKey {
    boost::container::small_vector<Value, 2> values;
    std::uint64_t hash = 0;
    std::uint32_t table = 0;
  };

  void collect(const EventPtr& event, const nfa::TypeDispatch& dispatch);
  void collect(const EventPtr& event, const nfa::KeyWay& way);
  void collect_several(const EventPtr& event, const nfa::RuleInput& input);
  void add_item(const EventPtr& event, const nfa::RuleEntry& entry, KeyState* state, std::size_t key, bool starts);
  void count_missing(const Event& event, const nfa::KeyWay& way);
  bool read_key(const List<dsl::plan::FieldRef>& fields, const Event& event, EventKey& key) const;
  bool is_mine(std::uint32_t rule, const EventKey& key) const;
  bool passes_from(std::uint32_t rule, const nfa::RuleInput& input, const Event& event);
  void handle(Item& item);
  void after(KeyState& state);
  void mark_changed(KeyState& state);
  void remove(KeyState& state);

  std::shared_ptr<const LaneRules> rules_;
  EngineOptions options_;
  std::size_t index_;
  std::vector<RuleRuntime> runtimes_;  // by rule
  std::optional<std::uint32_t> traced_;
  std::vector<KeyTable> tables_;  // by number of the KEY clause
  DueQueue due_;
  Workspace work_;
  std::vector<KeyState*> changed_;
  std::vector<std::string> gone_;
  std::vector<std::uint64_t> missing_by_way_;  // events without a key
  // Of the event at hand.
  std::vector<EventKey> keys_;
  std::size_t key_count_ = 0;
  std::vector<Item> items_;
  std::vector<std::uint32_t> starts_;
  KeyEntry fresh_entry_;  // of a key without entry
  KeyState fresh_;
  std::vector<LaneMatch> matches_;
  // Of what is being worked: where its matches belong.
  std::uint64_t step_ = 0;
  EventTime due_now_ = kMinTime;
  std::uint64_t sample_ = 0;
};

}  // namespace cepd::engine
