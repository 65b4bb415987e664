#pragma once
/// Complete match -> Match: id, key, emitted items and the arguments of its actions.

#include <memory>
#include <span>

#include "base/match.h"
#include "engine/key_state.h"

namespace cepd::engine {

/// All that a match is made from. Only looks.
struct MatchParts {
  const nfa::Network* network = nullptr;
  std::uint32_t rule = 0;  ///< index into RuleSet::rules
  MatchKind kind = MatchKind::kMatch;
  const KeyEntry* key = nullptr;
  std::span<const Bound> bound;
  EventTime time{};
  bool suppressed = false;            ///< over its LIMIT
  nfa::EvalErrors* errors = nullptr;  ///< counts unknowns of its expressions
};

/// The id of language-details.md section 5: XXH3-128 over kind, rule name, key and, per element, its events' positions.
MatchId match_id(MatchKind kind, const dsl::plan::Rule& rule, const std::string& key_id, std::span<const Bound> bound);

/// A match that is suppressed or of a SHADOW rule has no action calls.
MatchPtr make_match(const MatchParts& parts);

/// HAVING on a complete match.
bool having_holds(const nfa::Network& network, const dsl::plan::Rule& rule, std::span<const Value> key,
                  std::span<const Bound> bound, Arena& scratch, nfa::EvalErrors& errors);

/// A match as it is handed out: what most want to know at once, the rest when it is asked for. Holds during the call
/// only.
class MatchView {
 public:
  explicit MatchView(const MatchParts& parts)
      : parts_(parts), kind_(parts.kind), time_(parts.time), suppressed_(parts.suppressed) {}
  MatchView(MatchPtr match, std::uint32_t rule)
      : kind_(match->kind), time_(match->time), suppressed_(match->suppressed), match_(std::move(match)) {
    parts_.rule = rule;
  }

  std::uint32_t rule() const { return parts_.rule; }  ///< index into RuleSet::rules
  MatchKind kind() const { return kind_; }
  EventTime time() const { return time_; }
  bool suppressed() const { return suppressed_; }
  /// The whole match; once.
  MatchPtr take() const { return match_ ? std::move(match_) : make_match(parts_); }

 private:
  MatchParts parts_;
  MatchKind kind_;
  EventTime time_;
  bool suppressed_;
  mutable MatchPtr match_;
};

}  // namespace cepd::engine
