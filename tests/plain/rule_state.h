#pragma once
/// One rule at work: its keys with their partial matches, from an event or a deadline to the reported matches.

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/match.h"
#include "tests/plain/evaluator.h"

namespace cepd::plain {

struct Options {
  /// Event time after which a partial match of a rule without WITHIN is dropped; none: never.
  std::optional<Micros> state_ttl;
  /// Most partial matches of one rule and key; beyond it those of the oldest first event are dropped and counted.
  std::size_t max_partial_matches = 100'000;
};

/// As engine::RuleCounts has them.
struct Counts {
  std::string rule;
  std::uint64_t matches = 0, timeouts = 0, by_having = 0, by_policy = 0, suppressed = 0, over_cap = 0, missing_key = 0;
};

class RuleState {
 public:
  using Report = std::function<void(MatchPtr)>;

  RuleState(const nfa::Network& network, std::uint32_t index, Options options);

  /// Requires events in the total order and every earlier deadline fired.
  void handle(const nfa::RuleInput& input, const EventPtr& event, const Report& report);
  /// When time alone next changes something; none: never.
  std::optional<EventTime> earliest_due() const;
  /// What falls due at `now`, key by key: absence, time-outs, the end of LIMIT spans.
  void fire(EventTime now, const Report& report);

  /// Takes over the keys and counts of the same rule under an older network.
  void adopt(RuleState&& before);

  const dsl::plan::Rule& rule() const { return evaluator_.rule(); }
  const Counts& counts() const { return counts_; }

 private:
  /// The order in which keys report (language-details.md section 5); 1 and 1.0 are one key.
  struct KeyLess {
    bool operator()(const std::vector<Value>& a, const std::vector<Value>& b) const;
  };

  std::map<std::vector<Value>, Offer, KeyLess> offers(const nfa::RuleInput& input, const EventPtr& event);
  EventTime due_of(const KeyState& state) const;
  void finish(KeyState& state, std::vector<Candidate> completed, std::vector<Run> expired, const Report& report);
  void report_match(KeyState& state, MatchKind kind, const std::vector<Bound>& bound, EventTime time,
                    const Report& report);
  void report_timeouts(KeyState& state, std::vector<Run> expired, const Report& report);
  void keep_under_cap(KeyState& state);

  const nfa::Network& network_;
  Options options_;
  Evaluator evaluator_;
  std::map<std::vector<Value>, std::unique_ptr<KeyState>, KeyLess> keys_;  // text in KeyState::arena
  Counts counts_;
};

}  // namespace cepd::plain
