#include "tests/reference/order.h"

#include <algorithm>
#include <tuple>

namespace cepd::reference {
namespace {

auto place_of(const Event& event) { return std::tie(event.time, event.position); }

}  // namespace

/// "largest event time seen − max_delay, taken before any filter"
EventTime TotalOrder::Partition::watermark() const {
  return greatest == kMinTime ? floor : std::max(floor, greatest - max_delay);
}

bool TotalOrder::arrive(std::shared_ptr<Event> event) {
  const PartitionId id{event->position.source, event->position.partition};
  // "a partition that … is new comes back at the engine's watermark"
  if (partitions_.count(id) == 0) partitions_[id] = {kMinTime, watermark_, delays_[event->position.source]};
  Partition& partition = partitions_[id];
  // "An event older than its own partition's watermark is late"; "an event at exactly w is in time".
  const bool late = event->time < partition.watermark();
  partition.greatest = std::max(partition.greatest, event->time);
  if (!late) waiting_.push_back(std::move(event));
  handle_ready();
  return !late;
}

void TotalOrder::advance(EventTime watermark) {
  watermark_ = std::max(watermark_, watermark);
  for (auto& [id, partition] : partitions_) partition.floor = std::max(partition.floor, watermark);
  handle_ready();
}

void TotalOrder::end() {
  ended_ = true;
  handle_ready();
}

/// "every other partition's watermark is later than its time, or equal to it with a place after it in (source,
/// partition); its own partition's watermark is at least its time"
bool TotalOrder::ready(const Event& event) const {
  const PartitionId own{event.position.source, event.position.partition};
  return ended_ || std::all_of(partitions_.begin(), partitions_.end(), [&](const auto& each) {
           const auto& [id, partition] = each;
           if (id == own) return partition.watermark() >= event.time;
           return partition.watermark() > event.time || (partition.watermark() == event.time && id > own);
         });
}

void TotalOrder::handle_ready() {
  for (;;) {
    const auto first = std::min_element(waiting_.begin(), waiting_.end(),
                                        [](const auto& a, const auto& b) { return place_of(*a) < place_of(*b); });
    if (first == waiting_.end() || !ready(**first)) break;
    (*first)->place = Point::input((*first)->time, handled_.size());
    handled_.push_back(*first);
    waiting_.erase(first);
  }
  // "the engine's is the smallest over partitions that are not idle"
  if (partitions_.empty()) return;
  EventTime smallest = kMaxTime;
  for (const auto& [id, partition] : partitions_) smallest = std::min(smallest, partition.watermark());
  watermark_ = std::max(watermark_, smallest);
}

}  // namespace cepd::reference
