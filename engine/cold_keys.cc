#include "engine/cold_keys.h"

#include <algorithm>

namespace cepd::engine {

void ColdKeys::add(std::uint64_t key, EventTime due) {
  const auto [at, added] = due_.emplace(key, due);
  if (!added) {
    if (at->second <= due) return;
    at->second = due;
  }
  if (due == kMaxTime) return;
  heap_.push_back({due, key});
  std::push_heap(heap_.begin(), heap_.end());
  settle();
}

void ColdKeys::take(std::uint64_t key) {
  due_.erase(key);
  settle();
}

/// The key is in memory, or was in between and has another time.
bool ColdKeys::is_over(const Entry& entry) const {
  const auto at = due_.find(entry.key);
  return at == due_.end() || at->second != entry.due;
}

void ColdKeys::settle() {
  constexpr std::size_t kFew = 1024;
  if (heap_.size() > kFew && heap_.size() > 2 * due_.size()) {
    std::erase_if(heap_, [&](const Entry& entry) { return is_over(entry); });
    std::make_heap(heap_.begin(), heap_.end());
  }
  while (!heap_.empty() && is_over(heap_.front())) {
    std::pop_heap(heap_.begin(), heap_.end());
    heap_.pop_back();
  }
}

}  // namespace cepd::engine
