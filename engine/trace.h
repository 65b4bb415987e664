#pragma once
/// What an observer of one rule is told: every decision about its events and its partial matches, as it is made. For
/// `cepd why` and failing tests; nobody calls it where no trace is set, and a trace changes nothing.

#include <span>
#include <vector>

#include "base/match.h"
#include "engine/run.h"

namespace cepd::engine {

struct Offer;

/// Runs are identified by the events they have bound: `Run::bound`, empty before a first event. A Bound only looks at
/// its event: an observer that keeps one keeps the event, which event() shows before anything binds it.
class Trace {
 public:
  virtual ~Trace() = default;

  // ---- the input ----

  /// Of a type that the rule names, but no key can be read from it.
  virtual void without_key(const EventPtr& event) = 0;
  /// FROM keeps it from being input of this key.
  virtual void filtered(std::span<const Value> key, const EventPtr& event) = 0;
  /// The event meets this key; what follows is about both.
  virtual void event(std::span<const Value> key, const Offer& offer) = 0;
  /// A deadline of this key is over; what follows is about both.
  virtual void deadline(std::span<const Value> key, EventTime now) = 0;

  // ---- partial matches ----

  /// The run has just bound its last event.
  virtual void bound(const Run& run) = 0;
  /// The element could take the event now, but one of its conditions does not hold.
  virtual void refused(const Run& run, dsl::plan::ElementId element, const EventPtr& event) = 0;
  /// The event comes too early or too late for the edge's bounds, whatever its type.
  virtual void out_of_bounds(const Run& run, const nfa::Edge& edge, const Offer& offer) = 0;
  /// A NOT has accepted the event.
  virtual void forbidden(const Run& run, dsl::plan::ElementId by, const EventPtr& event) = 0;
  /// An UNTIL has accepted the event.
  virtual void until(const Run& run, dsl::plan::ElementId by, const EventPtr& event) = 0;
  /// UNLESS ends the run; what the event has just been taken into goes on.
  virtual void unless(const Run& run, std::size_t clause, const EventPtr& event) = 0;
  /// Nothing can come of the run any more: all its ways were taken by the event or are closed.
  virtual void over(const Run& run, const EventPtr& event) = 0;
  /// Its time was up. `by_ttl`: it is the state TTL that ends it.
  virtual void expired(const Run& run, bool by_ttl) = 0;
  /// The cap on partial matches ends it.
  virtual void over_cap(const Run& run) = 0;

  // ---- after a match ----

  virtual void complete(const Candidate& candidate) = 0;
  /// HAVING drops the complete match.
  virtual void by_having(const Candidate& candidate) = 0;
  /// AFTER MATCH drops a complete or partial match because `taken` was taken.
  virtual void by_policy(std::span<const Bound> dropped, std::span<const Bound> taken) = 0;
  /// A match, also one that LIMIT suppresses, or a time-out.
  virtual void reported(std::span<const Bound> bound, const Match& match) = 0;
};

}  // namespace cepd::engine
