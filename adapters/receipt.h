#pragma once
/// What a sender waits for: its message is acknowledged once the receipt was released for it.

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <mutex>
#include <stop_token>

namespace cepd::adapters {

/// Stands for some messages (the lines of one request) that are acknowledged together. Any threads.
class Receipt {
 public:
  explicit Receipt(std::size_t messages) : open_(messages) {}

  /// One of the messages is durable: in the journal, or refused and in the dead-letter file. Call once for each.
  void release();
  /// Waits until all are; false when `limit` is over, or `stop` was asked for, before that.
  [[nodiscard]] bool wait(std::chrono::milliseconds limit, const std::stop_token& stop = {});
  /// Without a limit.
  [[nodiscard]] bool wait(const std::stop_token& stop);

 private:
  std::mutex mutex_;
  std::condition_variable_any released_;
  std::size_t open_;
};

}  // namespace cepd::adapters
