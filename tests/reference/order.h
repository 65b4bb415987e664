#pragma once
/// Puts what arrives into the one total order (event time, source name, partition, offset), or finds it late
/// (language.md sections 2 and 7). Keeps every event and looks at all of them each time.

#include "tests/reference/event.h"

namespace cepd::reference {

class TotalOrder {
 public:
  /// How far the watermarks of this source's partitions trail.
  void set_max_delay(SourceId source, Micros delay) { delays_[source] = delay; }

  /// False: it was late and is not matched.
  bool arrive(std::shared_ptr<Event> event);
  /// No event before `watermark` will come from anywhere.
  void advance(EventTime watermark);
  void end();

  /// All that can be handled so far, in order.
  const std::vector<EventPtr>& handled() const { return handled_; }
  EventTime watermark() const { return ended_ ? kMaxTime : watermark_; }

 private:
  using PartitionId = std::pair<SourceId, std::int32_t>;
  struct Partition {
    EventTime greatest = kMinTime;
    EventTime floor = kMinTime;  ///< the engine's watermark when it came, or one set from outside
    Micros max_delay{0};
    EventTime watermark() const;
  };
  bool ready(const Event& event) const;
  void handle_ready();

  std::map<SourceId, Micros> delays_;
  std::map<PartitionId, Partition> partitions_;  ///< those that have sent something
  std::vector<std::shared_ptr<Event>> waiting_;
  std::vector<EventPtr> handled_;
  EventTime watermark_ = kMinTime;
  bool ended_ = false;
};

}  // namespace cepd::reference
