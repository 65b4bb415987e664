#pragma once
/// Action calls between the match and the sink that carries them out. Kept with the state, delivered later, removed
/// when done.

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "base/ids.h"
#include "base/result.h"
#include "base/time.h"
#include "state/backend.h"
#include "state/committer.h"

namespace cepd::state {

struct OutboxArgument {
  std::string name;
  std::string text;  ///< as a person reads it
  std::string json;  ///< as a JSON value
};

struct OutboxRecord {
  std::uint64_t sequence = 0;  ///< given by add(); order of delivery for one action
  std::string action;          ///< configured name
  /// The match id; a second call of the same action in one rule has "-2" after it, and so on.
  std::string idempotency_key;
  std::string rule;
  EventTime time{};  ///< of the match
  std::vector<OutboxArgument> arguments;
  std::vector<OutboxArgument> labels;
  std::string match_json;  ///< the match as `cepd replay` prints it, events as positions
  /// When the event that led to it was taken; none for calls of an earlier run. Not stored.
  std::optional<std::chrono::steady_clock::time_point> taken = std::nullopt;
};

/// How many calls of one action are given out before it is stored that earlier ones were delivered: so many may be
/// repeated after a crash.
inline constexpr std::size_t kMostUnmarked = 1'024;

enum class DeliverWhen : std::uint8_t {
  kDurable,  ///< a call is given out once it is stored, with all that led to it
  kAtOnce,   ///< before: lowest latency; after a crash it may be given out again, with the same idempotency key
};

/// Thread-safe. The pump adds and hands over; delivery workers take and finish. Without a committer (tests) everything
/// is given out at once and nothing is stored.
///
/// Life: load(), then what a replay of the journal adds, attach(), then what is new.
class Outbox {
 public:
  /// Reads the calls that an earlier run stored and did not deliver. add() goes on with number `next`, which is that of
  /// the checkpoint that the run goes on from: what it adds below the number that the earlier run had reached was
  /// stored then, and is here or delivered, so it is left out. Errors: kCorrupt, and those of the backend.
  Status load(StateBackend& backend, std::uint64_t next = 1);
  /// From now on changes are stored. The committer outlives every call but the getters.
  void attach(Committer& committer, DeliverWhen when);

  void add(OutboxRecord record);
  /// Gives `batch` and what was added since the last call to the committer, as one. Requires attach().
  CommitTicket hand_over(WriteBatch batch);
  bool has_new() const;                 ///< added and not handed over
  std::uint64_t next_sequence() const;  ///< of the next call that is added
  /// Whether add() has not yet reached the number that the earlier run had.
  bool behind() const;
  /// Go on from that number: the earlier run's calls cannot be made again.
  void catch_up();

  /// The committer's tickets up to `through` are durable.
  void durable(CommitTicket through);

  /// The oldest waiting call of `action` that no worker holds, or none when `stop` was asked for. Blocks until there is
  /// one that may be given out.
  std::optional<OutboxRecord> take(const std::string& action, std::stop_token stop);
  /// `sequence` was delivered or is given up for good: it will not be taken again, and this is stored.
  void finish(const std::string& action, std::uint64_t sequence);
  /// `sequence` goes back to the front of its action's queue.
  void put_back(const std::string& action, std::uint64_t sequence);

  std::size_t size() const;  ///< not finished
  std::size_t size(const std::string& action) const;
  /// Waits until nothing is left or `deadline` has passed; true when nothing is left.
  bool wait_empty(std::chrono::steady_clock::time_point deadline);
  /// The same for the calls of `actions` alone.
  bool wait_empty(std::chrono::steady_clock::time_point deadline, const std::vector<std::string>& actions);

 private:
  /// By sequence, so that the first is the oldest.
  struct Queue {
    std::map<std::uint64_t, OutboxRecord> waiting;
    std::map<std::uint64_t, OutboxRecord> held;
    std::size_t unmarked = 0;  ///< finished, which is not durable
    std::size_t size() const { return waiting.size() + held.size(); }
  };
  std::size_t size_locked() const;
  bool may_take(const Queue& queue) const;

  mutable std::mutex mutex_;  // taken before the committer's
  std::condition_variable_any changed_;
  std::map<std::string, Queue, std::less<>> queues_;
  std::uint64_t next_sequence_ = 1;
  std::uint64_t stored_below_ = 1;  // the number that the earlier run had reached
  Committer* committer_ = nullptr;
  DeliverWhen when_ = DeliverWhen::kAtOnce;
  std::map<std::uint64_t, const Queue*> new_;                       // not handed over and not finished
  std::uint64_t handed_below_ = 1;                                  // up to here everything was handed over
  std::deque<std::pair<CommitTicket, std::uint64_t>> handed_over_;  // not durable: ticket, calls below this number
  std::uint64_t durable_below_ = 1;
  std::deque<std::pair<CommitTicket, Queue*>> marks_;  // not durable
};

}  // namespace cepd::state
