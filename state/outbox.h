#pragma once
/// Action calls between the match and the sink that carries them out. Kept with the state, delivered later, removed
/// when done.

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
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

using RecordPtr = std::shared_ptr<const OutboxRecord>;

/// How many calls of one action are given out before it is stored that earlier ones were delivered, where its limits
/// say nothing else: so many may be repeated after a crash.
inline constexpr std::size_t kMostUnmarked = 1'024;

/// Bytes (as stored) of an action's waiting calls that are kept in memory; the others are on the disk only, and read
/// when it is their turn.
inline constexpr std::size_t kCallsInMemory = std::size_t{1} << 20;

/// What one action's queue may hold.
struct QueueLimits {
  std::size_t bytes = std::numeric_limits<std::size_t>::max();  ///< as stored; beyond it wait_room() says no
  std::size_t unmarked = kMostUnmarked;                         ///< calls, see there
};

enum class DeliverWhen : std::uint8_t {
  kDurable,  ///< a call is given out once it is stored, with all that led to it
  kAtOnce,   ///< before: lowest latency; after a crash it may be given out again, with the same idempotency key
};

/// Thread-safe. The pump adds and hands over; delivery workers take and finish. Without a committer (tests) everything
/// is given out at once and nothing is stored.
///
/// Life: load(), then what a replay of the journal adds, attach(), then what is new.
///
/// Of each action the oldest waiting calls are in memory, about kCallsInMemory of them (with kAtOnce also those that
/// are not durable yet, which the committer bounds); of the others memory has their numbers.
class Outbox {
 public:
  /// Of one action; none are set for others. Any time.
  void set_limits(const std::string& action, QueueLimits limits);
  /// Reads the calls that an earlier run stored and did not deliver. add() goes on with number `next`, which is that of
  /// the checkpoint that the run goes on from: what it adds below the number that the earlier run had reached was
  /// stored then, and is here or delivered, so it is left out. `backend` outlives it. Errors: kCorrupt, and those of
  /// the backend.
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

  /// The oldest waiting calls of `action` that no worker holds, in their order: at least one and at most `most`; none
  /// when `stop` was asked for. Blocks until there is one that may be given out. Errors: stored calls cannot be read.
  Result<std::vector<RecordPtr>> take(const std::string& action, std::size_t most, std::stop_token stop);
  /// These were delivered or are given up for good: they will not be taken again, and this is stored.
  void finish(const std::string& action, std::span<const std::uint64_t> sequences);
  /// These go back to the front of their action's queue.
  void put_back(const std::string& action, std::span<const std::uint64_t> sequences);

  /// False while a queue is full: no input may be taken. Waits until `deadline` for true.
  bool wait_room(std::chrono::steady_clock::time_point deadline);
  std::vector<std::string> full() const;  ///< actions whose queues are

  std::size_t size() const;  ///< not finished
  std::size_t size(const std::string& action) const;
  std::size_t bytes(const std::string& action) const;  ///< of them, as stored
  std::size_t limit(const std::string& action) const;  ///< of these
  /// Waits until nothing is left or `deadline` has passed; true when nothing is left.
  bool wait_empty(std::chrono::steady_clock::time_point deadline);
  /// The same for the calls of `actions` alone.
  bool wait_empty(std::chrono::steady_clock::time_point deadline, const std::vector<std::string>& actions);

 private:
  struct Call {
    RecordPtr record;  ///< null: on the disk only
    std::size_t bytes = 0;
  };
  struct StoredCall {
    std::uint64_t sequence;
    std::size_t bytes;
  };
  struct FreshCall {
    std::uint64_t sequence;
    Call call;  ///< without a record where it is to be on the disk only
  };
  /// Each call is in one of the four; all in `waiting` come before those in `stored`, and these before `fresh`.
  struct Queue {
    std::map<std::uint64_t, Call> waiting;
    std::deque<StoredCall> stored;  ///< on the disk only
    std::deque<FreshCall> fresh;    ///< not durable
    std::map<std::uint64_t, Call> held;
    std::size_t waiting_bytes = 0;
    std::size_t fresh_bytes = 0;  ///< of those with a record
    std::size_t bytes = 0;        ///< of all four
    std::size_t unmarked = 0;     ///< finished, which is not durable
    QueueLimits limits;
    std::size_t size() const { return waiting.size() + stored.size() + fresh.size() + held.size(); }
    bool full() const { return bytes >= limits.bytes; }
  };
  std::size_t size_locked() const;
  const Queue* find(const std::string& action) const;
  std::optional<std::uint64_t> next_of(const Queue& queue) const;
  bool may_take(const Queue& queue) const;
  void place(Queue& queue, std::uint64_t sequence, Call call);
  static FreshCall take_fresh(Queue& queue);
  std::vector<std::uint64_t> hold(Queue& queue, std::size_t most);
  /// Reads the held calls that are on the disk only. Gives up the lock meanwhile.
  Status read_held(Queue& queue, std::span<const std::uint64_t> sequences, std::unique_lock<std::mutex>& lock);

  mutable std::mutex mutex_;  // taken before the committer's
  std::condition_variable_any changed_;
  std::map<std::string, Queue, std::less<>> queues_;
  StateBackend* backend_ = nullptr;
  std::uint64_t next_sequence_ = 1;
  std::uint64_t stored_below_ = 1;  // the number that the earlier run had reached
  Committer* committer_ = nullptr;
  DeliverWhen when_ = DeliverWhen::kAtOnce;
  std::deque<std::pair<std::uint64_t, std::string>> new_;           // not handed over, as stored; empty: finished
  std::uint64_t handed_below_ = 1;                                  // up to here everything was handed over
  std::deque<std::pair<CommitTicket, std::uint64_t>> handed_over_;  // not durable: ticket, calls below this number
  std::uint64_t durable_below_ = 1;
  struct Marks {
    CommitTicket ticket;
    Queue* queue;
    std::size_t calls;
  };
  std::deque<Marks> marks_;  // not durable
};

}  // namespace cepd::state
