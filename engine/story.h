#pragma once
/// What became of the events and partial matches of one rule, kept for a person who asks why it did not fire: the
/// matches, the partial match that got furthest with what kept it from going on, and the events that began none.

#include <deque>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "engine/trace.h"

namespace cepd::engine {

/// What became of a partial or complete match.
enum class Fate : std::uint8_t {
  kWaiting,  ///< still under way
  kMatch,    ///< it is a match (never told)
  kExpired,  ///< its time was up
  kTtl,      ///< the state TTL was up
  kClosed,   ///< a NOT, or an UNTIL that came too early, accepted an event
  kUnless,   ///< UNLESS clause number `clause` accepted `by`
  kNext,     ///< the very next event had to be another than `by`
  kCap,      ///< too many partial matches of the key
  kPolicy,   ///< AFTER MATCH dropped it because of the match `taken`
  kHaving,   ///< complete, but HAVING did not hold
};

/// An event that could have continued a partial match (or begun one) but for a condition or a bound.
struct Tried {
  enum class Failed : std::uint8_t { kCondition, kTooEarly, kTooLate };
  Failed failed = Failed::kCondition;
  dsl::plan::ElementId element{};
  const nfa::Edge* edge = nullptr;  ///< of kTooEarly, kTooLate
  EventPtr event;
  std::size_t bound = 0;  ///< how many events the partial match had then
};

/// The first and the last few, and how many there were.
struct TriedList {
  std::vector<Tried> first;
  std::deque<Tried> last;  ///< those that came when `first` was full
  std::uint64_t count = 0;
  void add(Tried tried);
  std::vector<Tried> all() const;
};

struct PartialStory {
  std::vector<Bound> bound;
  std::optional<Run> run;  ///< as it was when it had bound the last event; none only for a complete match
  TriedList tried;
  Fate fate = Fate::kWaiting;
  bool complete = false;
  EventTime ended = kMaxTime;
  EventPtr by;                      ///< of kUnless, kNext
  std::size_t clause = 0;           ///< of kUnless
  std::vector<Bound> taken;         ///< of kPolicy
  std::optional<MatchId> taken_id;  ///< likewise
  /// The last event that a NOT or an UNTIL accepted; it may have closed only some of the ways.
  std::optional<Bound> closed;
};

struct MatchStory {
  MatchId id;
  MatchKind kind = MatchKind::kMatch;
  EventTime time{};
  bool suppressed = false;
  std::vector<Bound> bound;
};

class Story : public Trace {
 public:
  using KeyFilter = std::function<bool(std::span<const Value>)>;

  /// Listens to the keys that `wanted` accepts and to what happens up to and including `until`. Both outlive it.
  Story(const nfa::Network& network, std::size_t rule, KeyFilter wanted, EventTime until);

  /// Forgets what is over, so that what is told is about what comes.
  void begin_chapter();

  struct Told {
    std::deque<MatchStory> reported;  ///< matches and time-outs, the last few
    std::uint64_t match_count = 0, timeout_count = 0;
    /// None when no partial match was begun, or all became matches. Of those under way at the end of the story, or
    /// where there are none of those that ended last; without an end of all.
    const PartialStory* furthest = nullptr;
    bool under_way = true;                                  ///< false: `furthest` had ended before the end of the story
    TriedList at_start;                                     ///< events that a first element did not accept
    std::map<dsl::plan::ElementId, std::uint64_t> offered;  ///< events of an element's type that the key got
    std::vector<EventPtr> filtered;                         ///< by FROM; the first few
    std::uint64_t filtered_count = 0;
    std::vector<EventPtr> without_key;  ///< the first few, of any key
    std::uint64_t without_key_count = 0;
    bool any_event = false;  ///< of the key, also after the end of the story
  };
  /// Valid until the next event.
  Told tell();

  void without_key(const EventPtr& event) override;
  void filtered(std::span<const Value> key, const EventPtr& event) override;
  void event(std::span<const Value> key, const Offer& offer) override;
  void deadline(std::span<const Value> key, EventTime now) override;
  void bound(const Run& run) override;
  void refused(const Run& run, dsl::plan::ElementId element, const EventPtr& event) override;
  void out_of_bounds(const Run& run, const nfa::Edge& edge, const Offer& offer) override;
  void forbidden(const Run& run, dsl::plan::ElementId by, const EventPtr& event) override;
  void until(const Run& run, dsl::plan::ElementId by, const EventPtr& event) override;
  void unless(const Run& run, std::size_t clause, const EventPtr& event) override;
  void over(const Run& run, const EventPtr& event) override;
  void expired(const Run& run, bool by_ttl) override;
  void over_cap(const Run& run) override;
  void complete(const Candidate& candidate) override;
  void by_having(const Candidate& candidate) override;
  void by_policy(std::span<const Bound> dropped, std::span<const Bound> taken) override;
  void reported(std::span<const Bound> bound, const Match& match) override;

 private:
  PartialStory& of(std::span<const Bound> bound);
  PartialStory& of(const Run& run);
  void close(const Run& run, dsl::plan::ElementId by, const EventPtr& event);
  void end(PartialStory& partial, Fate fate, EventTime at);
  void settle();
  void keep_ended(PartialStory&& partial);
  nfa::ElementSet may_follow(const Run& run) const;
  bool reported_first(const PartialStory& partial) const;
  bool further(const PartialStory& a, const PartialStory& b) const;

  const nfa::Automaton& automaton_;
  KeyFilter wanted_;
  EventTime until_;

  bool listening_ = false;  ///< what is told now is about a wanted key and in time
  EventTime now_{};
  std::vector<EventPtr> events_;                 ///< all that may be bound: what is told only looks at them
  std::map<std::string, PartialStory> partial_;  ///< by the events bound
  // Of this event or deadline:
  std::vector<std::string> ended_now_;
  std::set<std::string> moved_now_;  ///< bound the event
  std::vector<std::pair<std::vector<Bound>, MatchId>> matches_now_;
  std::optional<PartialStory> best_ended_, best_last_;  ///< of all that ended, and of those that ended last
  std::set<std::uint64_t> reported_firsts_;             ///< sequences of first events of matches
  Told told_;
};

}  // namespace cepd::engine
