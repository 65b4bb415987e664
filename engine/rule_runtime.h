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

  void clear() {
    completed.clear();
    expired.clear();
    scratch.release();
  }
};

class RuleRuntime {
 public:
  RuleRuntime(const nfa::Network& network, std::uint32_t index, const EngineOptions& options);

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
  void set_trace(Trace* trace) {
    trace_ = trace;
    evaluator_.set_trace(trace);
  }
  Trace* trace() const { return trace_; }

  const dsl::plan::Rule& rule() const { return evaluator_.rule(); }
  const Evaluator& evaluator() const { return evaluator_; }
  nfa::EvalErrors& errors() { return evaluator_.errors(); }

  /// How many partial matches of the key count at this watermark.
  std::uint64_t partial_matches(const KeyState& key, EventTime watermark, MatchWalk& walk) const;
  /// Counted here; partial_matches and missing_key are not.
  RuleCounts& counts() { return counts_; }
  const RuleCounts& counts() const { return counts_; }

 private:
  void finish(KeyState& key, EventTime now, Workspace& work);
  bool report_in_order(KeyState& key, EventTime now, Workspace& work);
  bool report_preferred(KeyState& key, EventTime now, Workspace& work);
  void report_listed(KeyState& key, EventTime now, Workspace& work);
  void list(const KeyState& key, EventTime now, Workspace& work);
  MatchWalk::Counted count_complete(const Alive& alive, Workspace& work) const;
  void count_dropped(const MatchWalk::Counted& complete, std::uint64_t taken);
  void report_match(KeyState& key, MatchKind kind, std::span<const Bound> bound, EventTime time, Workspace& work);
  void report_timeouts(KeyState& key, Workspace& work);
  void drop(KeyState& key, std::span<const Bound> taken, Workspace& work);
  void forget_dropped(KeyState& key, EventTime now, Workspace& work) const;
  static void forget_marks(KeyState& key, const Alive& alive, Workspace& work);
  void keep_under_cap(KeyState& key, EventTime now, Workspace& work);
  void cap_each(KeyState& key);
  void cap_sets(KeyState& key, EventTime now, Workspace& work);
  void cap_flat(KeyState& key);
  void cap_listed(KeyState& key, EventTime now, Workspace& work);

  const nfa::Network& network_;
  std::uint32_t index_;
  std::size_t max_partial_matches_;
  Evaluator evaluator_;
  RuleCounts counts_;
  Trace* trace_ = nullptr;
};

}  // namespace cepd::engine
