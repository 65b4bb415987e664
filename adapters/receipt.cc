#include "adapters/receipt.h"

#include "base/check.h"

namespace cepd::adapters {

void Receipt::release() {
  const std::lock_guard lock(mutex_);
  CEPD_CHECK(open_ > 0);
  if (--open_ == 0) released_.notify_all();
}

bool Receipt::wait(std::chrono::milliseconds limit, const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  return released_.wait_for(lock, stop, limit, [this] { return open_ == 0; });
}

bool Receipt::wait(const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  return released_.wait(lock, stop, [this] { return open_ == 0; });
}

}  // namespace cepd::adapters
