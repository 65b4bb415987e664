#include "adapters/http_workers.h"

#include <utility>

namespace cepd::adapters {

HttpWorkers::HttpWorkers(std::size_t threads, std::size_t max_waiting) : max_waiting_(max_waiting) {
  for (std::size_t i = 0; i < threads; ++i) threads_.emplace_back([this] { run(); });
}

void HttpWorkers::add(std::function<void()> task) {
  {
    std::unique_lock lock(mutex_);
    room_.wait(lock, [&] { return tasks_.size() < max_waiting_; });
    tasks_.push_back(std::move(task));
  }
  filled_.notify_one();
}

void HttpWorkers::shut_down() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  filled_.notify_all();
  for (std::thread& thread : threads_) thread.join();
  threads_.clear();
}

void HttpWorkers::run() {
  while (true) {
    std::function<void()> task;
    {
      std::unique_lock lock(mutex_);
      filled_.wait(lock, [&] { return ending_ || !tasks_.empty(); });
      if (tasks_.empty()) return;
      task = std::move(tasks_.front());
      tasks_.pop_front();
    }
    room_.notify_one();
    task();
  }
}

}  // namespace cepd::adapters
