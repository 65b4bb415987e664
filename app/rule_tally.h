#pragma once
/// How often each rule matched, counted where its matches come out of the engine.

#include <cstdint>
#include <string>
#include <vector>

#include "engine/report.h"
#include "nfa/network.h"

namespace cepd::app {

struct RuleTallies {
  std::uint64_t matches = 0, timeouts = 0;  ///< suppressed ones included
  std::uint64_t suppressed = 0;
  std::uint64_t sum() const { return matches + timeouts; }
};

/// By the pump's thread.
class RuleTally {
 public:
  explicit RuleTally(const nfa::Network& network) : rules_(network.rules().rules.size()) {}

  void count(const engine::MatchView& match) {
    count(rules_[match.rule()], match);
    count(all_, match);
  }
  /// The engine has new rules: those of a name that there was before go on counting.
  void swap(const nfa::Network& before, const nfa::Network& now);

  const RuleTallies& all() const { return all_; }  ///< of rules that are gone, too
  struct OfRule {
    std::string rule;
    RuleTallies tallies;
  };
  /// Of the rules that have counted something. `network` is the engine's.
  std::vector<OfRule> by_rule(const nfa::Network& network) const;

 private:
  static void count(RuleTallies& into, const engine::MatchView& match) {
    ++(match.kind() == MatchKind::kTimeout ? into.timeouts : into.matches);
    if (match.suppressed()) ++into.suppressed;
  }

  std::vector<RuleTallies> rules_;  // by the rule's index
  RuleTallies all_;
};

}  // namespace cepd::app
