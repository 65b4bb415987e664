#pragma once
/// Group commit: what many threads want durable goes to the backend in common transactions.

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>

#include "base/result.h"
#include "state/backend.h"

namespace cepd::state {

struct CommitterOptions {
  /// Longest time that what was added waits for more to come into the same commit.
  std::chrono::microseconds max_wait{5'000};
  /// Keys and values that wait or are under way; beyond it wait_room() says no.
  std::size_t most_bytes = std::size_t{32} << 20;
  /// Waits after a commit that failed: the first one, doubled up to the longest.
  std::chrono::milliseconds first_retry{100};
  std::chrono::milliseconds longest_retry{10'000};
};

/// Numbers what was added. Tickets become durable in order: what has one is durable once durable() is not less.
using CommitTicket = std::uint64_t;

/// One commit that succeeded.
struct Commit {
  CommitTicket through = 0;
  std::size_t changes = 0;
  std::size_t bytes = 0;                ///< of keys and values
  std::chrono::microseconds waited{0};  ///< from the oldest add() until the commit began
  std::chrono::microseconds took{0};    ///< in the backend
};

/// Each may be empty. Called by the writer thread, one after the other: they hold up commits while they run, may add(),
/// and must not wait for anything to become durable, nor stop().
struct CommitterCallbacks {
  std::function<void(const Commit&)> durable;
  /// A commit failed and is tried again in `retry_in`. Called for each attempt.
  std::function<void(const Error&, std::chrono::milliseconds retry_in)> failed;
  /// The first commit after failed ones succeeded.
  std::function<void()> recovered;
};

class Committer;

/// What the writer thread does beside committing what was added: the checkpoints (checkpoints.h). All but has_slice()
/// is called by the writer thread, without the committer's lock.
class WriterDuty {
 public:
  virtual ~WriterDuty() = default;
  /// Called once, when the writer thread is about to start: whom to wake() when has_slice() becomes true.
  virtual void attach(Committer& committer) = 0;

  /// What is to be committed together with `group`. On error the group waits and this is called again.
  virtual Result<WriteBatch> beside(const WriteBatch& group) = 0;
  /// The group that beside() was called for last is durable.
  virtual void group_durable() = 0;

  /// Any thread. There is something to write beside groups.
  virtual bool has_slice() const = 0;
  /// The next part of it, small enough that groups can wait for it; may be empty. Committed together with a group where
  /// one is due, so it touches no record that groups do. On error it is called again later.
  virtual Result<WriteBatch> slice() = 0;
  virtual void slice_durable() = 0;
  /// The slice was not committed, with all that it changed in memory forgotten: slice() comes again in `retry_in`.
  virtual void slice_failed(const Error& reason, std::chrono::milliseconds retry_in) = 0;
};

/// Thread-safe. Owns the writer thread, which alone commits to the backend from the constructor until stop(); others
/// may read it meanwhile. A commit that fails is repeated, the same batch, until it succeeds or stop(): nothing is
/// reported durable that is not, and nothing is left out.
class Committer {
 public:
  /// `backend` and `duty` outlive it. Without a duty groups alone are committed.
  Committer(StateBackend& backend, CommitterOptions options, CommitterCallbacks callbacks, WriterDuty* duty = nullptr);
  ~Committer();  // stop(), without its status

  /// Takes `batch` into the next commit, whole, after all that was added before. Never waits: whoever brings in input
  /// asks wait_room() first. An empty batch gets the ticket of what was added last. Not after stop().
  CommitTicket add(WriteBatch batch);
  /// Nothing more is about to come: what was added is committed now and not in up to max_wait.
  void hurry();

  /// True when commits work and fewer than most_bytes wait; waits for that until `deadline`. While it is false no
  /// input may be taken.
  bool wait_room(std::chrono::steady_clock::time_point deadline);
  CommitTicket durable() const;
  /// True once `ticket` is durable; false at `deadline`, or when the committer stopped without.
  bool wait_durable(CommitTicket ticket, std::chrono::steady_clock::time_point deadline);

  /// Why the last attempt failed, while commits fail.
  std::optional<Error> failing() const;
  /// Tries again now what failed and waits for its next attempt.
  void retry_now();
  void wake();                        ///< the duty has a slice
  std::size_t waiting_bytes() const;  ///< added and not durable

  /// Commits what was added and ends the thread; slices are left out. A failing commit is tried once more; its error is
  /// returned and what waits is given up. By one thread; further calls return the same.
  Status stop();

 private:
  using Clock = std::chrono::steady_clock;

  using Lock = std::unique_lock<std::mutex>;

  // Called with the lock, which they give up while they do what takes long.
  void run();
  void wait_for_work(Lock& lock);
  Status commit_group(Lock& lock);
  /// Returns once `group` is committed, or with the last error when stop() was called.
  Status commit(WriteBatch group, Lock& lock);
  void commit_slice(Lock& lock);
  // Called without it.
  Status try_commit(WriteBatch& group, bool& complete, bool with_slice);
  Status commit_with_slice(WriteBatch& group);
  void note_slice(const Status& written);
  bool group_due(Clock::time_point now) const;
  bool slice_due(Clock::time_point now) const;
  std::chrono::milliseconds next_retry(std::chrono::milliseconds before) const;

  StateBackend& backend_;
  WriterDuty* const duty_;
  const CommitterOptions options_;
  const CommitterCallbacks callbacks_;

  mutable std::mutex mutex_;
  std::condition_variable wake_;     // the writer
  std::condition_variable changed_;  // those who wait for room or durability
  WriteBatch group_;                 // the next commit
  std::size_t group_bytes_ = 0, under_way_bytes_ = 0;
  Clock::time_point first_added_{};  // to group_
  CommitTicket last_ = 0, durable_ = 0;
  std::optional<Error> failing_;
  Clock::time_point next_slice_{};            // no slice before: the last one failed
  std::chrono::milliseconds slice_retry_{0};  // the writer's own
  bool hurry_ = false, retry_ = false, stopping_ = false, ended_ = false;
  Status outcome_;
  std::thread writer_;  // last: it uses all of the above
};

}  // namespace cepd::state
