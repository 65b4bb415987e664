#pragma once
/// A lane holds a share of the keys of every rule, with their deadlines: all of one key's partial matches are in one
/// lane, whatever the rule set, so that lanes can work side by side and never look at each other.

#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "engine/due_queue.h"
#include "engine/rule_runtime.h"

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

/// One thread at a time.
class Lane {
 public:
  /// `levels`: of the rules, by index.
  Lane(const std::shared_ptr<const nfa::Network>& network, const EngineOptions& options,
       const std::vector<std::uint32_t>& levels, std::size_t index);
  Lane(const Lane&) = delete;
  Lane& operator=(const Lane&) = delete;

  /// Offers the event to the rules of `inputs`. Requires every earlier deadline fired.
  void give(const EventPtr& event, const nfa::Inputs& inputs, std::uint64_t step);
  std::optional<EventTime> earliest() const { return due_.earliest(); }
  /// What falls due at `now` in rules of `level`. Requires that nothing is due earlier, and nothing of lower levels.
  void fire(EventTime now, std::uint32_t level, std::uint64_t step);
  /// All that falls due before `limit` (kMaxTime: everything), for rule sets of one level.
  void fire_before(EventTime limit, std::uint64_t step);

  /// The matches since the last call.
  std::vector<LaneMatch> take_matches() { return std::exchange(matches_, {}); }

  void put(std::uint32_t rule, std::unique_ptr<KeyState> key) { rules_[rule].put(std::move(key), due_); }
  void adopt(std::uint32_t rule, RuleRuntime&& before) { rules_[rule].adopt(std::move(before), due_); }
  std::vector<RuleRuntime>& rules() { return rules_; }
  const std::vector<RuleRuntime>& rules() const { return rules_; }

 private:
  std::vector<RuleRuntime> rules_;  // by index in RuleSet::rules
  DueQueue due_;
  Arena scratch_;
  std::vector<LaneMatch> matches_;
  // Of what is being worked: where its matches belong.
  std::uint64_t step_ = 0;
  EventTime due_now_ = kMinTime;
  std::uint32_t rule_ = 0;
  RuleRuntime::Report report_ = [this](MatchPtr match) {
    matches_.push_back({step_, due_now_, rule_, std::move(match)});
  };
};

}  // namespace cepd::engine
