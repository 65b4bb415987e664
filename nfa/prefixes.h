#pragma once
/// Beginnings that patterns have in common. The partial matches of rules whose patterns begin alike are the same until
/// the patterns part, so they are kept once for all of them, whatever the rules do with them later. Prefixes form
/// trees: one goes on from the one that is an event shorter.
///
/// A prefix ends where partial matches are not alike for all rules: at a condition that looks back, a bound between two
/// events, NEXT, a repeat, an AND, an OR, a NOT. A rule has one if its pattern begins with an event that is bound by
/// itself, and then goes on; if it has a WITHIN, and neither FROM nor UNLESS. What prefix a rule has depends on that
/// rule alone.

#include <cstdint>
#include <vector>

#include "base/ids.h"
#include "base/time.h"
#include "nfa/network.h"

namespace cepd::nfa {

struct Prefix {
  static constexpr std::uint32_t kNone = UINT32_MAX;

  std::uint32_t parent = kNone;         ///< one event shorter; none: it is one event
  std::uint32_t root = 0;               ///< of one event
  std::uint32_t rule = 0;               ///< one of its rules: that rule's `element` says what its last event is
  dsl::plan::ElementId element{};       ///< the same in all its rules; also the number of its state
  bool any = false;                     ///< reached by THEN ANY: the parent's partial matches stay what they are
  bool shadow = false;                  ///< of SHADOW rules
  std::uint32_t level = 1;              ///< the highest of its rules
  Micros within{0};                     ///< the longest of its rules
  std::vector<std::uint32_t> rules;     ///< it is their longest one; sorted
  std::vector<std::uint32_t> prefixes;  ///< that go on from it
  MatchId identity;                     ///< equal in two sets of rules exactly when the partial matches are

  /// What takes its partial matches further.
  std::size_t readers() const { return rules.size() + prefixes.size(); }
};

class Prefixes {
 public:
  /// `alone`: by rule: it gets none whatever its pattern; empty: no such rule.
  Prefixes(const Network& network, const std::vector<bool>& alone);

  /// A prefix comes before those that go on from it.
  const std::vector<Prefix>& all() const { return all_; }
  const Prefix& operator[](std::uint32_t prefix) const { return all_[prefix]; }
  /// The longest one; Prefix::kNone: it has none.
  std::uint32_t of_rule(std::uint32_t rule) const { return of_rule_[rule]; }
  /// Calls `visit(rule)` for all rules that begin with the prefix.
  template <class Visit>
  void each_rule(std::uint32_t prefix, const Visit& visit) const {
    for (const std::uint32_t rule : all_[prefix].rules) visit(rule);
    for (const std::uint32_t longer : all_[prefix].prefixes) each_rule(longer, visit);
  }

 private:
  std::vector<Prefix> all_;
  std::vector<std::uint32_t> of_rule_;
};

}  // namespace cepd::nfa
