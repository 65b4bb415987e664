#include "engine/order.h"

#include <algorithm>
#include <tuple>

namespace cepd::engine {
namespace {
/// For a heap whose top is the earliest event.
bool later(const EventPtr& a, const EventPtr& b) {
  return a->time != b->time ? a->time > b->time : a->position > b->position;
}
EventOrder::PartitionId partition_of(const Event& event) { return {event.position.source, event.position.partition}; }
}  // namespace

EventOrder::Partition& EventOrder::partition(const PartitionId& id) {
  const auto [it, is_new] = partitions_.try_emplace(id);
  if (is_new) {
    const auto delay = delays_.find(id.first);
    if (delay != delays_.end()) it->second.max_delay = delay->second;
  }
  return it->second;
}

std::optional<DropReason> EventOrder::offer(EventPtr& event) {
  Partition& from = partition(partition_of(*event));
  wake(from);
  if (event->time < from.watermark()) {
    const bool by_own_events = from.greatest && event->time < saturating_add(*from.greatest, -from.max_delay);
    return by_own_events ? DropReason::kLate : DropReason::kLateAfterIdle;
  }
  from.greatest = from.greatest ? std::max(*from.greatest, event->time) : event->time;
  heap_.push_back(std::move(event));
  std::push_heap(heap_.begin(), heap_.end(), later);
  raise_watermark();
  return std::nullopt;
}

EventTime EventOrder::watermark_of(const PartitionId& id) const {
  const auto known = partitions_.find(id);
  if (known == partitions_.end()) return watermark_;
  const Partition& partition = known->second;
  // One that is idle comes back at the engine's.
  return partition.idle ? std::max(partition.watermark(), watermark_) : partition.watermark();
}

bool EventOrder::ready(const Event& event) const {
  if (ended_ || watermark_ > event.time) return true;
  const PartitionId own = partition_of(event);
  bool any_active = false;
  for (const auto& [id, partition] : partitions_) {
    if (partition.idle) continue;
    any_active = true;
    const EventTime watermark = partition.watermark();
    if (watermark < event.time) return false;
    // At an equal watermark another partition may still bring an event of that time; it matters only if it would stand
    // before.
    if (watermark == event.time && id < own) return false;
  }
  return any_active || watermark_ >= event.time;
}

bool EventOrder::pass(const Event& event) {
  if (partitions_.size() != 1 || !heap_.empty()) return false;
  auto& [id, only] = *partitions_.begin();
  if (only.idle || only.max_delay.count() > 0 || id != partition_of(event) || event.time < only.watermark())
    return false;
  only.greatest = only.greatest ? std::max(*only.greatest, event.time) : event.time;
  watermark_ = std::max(watermark_, only.watermark());
  return true;
}

bool EventOrder::would_wait(const Event& event) const {
  const auto delay = delays_.find(event.position.source);
  if (delay != delays_.end() && delay->second.count() > 0) return true;
  return !heap_.empty() || partitions_.size() > 1 ||
         (partitions_.size() == 1 && partitions_.begin()->first != partition_of(event));
}

EventPtr EventOrder::next() {
  if (heap_.empty() || !ready(*heap_.front())) return nullptr;
  std::pop_heap(heap_.begin(), heap_.end(), later);
  EventPtr event = std::move(heap_.back());
  heap_.pop_back();
  return event;
}

void EventOrder::raise_watermark() {
  EventTime smallest = kMaxTime;
  bool any_active = false;
  for (const auto& [id, partition] : partitions_) {
    if (partition.idle) continue;
    any_active = true;
    smallest = std::min(smallest, partition.watermark());
  }
  if (any_active) watermark_ = std::max(watermark_, smallest);
}

void EventOrder::set_idle(const PartitionId& id) {
  partition(id).idle = true;
  raise_watermark();
}

void EventOrder::set_awake(const PartitionId& id) { wake(partition(id)); }

void EventOrder::wake(Partition& partition) const {
  if (!partition.idle) return;
  partition.floor = std::max(partition.floor, watermark_);
  partition.idle = false;
}

void EventOrder::advance(EventTime watermark) {
  if (watermark <= watermark_) return;
  watermark_ = watermark;
  for (auto& [id, partition] : partitions_) partition.floor = std::max(partition.floor, watermark);
}

void EventOrder::restore_partition(const PartitionId& id, std::optional<EventTime> greatest, EventTime floor,
                                   bool idle) {
  Partition& restored = partition(id);
  restored.greatest = greatest;
  restored.floor = floor;
  restored.idle = idle;
}

void EventOrder::restore_waiting(EventPtr event) {
  heap_.push_back(std::move(event));
  std::push_heap(heap_.begin(), heap_.end(), later);
}

}  // namespace cepd::engine
