#include "engine/due_queue.h"

namespace cepd::engine {

int compare_keys(const std::vector<Value>& a, const std::vector<Value>& b) {
  for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
    if (const int order = key_order(a[i], b[i]); order != 0) return order < 0 ? -1 : 1;
  }
  return 0;
}

std::vector<DueQueue::Entry> DueQueue::take(EventTime time, std::uint32_t level) {
  std::vector<Entry> due;
  while (!entries_.empty() && entries_.top().time == time && entries_.top().level == level) {
    due.push_back(entries_.top());
    --due.back().key->due_entries;
    entries_.pop();
  }
  std::sort(due.begin(), due.end(), [](const Entry& a, const Entry& b) {
    return a.rule != b.rule ? a.rule < b.rule : compare_keys(a.key->key, b.key->key) < 0;
  });
  const auto same = [](const Entry& a, const Entry& b) { return a.key == b.key; };
  due.erase(std::unique(due.begin(), due.end(), same), due.end());
  return due;
}

}  // namespace cepd::engine
