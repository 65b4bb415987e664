#include "engine/lane_threads.h"

namespace cepd::engine {

LaneThreads::LaneThreads(std::size_t lanes)
    : begin_(static_cast<std::ptrdiff_t>(lanes)), end_(static_cast<std::ptrdiff_t>(lanes)) {
  for (std::size_t lane = 1; lane < lanes; ++lane) {
    threads_.emplace_back([this, lane] {
      for (;;) {
        begin_.arrive_and_wait();
        if (job_ == nullptr) return;
        (*job_)(lane);
        end_.arrive_and_wait();
      }
    });
  }
}

LaneThreads::~LaneThreads() {
  job_ = nullptr;
  if (!threads_.empty()) begin_.arrive_and_wait();
}

void LaneThreads::run(const std::function<void(std::size_t)>& job) {
  if (threads_.empty()) return job(0);
  job_ = &job;
  begin_.arrive_and_wait();
  job(0);
  end_.arrive_and_wait();
  job_ = nullptr;
}

}  // namespace cepd::engine
