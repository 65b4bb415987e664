#include "state/mirror.h"

#include <algorithm>
#include <utility>

#include "state/mirror_copies.h"

namespace cepd::state {

Mirror::Mirror(StateBackend& backend, std::string identity, std::unique_ptr<MirrorStore> store, MirrorOptions options,
               MirrorCallbacks callbacks, std::uint64_t last)
    : backend_(backend),
      identity_(std::move(identity)),
      store_(std::move(store)),
      options_(options),
      callbacks_(std::move(callbacks)) {
  status_.wanted = last;
  thread_ = std::thread([this] { run(); });
}

Mirror::~Mirror() { stop(); }

void Mirror::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void Mirror::checkpoint_finished(std::uint64_t number) {
  {
    const std::lock_guard lock(mutex_);
    status_.wanted = std::max(status_.wanted, number);
  }
  changed_.notify_all();
}

MirrorStatus Mirror::status() const {
  const std::lock_guard lock(mutex_);
  return status_;
}

bool Mirror::wait_copied(std::uint64_t number, std::chrono::steady_clock::time_point deadline) const {
  std::unique_lock lock(mutex_);
  changed_.wait_until(lock, deadline, [&] { return stopping_ || status_.copied >= number || given_up_ >= number; });
  return status_.copied >= number;
}

void Mirror::run() {
  MirrorCopies copies(backend_, *store_, identity_, options_.keep);
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [&] { return stopping_ || status_.wanted > std::max(status_.copied, given_up_); });
    std::chrono::milliseconds wait = options_.first_wait;
    for (int attempt = 0; !stopping_; ++attempt) {
      const std::uint64_t number = status_.wanted;
      lock.unlock();
      const auto began = std::chrono::steady_clock::now();
      auto added = copies.add(number);
      const auto took = std::chrono::steady_clock::now() - began;
      lock.lock();
      if (added) {
        status_.copied = number;
        status_.failing.reset();
        ++status_.copies;
        status_.full_copies += added->full ? 1 : 0;
        status_.changes += added->changes;
        status_.bytes += added->bytes;
        status_.stored_bytes += added->stored_bytes;
        status_.last_duration = std::chrono::duration_cast<std::chrono::microseconds>(took);
        const MirrorStatus now = status_;
        changed_.notify_all();
        lock.unlock();
        if (callbacks_.copied) callbacks_.copied(now);
        lock.lock();
        break;
      }
      // A later checkpoint has taken its place meanwhile: that is no failure.
      if (added.error().code == Errc::kNotFound && status_.wanted > number) continue;
      status_.failing = added.error();
      ++status_.failures;
      const bool again = attempt < options_.retries && added.error().code != Errc::kInvalidArgument;
      if (!again) given_up_ = number;
      changed_.notify_all();
      lock.unlock();
      if (callbacks_.failed) callbacks_.failed(added.error(), again ? std::optional(wait) : std::nullopt);
      lock.lock();
      if (!again) break;
      changed_.wait_for(lock, wait, [&] { return stopping_; });
      wait = std::min(2 * wait, options_.longest_wait);
    }
    if (stopping_) return;
  }
}

}  // namespace cepd::state
