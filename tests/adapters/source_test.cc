#include "adapters/source.h"

#include <doctest/doctest.h>

using namespace cepd;
using namespace cepd::adapters;

TEST_CASE("source: a topic is a part of its source") {
  const SourceId bus("bus");
  CHECK(part_of(bus, "orders.v1") == SourceId("bus/orders.v1"));
  CHECK(whole_of(part_of(bus, "orders.v1")) == bus);
  CHECK(whole_of(bus) == bus);
}

TEST_CASE("source: what was taken of a source without partitions") {
  const SourceId web("web");
  CHECK(last_taken({}, web) == -1);
  CHECK(last_taken({{{web, 0}, 7}, {{SourceId("other"), 0}, 9}}, web) == 7);
}
