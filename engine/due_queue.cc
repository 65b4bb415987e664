#include "engine/due_queue.h"

#include <algorithm>

#include "base/check.h"

namespace cepd::engine {
namespace {

/// Of numbers that come round again.
constexpr std::size_t kMostInLine = std::size_t{1} << 27;
/// Those that are gone are kept up to so many, or up to half of all.
constexpr std::size_t kFewGone = 64;

}  // namespace

EventTime DueQueue::find_earliest() const {
  EventTime earliest = heap_.empty() ? kMaxTime : heap_.front().time;
  for (const Line& line : lines_) {
    if (!line.empty()) earliest = std::min(earliest, line.front().time);
  }
  return earliest;
}

void DueQueue::add(const Entry& entry) {
  earliest_ = std::min(earliest_, entry.time);
  for (std::uint32_t i = 0; i < kLines; ++i) {
    if (i == lines_.size()) lines_.emplace_back();
    Line& line = lines_[i];
    if (!line.empty() && (entry.before(line.entries.back()) || line.entries.size() >= kMostInLine)) continue;
    entry.key->due_slot = slot_in(i, line.number + static_cast<std::uint32_t>(line.entries.size()));
    line.entries.push_back(entry);
    return;
  }
  heap_.push(entry, [](const Entry& placed, std::size_t slot) {
    CEPD_CHECK(slot < kSlotMask);
    placed.key->due_slot = slot_in(kLines, static_cast<std::uint32_t>(slot));
  });
}

void DueQueue::erase(KeyPart& key) {
  const bool first = entry_of(key).time == earliest_;
  const std::uint32_t in = line_of(key);
  if (in == kLines) {
    heap_.erase(key.due_slot & kSlotMask, [](const Entry& placed, std::size_t slot) {
      placed.key->due_slot = slot_in(kLines, static_cast<std::uint32_t>(slot));
    });
  } else {
    Line& line = lines_[in];
    line.entries[place_in(line, key)].key = nullptr;
    ++line.gone;
    while (!line.empty() && line.front().key == nullptr) ++line.begin;
    for (; !line.empty() && line.entries.back().key == nullptr; --line.gone) line.entries.pop_back();
    if (line.gone > kFewGone && 2 * line.gone > line.entries.size()) tidy(in);
  }
  key.due_slot = UINT32_MAX;
  if (first) earliest_ = find_earliest();
}

/// Forgets those that are gone.
void DueQueue::tidy(std::uint32_t in) {
  Line& line = lines_[in];
  const bool all_in_front = line.gone == line.begin;
  line.entries.erase(line.entries.begin(), line.entries.begin() + static_cast<std::ptrdiff_t>(line.begin));
  line.number += static_cast<std::uint32_t>(line.begin);
  line.begin = line.gone = 0;
  if (all_in_front) return;
  std::erase_if(line.entries, [](const Entry& entry) { return entry.key == nullptr; });
  for (std::size_t i = 0; i < line.entries.size(); ++i) {
    line.entries[i].key->due_slot = slot_in(in, line.number + static_cast<std::uint32_t>(i));
  }
}

void DueQueue::set(KeyPart& key, EventTime time) {
  if (key.due_slot != UINT32_MAX) {
    if (entry_of(key).time == time) return;
    erase(key);
  }
  if (time != kMaxTime) add({time, key.level, &key});
}

std::size_t DueQueue::size() const {
  std::size_t size = heap_.size();
  for (const Line& line : lines_) size += line.entries.size();
  return size;
}

std::span<KeyPart* const> DueQueue::take(EventTime time, std::uint32_t level) {
  taken_.clear();
  const auto is_due = [&](const Entry& entry) { return entry.time == time && entry.level == level; };
  const auto take = [&](const Entry& entry) {
    taken_.push_back(entry.key);
    erase(*taken_.back());
  };
  for (Line& line : lines_) {
    while (!line.empty() && is_due(line.front())) take(line.front());
  }
  while (!heap_.empty() && is_due(heap_.front())) take(heap_.front());
  if (taken_.size() > 1) {
    std::sort(taken_.begin(), taken_.end(), [](const KeyPart* a, const KeyPart* b) {
      return a->owner != b->owner ? a->owner < b->owner : compare_keys(a->key(), b->key()) < 0;
    });
  }
  return taken_;
}

}  // namespace cepd::engine
