#pragma once
/// The deterministic core: events in, matches out. A pure function of the rules and the events in their total order
/// (event time, source name, partition, offset); it reads no clock and does no I/O; its only threads are those of
/// its lanes.
///
/// Life: construct, restore() at most once, then push() and the clock-driven calls in any order from one thread;
/// finish() ends time for bounded input. Results come through the handlers during those calls, on that thread, in the
/// order of language-details.md section 5. All calls but push() first wait for the lanes and report everything, as far
/// as they look at more than the input; what they have not reported when the engine is destroyed is lost.

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/drop_reason.h"
#include "base/event.h"
#include "base/match.h"
#include "base/result.h"
#include "engine/report.h"
#include "nfa/network.h"
#include "state/backend.h"

namespace cepd::engine {

class Trace;

struct EngineOptions {
  /// Event time after which a partial match of a rule without WITHIN is dropped; none: never. (A WITHIN without
  /// time-outs.)
  std::optional<Micros> state_ttl;
  /// Most partial matches of one rule and key; beyond it those of the oldest first event are dropped and counted.
  std::size_t max_partial_matches = 100'000;
  /// Remember what changed, for save(). Without it save() must not be called.
  bool track_changes = false;
  /// How many lanes share the keys: above 1, each with a thread of its own beside the caller's. The matches and their
  /// order are the same for every number. Rule sets in which rules read what others make are worked by the caller's
  /// thread alone.
  std::size_t lanes = 1;
  /// With several lanes: most events that are given to them together, at least 1. Larger: less work beside the events,
  /// matches further behind them.
  std::size_t lane_batch = 512;
  /// From how many on the partial matches (sets of them, where they are kept in sets) of a rule and key are indexed;
  /// fewer are looked at one by one. Changes no result.
  std::size_t index_runs_from = 32;
  /// Rules whose patterns begin alike keep what they have begun once for all (nfa/prefixes.h). Changes no result; to be
  /// the same for save() and restore().
  bool share_prefixes = true;
  /// Partial matches keep the original bytes of their events, for matches printed with whole events.
  bool keep_raw = false;
  /// Keys are read from it when an event or a deadline touches them, so that restore() reads none, and evict() may
  /// forget them; it is the one that saves are committed to. Null: all keys are in memory.
  state::StateBackend* stored = nullptr;
  /// Nanoseconds since some time; null: what rules cost in time is not measured. It decides nothing.
  std::int64_t (*clock_ns)() = nullptr;
};

/// What something cost, counted since the engine was made.
struct WorkCounts {
  std::uint64_t tested = 0;   ///< events that it was asked about: it had something under way, or might start
  std::uint64_t time_ns = 0;  ///< spent on it, estimated from every 64th of those
  bool operator==(const WorkCounts&) const = default;
};

/// Counted since the engine was made; of one rule.
struct RuleTally : WorkCounts {
  std::uint64_t matches = 0;      ///< reported, suppressed ones included
  std::uint64_t timeouts = 0;     ///< reported
  std::uint64_t by_having = 0;    ///< complete matches dropped by HAVING
  std::uint64_t by_policy = 0;    ///< complete matches dropped by AFTER MATCH, see more_by_policy
  std::uint64_t suppressed = 0;   ///< over LIMIT, time-outs included
  std::uint64_t over_cap = 0;     ///< partial matches dropped by max_partial_matches
  std::uint64_t missing_key = 0;  ///< events without a key field
  std::uint64_t expression_errors = 0;
  bool more_by_policy = false;  ///< there were more: where very many completed at once they were not all counted

  RuleTally& operator+=(const RuleTally& other);
  bool operator==(const RuleTally&) const = default;
};

struct RuleCounts : RuleTally {
  std::string rule;
  std::uint64_t partial_matches = 0;  ///< live now, at the watermark, of keys in memory
  std::uint64_t bytes = 0;            ///< that they take now, with their events

  std::string by_policy_text() const { return (more_by_policy ? ">=" : "") + std::to_string(by_policy); }
};

class Engine {
 public:
  struct Handlers {
    /// Must not call the engine.
    std::function<void(const MatchView&)> match;
    std::function<void(const Event&, DropReason, std::string_view raw)> late;  ///< or kDuplicate
    /// What EngineOptions::stored holds cannot be read. Must not return; on any lane's thread.
    std::function<void(const Error&)> unreadable = nullptr;
  };

  Engine(std::shared_ptr<const nfa::Network> network, EngineOptions options, Handlers handlers);
  ~Engine();

  /// How far the watermarks of this source's partitions trail; 0 where it was never said. Call before its first event.
  void set_max_delay(SourceId source, Micros max_delay);

  /// Takes one event, in any order, and handles every event that is no longer waiting for an earlier one. With several
  /// lanes such events are given to them `lane_batch` at a time, or at the next flush(), and their matches come with a
  /// later call; it waits where a lane is too far behind.
  /// `raw`: the bytes it was decoded from, kept while it waits, for a reload. An event is pushed into one engine once.
  void push(EventPtr event, std::string_view raw = {});
  /// The same for an event with an id, by which it is known when it comes again: it is dropped then, as kDuplicate,
  /// unless it is late. Of each partition of a source about `most` ids are kept, and those that came first go.
  void push(EventPtr event, std::string_view raw, const MatchId& id, std::size_t most);
  /// Handles what push() has left to be handled, and reports it.
  void flush();

  /// The partition does not hold time back until its next event (decided by the clock, outside).
  void set_idle(SourceId source, std::int32_t partition);
  /// Time waits for the partition's next event, or set_idle() (a partition of which it is known that it will be read).
  void set_awake(SourceId source, std::int32_t partition);
  /// No event before `watermark` will come from anywhere: time moves although no event does. Going back is ignored.
  void advance(EventTime watermark);
  /// The input has ended: everything waiting is handled, then time goes to its end.
  void finish();

  EventTime watermark() const;
  std::size_t waiting() const;  ///< events held back by the watermark
  /// Ids by which events that come again are known: now, and since the engine was made those that went over `most`.
  struct SeenIdCounts {
    std::size_t kept = 0;
    std::uint64_t forgotten = 0;
  };
  SeenIdCounts seen_ids() const;

  /// Puts a new set of rules in place between two events. Its field plan continues that of the rules before. Rules with
  /// an equal name and fingerprint keep their partial matches. Where a rule gets ON TIMEOUT, or leaves those with which
  /// it shares what it has begun (it gets another status while it reads what others make), all stored keys are read.
  /// `decode_again` reads a waiting event, of the type named, by the new plan. Returns how many rules kept their state.
  using DecodeAgain = std::function<EventPtr(const Event&, std::string_view type)>;
  std::size_t swap(std::shared_ptr<const nfa::Network> network, const DecodeAgain& decode_again);
  /// Of how many rules and keys that are in memory the last swap() dropped the partial matches, as their rules are gone
  /// or changed.
  std::size_t dropped_by_swap() const;
  const nfa::Network& network() const;

  /// Begins to hand over all that changed since the last time, as it is now (docs/state_format.md); the caller makes it
  /// durable, or does not save any more. Requires that the last time is over. Cost: that of the events that wait, and
  /// of a flush().
  void begin_save();
  /// Appends the next part of it to `batch`, a little over `most_bytes`; false: that was the last one. Input may come
  /// in between: what it changes is handed over as it was. The handing over costs the same however it is cut.
  bool save_some(state::WriteBatch& batch, std::size_t most_bytes);
  /// All of it at once.
  void save(state::WriteBatch& batch);
  /// What was handed over is committed to EngineOptions::stored.
  void saved();
  /// Forgets keys that are stored as they are and were not touched for longest, about `most_keys`; false: there is no
  /// more to be gained before the next save. They are read again when they are touched: no result changes. May be
  /// called between saved() and begin_save(); else it does nothing.
  bool evict(std::size_t most_keys);
  struct KeyCounts {
    std::size_t here = 0, cold = 0;         ///< now: in memory, and only stored
    std::uint64_t evicted = 0, loaded = 0;  ///< since the engine was made
  };
  /// Where EngineOptions::stored is given. Waits for the lanes.
  KeyCounts key_counts() const;

  /// Takes up what save() wrote, under the engine's present rules: partial matches of rules that are gone or changed
  /// are dropped (returned: how many parts of keys were taken and dropped). Errors: kCorrupt.
  struct Restored {
    std::size_t keys = 0, dropped = 0, waiting = 0;
  };
  Result<Restored> restore(state::StateBackend& backend, const DecodeAgain& decode_again);
  /// Erases what EngineOptions::stored holds of rules that are gone or changed since; else it is erased when it is
  /// touched or due. Returns how many parts of keys. Cost: that of a restore(). Errors: kCorrupt.
  Result<std::size_t> drop_strangers();

  /// Tells `trace` every decision about this rule from now on, until the next swap(). Requires a rule of that name, one
  /// lane, and that there was no event yet.
  void set_trace(const std::string& rule, Trace* trace);

  /// In the order of rule names. Waits for the lanes, but reports nothing: flush() first where the counts are to be
  /// those of what was reported.
  std::vector<RuleCounts> counts() const;
  /// The same without partial_matches and bytes, which are 0: its cost does not grow with them.
  std::vector<RuleCounts> counted() const;
  std::uint64_t events() const;  ///< handled, or with the lanes

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace cepd::engine
