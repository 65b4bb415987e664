#pragma once
/// Puts the events of all source partitions into one total order: (event time, source name, partition, offset).
/// An event leaves as soon as no event that is still in time could stand before it (language-details.md sections 2 and
/// 7).

#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "base/drop_reason.h"
#include "base/event.h"

namespace cepd::engine {

class EventOrder {
 public:
  using PartitionId = std::pair<SourceId, std::int32_t>;
  struct Partition {
    Micros max_delay{0};
    std::optional<EventTime> greatest;  ///< event time seen
    EventTime floor = kMinTime;         ///< watermark it (re)joined at, or that was set from outside
    bool idle = true;                   ///< one that has sent nothing is idle
    EventTime watermark() const { return greatest ? std::max(floor, saturating_add(*greatest, -max_delay)) : floor; }
  };

  void set_max_delay(SourceId source, Micros max_delay) { delays_[source] = max_delay; }

  /// Takes the event, or says why it is late; its partition is then awake all the same.
  std::optional<DropReason> offer(EventPtr& event);
  /// False only if the event would be handled at once: nothing has to be remembered of it then.
  bool would_wait(const Event& event) const;
  /// The same as offer() and then next() for an event that can be handled at once: in order, with nothing that waits
  /// and one partition. False: nothing was done.
  bool pass(const Event& event);
  /// The next event in order, if it may be handled now.
  EventPtr next();

  void set_idle(const PartitionId& partition);
  /// It holds time back from now on, although it has sent nothing. One that is awake stays as it is.
  void set_awake(const PartitionId& partition);
  void advance(EventTime watermark);
  void end() { ended_ = true; }

  /// No event with an earlier time will be handed out any more.
  EventTime watermark() const { return ended_ ? kMaxTime : watermark_; }
  /// The same, but for end(): what a later run over more input goes on from.
  EventTime watermark_of_input() const { return watermark_; }

  const std::map<PartitionId, Partition>& partitions() const { return partitions_; }
  /// What the partition's next event must not be older than.
  EventTime watermark_of(const PartitionId& partition) const;
  /// Events held back, in no particular order.
  const std::vector<EventPtr>& waiting() const { return heap_; }
  /// To be read again by new rules: time and position stay as they are.
  std::vector<EventPtr>& waiting() { return heap_; }

  /// For restore: puts back what partitions() and watermark() showed and one waiting event after the other.
  void restore_partition(const PartitionId& id, std::optional<EventTime> greatest, EventTime floor, bool idle);
  void restore_watermark(EventTime watermark) { watermark_ = watermark; }
  void restore_waiting(EventPtr event);

 private:
  bool ready(const Event& event) const;
  void raise_watermark();
  void wake(Partition& partition) const;
  Partition& partition(const PartitionId& id);

  std::map<SourceId, Micros> delays_;
  std::map<PartitionId, Partition> partitions_;
  std::vector<EventPtr> heap_;  // binary heap, earliest on top
  EventTime watermark_ = kMinTime;
  bool ended_ = false;
};

}  // namespace cepd::engine
