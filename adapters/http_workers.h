#pragma once
#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace cepd::adapters {

/// A fixed number of threads and a bounded line of tasks before them. Whoever adds to a full line waits: for a server
/// that is the thread which accepts connections, so that further ones wait in the kernel's own bounded line.
class HttpWorkers {
 public:
  HttpWorkers(std::size_t threads, std::size_t max_waiting);

  void add(std::function<void()> task);
  /// Runs what was added and ends the threads.
  void shut_down();

 private:
  void run();

  const std::size_t max_waiting_;
  std::mutex mutex_;
  std::condition_variable filled_, room_;
  std::deque<std::function<void()>> tasks_;
  bool ending_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace cepd::adapters
