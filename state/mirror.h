#pragma once
/// Copies each finished checkpoint to a mirror, beside everything else: nobody waits for it. One that is away is tried
/// again, and gets the latest checkpoint when it is back.

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>

#include "base/result.h"
#include "state/backend.h"
#include "state/mirror_store.h"

namespace cepd::state {

struct MirrorOptions {
  std::size_t keep = 10;  ///< copies that can be restored; at least 1
  int retries = 3;        ///< of one copy; after them the next checkpoint is waited for
  /// Before the first retry, doubled up to the longest.
  std::chrono::milliseconds first_wait{250}, longest_wait{5'000};
};

struct MirrorStatus {
  std::uint64_t wanted = 0, copied = 0;  ///< numbers of the last checkpoint, and of the last that was copied; 0: none
  std::optional<Error> failing;          ///< why the last attempt failed
  std::uint64_t copies = 0, full_copies = 0, failures = 0, changes = 0, bytes = 0, stored_bytes = 0;
  std::chrono::microseconds last_duration{0};  ///< of the last copy
};

/// Each may be empty. Called by the mirror's thread.
struct MirrorCallbacks {
  std::function<void(const MirrorStatus&)> copied;
  /// `retry_in`: none: with the next checkpoint.
  std::function<void(const Error&, std::optional<std::chrono::milliseconds> retry_in)> failed;
};

/// Thread-safe. Reads the backend from a thread of its own.
class Mirror {
 public:
  /// `backend` outlives it. `identity`: of the state in it. `last`: the last finished checkpoint, which is copied at
  /// once; 0: none.
  Mirror(StateBackend& backend, std::string identity, std::unique_ptr<MirrorStore> store, MirrorOptions options,
         MirrorCallbacks callbacks, std::uint64_t last);
  ~Mirror();  ///< stop()

  /// Never waits.
  void checkpoint_finished(std::uint64_t number);
  MirrorStatus status() const;
  /// True once `number`, or a later one, was copied; false at `deadline`, or when it was given up.
  bool wait_copied(std::uint64_t number, std::chrono::steady_clock::time_point deadline) const;
  /// Ends as soon as the store answers what was asked, or does not in time.
  void stop();

 private:
  void run();

  StateBackend& backend_;
  const std::string identity_;
  const std::unique_ptr<MirrorStore> store_;
  const MirrorOptions options_;
  const MirrorCallbacks callbacks_;
  mutable std::mutex mutex_;
  mutable std::condition_variable changed_;
  MirrorStatus status_;
  std::uint64_t given_up_ = 0;  // no attempt is under way or waited for of this one and those before
  bool stopping_ = false;
  std::thread thread_;  // last: it uses the others
};

}  // namespace cepd::state
