#include "engine/order.h"

#include <doctest/doctest.h>

using namespace cepd;
using engine::EventOrder;

namespace {

EventPtr event_at(std::int64_t us, const char* source, std::int64_t offset, std::int32_t partition = 0) {
  EventDraft event;
  event.time = event_time_us(us);
  event.position = {SourceId(source), partition, offset};
  return event.build();
}

/// Offers the event and returns why it is late, as text ("" when it is not).
std::string offer(EventOrder& order, EventPtr event) {
  const auto reason = order.offer(event);
  return reason ? std::string(drop_reason_name(*reason)) : "";
}

/// Offsets of all events that may be handled now, in order.
std::vector<std::int64_t> ready(EventOrder& order) {
  std::vector<std::int64_t> offsets;
  while (const auto event = order.next()) offsets.push_back(event->position.offset);
  return offsets;
}

using Offsets = std::vector<std::int64_t>;

}  // namespace

TEST_CASE("order: with one partition and no delay every event is handled at once") {
  EventOrder order;
  CHECK(offer(order, event_at(10, "a", 0)) == "");
  CHECK(ready(order) == Offsets{0});
  CHECK(offer(order, event_at(10, "a", 1)) == "");
  CHECK(ready(order) == Offsets{1});
}

TEST_CASE("order: an event at the watermark is in time, one before it is late") {
  EventOrder order;
  CHECK(offer(order, event_at(10, "a", 0)) == "");
  CHECK(order.watermark() == event_time_us(10));
  CHECK(offer(order, event_at(10, "a", 1)) == "");
  CHECK(offer(order, event_at(9, "a", 2)) == "late");
}

TEST_CASE("order: max_delay reorders and decides what is late") {
  EventOrder order;
  order.set_max_delay(SourceId("a"), Micros(5));
  CHECK(offer(order, event_at(10, "a", 0)) == "");
  CHECK(offer(order, event_at(7, "a", 1)) == "");
  CHECK(offer(order, event_at(5, "a", 2)) == "");
  CHECK(ready(order) == Offsets{2});
  CHECK(offer(order, event_at(4, "a", 3)) == "late");
  CHECK(offer(order, event_at(15, "a", 4)) == "");
  CHECK(ready(order) == Offsets{1, 0});
  order.end();
  CHECK(ready(order) == Offsets{4});
}

TEST_CASE("order: equal times go by source name, partition and offset whatever the arrival") {
  EventOrder order;
  CHECK(offer(order, event_at(10, "b", 20)) == "");
  CHECK(offer(order, event_at(10, "a", 11, 1)) == "");
  CHECK(offer(order, event_at(10, "a", 10, 0)) == "");
  // Partition 0 of a may still bring an event of time 10, which would stand before the other two.
  CHECK(ready(order) == Offsets{10});
  order.end();
  CHECK(ready(order) == Offsets{11, 20});
}

TEST_CASE(
    "order: another partition holds an event back until its watermark passes or stands after it at the same time") {
  EventOrder order;
  CHECK(offer(order, event_at(1, "b", 0)) == "");
  CHECK(ready(order) == Offsets{0});
  CHECK(offer(order, event_at(5, "a", 1)) == "");
  CHECK(ready(order).empty());
  CHECK(order.watermark() == event_time_us(1));
  // b may still send an event of time 5, but it would stand after a's.
  CHECK(offer(order, event_at(5, "b", 2)) == "");
  CHECK(ready(order) == Offsets{1});
  // a may still send an event of time 5 that stands before b's.
  CHECK(ready(order).empty());
  CHECK(offer(order, event_at(6, "a", 3)) == "");
  CHECK(ready(order) == Offsets{2});
}

TEST_CASE("order: an idle partition does not hold time back and comes back at the engine's watermark") {
  EventOrder order;
  CHECK(offer(order, event_at(1, "b", 0)) == "");
  CHECK(ready(order) == Offsets{0});
  CHECK(offer(order, event_at(100, "a", 1)) == "");
  CHECK(ready(order).empty());
  order.set_idle({SourceId("b"), 0});
  CHECK(ready(order) == Offsets{1});
  CHECK(order.watermark() == event_time_us(100));
  CHECK(offer(order, event_at(50, "b", 2)) == "late_after_idle");
  CHECK(offer(order, event_at(100, "b", 3)) == "");
  CHECK(offer(order, event_at(99, "b", 4)) == "late");
}

TEST_CASE("order: a new partition starts at the engine's watermark") {
  EventOrder order;
  CHECK(offer(order, event_at(100, "a", 0)) == "");
  CHECK(ready(order) == Offsets{0});
  CHECK(offer(order, event_at(99, "b", 1)) == "late_after_idle");
}

TEST_CASE("order: lateness of a partition does not depend on the others") {
  EventOrder order;
  CHECK(offer(order, event_at(10, "a", 0)) == "");
  CHECK(offer(order, event_at(10, "b", 1)) == "");
  CHECK(offer(order, event_at(500, "a", 2)) == "");
  CHECK(offer(order, event_at(11, "b", 3)) == "");
}

TEST_CASE("order: the watermark set from outside lets waiting events go and makes earlier ones late") {
  EventOrder order;
  order.set_max_delay(SourceId("a"), Micros(1000));
  CHECK(offer(order, event_at(10, "a", 0)) == "");
  CHECK(ready(order).empty());
  order.advance(event_time_us(11));
  CHECK(ready(order) == Offsets{0});
  CHECK(offer(order, event_at(10, "a", 1)) == "late_after_idle");
  order.advance(event_time_us(5));
  CHECK(order.watermark() == event_time_us(11));
}

TEST_CASE("order: all idle, the clock moves time and an idle partition's own events go with it") {
  EventOrder order;
  order.set_max_delay(SourceId("a"), Micros(5));
  CHECK(offer(order, event_at(10, "a", 0)) == "");
  order.set_idle({SourceId("a"), 0});
  CHECK(ready(order).empty());
  order.advance(event_time_us(10));
  CHECK(ready(order) == Offsets{0});
}

TEST_CASE("order: what was saved is put back") {
  EventOrder order;
  order.set_max_delay(SourceId("a"), Micros(5));
  CHECK(offer(order, event_at(10, "a", 0)) == "");
  CHECK(offer(order, event_at(8, "a", 1)) == "");
  EventOrder again;
  again.set_max_delay(SourceId("a"), Micros(5));
  again.restore_watermark(order.watermark_of_input());
  for (const auto& [id, partition] : order.partitions()) {
    again.restore_partition(id, partition.greatest, partition.floor, partition.idle);
  }
  for (const auto& event : order.waiting()) again.restore_waiting(event);
  CHECK(offer(again, event_at(4, "a", 2)) == "late");
  CHECK(offer(again, event_at(15, "a", 3)) == "");
  CHECK(ready(again) == Offsets{1, 0});
}

TEST_CASE("order: a partition that is awake holds time back before its first event") {
  EventOrder order;
  order.set_awake({SourceId("a"), 0});
  order.set_awake({SourceId("a"), 1});
  CHECK(offer(order, event_at(100, "a", 0, 1)) == "");
  CHECK(ready(order).empty());
  CHECK(offer(order, event_at(10, "a", 1, 0)) == "");
  CHECK(ready(order) == Offsets{1});
  order.set_idle({SourceId("a"), 0});
  CHECK(ready(order) == Offsets{0});
  // From now on the engine's watermark bounds it; being told once more changes nothing.
  order.set_awake({SourceId("a"), 0});
  CHECK(offer(order, event_at(99, "a", 2, 0)) == "late_after_idle");
  order.set_awake({SourceId("a"), 0});
  CHECK(order.watermark() == event_time_us(100));
}
