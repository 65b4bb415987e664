#pragma once
/// One rule at work in one lane: from an event or a deadline of a key to the reported matches.

#include <functional>
#include <memory>
#include <vector>

#include "engine/engine.h"
#include "engine/evaluator.h"
#include "engine/layers.h"
#include "engine/preferred.h"
#include "engine/report.h"

namespace cepd::engine {

/// What the rules of one lane share; used anew for every event and deadline.
struct Workspace {
  using Report = std::function<void(const MatchView&)>;

  Report report;
  Arena scratch;
  std::vector<Completed> completed;
  Runs expired;
  std::vector<Bound> bound;  // of the candidates
  std::vector<Candidate> candidates;
  std::vector<std::pair<std::size_t, EventTime>> ends;  // of each candidate, in `bound`, and its time
  MatchWalk walk;
  Layers layers;
  Preferred preferred;
  nfa::SharedOutcomes outcomes;
  std::uint64_t joining = 0;  // sequence of the event at hand where Offer::joins_prefix; 0: it is not so

  explicit Workspace(std::uint32_t shared_conditions) : outcomes(shared_conditions) {}
  void clear() {
    joining = 0;
    completed.clear();
    expired.clear();
    scratch.release();
  }
};

class RuleRuntime {
 public:
  /// All outlive this.
  RuleRuntime(const nfa::Network& network, const nfa::Prefixes& prefixes, std::uint32_t index,
              const EngineOptions& options);

  /// Requires events in the total order and every earlier deadline fired. The key may be empty afterwards.
  void handle(KeyState& key, const Offer& offer, Workspace& work);
  /// What falls due at `now` for this key: absence, time-outs, the end of LIMIT spans. Likewise.
  void fire(KeyState& key, EventTime now, Workspace& work);
  /// When time alone next changes something for the key; kMaxTime: never.
  EventTime due(const KeyState& key) const;
  /// After a restore, or under a new network: deadlines are computed again, and what the rule has no use for is
  /// forgotten. True when something was.
  bool take_over(KeyState& key, EventTime watermark) const;

  /// Tells `trace` every decision from now on; null: nobody. Requires that no partial match is under way.
  void set_trace(Trace* trace) { evaluator_.set_trace(trace); }
  Trace* trace() const { return evaluator_.trace(); }

  /// It is wanted soon.
  void prefetch() const {
    for (std::size_t at = 0; at < sizeof *this; at += 64) __builtin_prefetch(reinterpret_cast<const char*>(this) + at);
  }

  const dsl::plan::Rule& rule() const { return evaluator_.rule(); }
  const Evaluator& evaluator() const { return evaluator_; }
  nfa::EvalErrors& errors() { return evaluator_.errors(); }

  /// Makes what waits in the prefixes runs of the rule's own, one for each partial match.
  void leave_prefix(KeyState& key, EventTime watermark) const;

  void set_since(std::uint64_t sequence) { evaluator_.set_since(sequence); }
  std::uint64_t since() const { return evaluator_.since(); }

  /// How many partial matches of the key count at this watermark, those that wait in the prefix among them.
  std::uint64_t partial_matches(const KeyState& key, EventTime watermark, MatchWalk& walk) const;
  /// Drops those of the oldest first events where there are too many.
  void keep_under_cap(KeyState& key, EventTime now, Workspace& work);
  /// Tells the prefixes how much the rule holds by itself.
  void note_own(const KeyState& key) const;
  /// Of what the rule holds by itself, without what waits in the prefix.
  static std::uint64_t own_at_most(const KeyState& key);
  /// First events before it are nothing to the rule any more.
  std::uint64_t oldest_first(const KeyState& key) const {
    return key.rare ? std::max(since(), key.rare->marks.oldest) : since();
  }
  /// Counted here; partial_matches and missing_key are not.
  RuleTally& counts() { return counts_; }
  const RuleTally& counts() const { return counts_; }

 private:
  void finish(KeyState& key, EventTime now, Workspace& work);
  bool report_in_order(KeyState& key, EventTime now, Workspace& work);
  bool report_preferred(KeyState& key, EventTime now, Workspace& work);
  void report_listed(KeyState& key, EventTime now, Workspace& work);
  void list(const KeyState& key, EventTime now, Workspace& work);
  bool having_holds(const KeyState& key, std::span<const Bound> bound, Workspace& work);
  std::size_t max_partial_matches() const { return evaluator_.options().max_partial_matches; }
  MatchWalk::Counted count_complete(const Alive& alive, Workspace& work) const;
  void count_dropped(const MatchWalk::Counted& complete, std::uint64_t taken);
  void report_match(KeyState& key, MatchKind kind, std::span<const Bound> bound, EventTime time, Workspace& work);
  void report_timeouts(KeyState& key, Workspace& work);
  void drop(KeyState& key, std::span<const Bound> taken, EventTime now, Workspace& work);
  void forget_dropped(KeyState& key, EventTime now, Workspace& work) const;
  void forget_marks(KeyState& key, const Alive& alive, Workspace& work) const;
  Marks& note_dropped(KeyState& key, EventTime now) const;
  // What waits in the prefix (rule_prefix.cc).
  template <class Visit>
  void each_prefix(const KeyState& key, const Visit& visit) const;
  bool waits_in_prefix(const KeyState& key) const;
  void cut_own_prefixes(KeyState& key, const Alive& alive) const;
  void forget_marks_of_nothing(KeyState& key, EventTime now, const Workspace& work) const;
  std::uint64_t count_in_prefix(const KeyState& key, std::uint64_t own) const;
  bool cap_starts(KeyState& key, EventTime now, const Alive& alive, Workspace& work);
  std::vector<SetPart> parts_of(const KeyState& key) const;
  void cap_each(KeyState& key);
  void cap_sets(KeyState& key, EventTime now, Workspace& work);
  void cap_flat(KeyState& key);
  void cap_listed(KeyState& key, EventTime now, Workspace& work);

  // There are as many of these as rules, in every lane.
  Evaluator evaluator_;
  RuleTally counts_;
  const nfa::Prefixes& prefixes_;
  std::uint32_t index_;
  std::uint32_t prefix_;
};

}  // namespace cepd::engine
