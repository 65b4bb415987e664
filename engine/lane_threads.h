#pragma once
/// The threads of the lanes: a job is done once by each of them side by side, and run() returns when all are done.

#include <barrier>
#include <cstddef>
#include <functional>
#include <thread>
#include <vector>

namespace cepd::engine {

/// Lane 0 works on the caller's thread, so that one lane needs none. run() is called from one thread; a job must not
/// throw.
class LaneThreads {
 public:
  explicit LaneThreads(std::size_t lanes);
  LaneThreads(const LaneThreads&) = delete;
  LaneThreads& operator=(const LaneThreads&) = delete;
  ~LaneThreads();

  void run(const std::function<void(std::size_t lane)>& job);

 private:
  const std::function<void(std::size_t)>* job_ = nullptr;  // none: end
  std::barrier<> begin_, end_;
  std::vector<std::jthread> threads_;
};

}  // namespace cepd::engine
