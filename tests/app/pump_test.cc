#include "app/pump.h"

#include <doctest/doctest.h>

#include "state/memory_backend.h"
#include "tests/support/rules.h"

using namespace cepd;
using namespace cepd::app;
using namespace std::chrono_literals;

namespace {

class SetClock final : public Clock {
 public:
  EventTime now() const override {
    return event_time_us(0) + std::chrono::duration_cast<Micros>(at.time_since_epoch());
  }
  std::chrono::steady_clock::time_point steady() const override { return at; }
  std::chrono::steady_clock::time_point at{1000s};
};

adapters::SourceSettings source(std::string name) {
  adapters::SourceSettings settings;
  settings.name = std::move(name);
  return settings;
}

}  // namespace

TEST_CASE("pump: while no input is taken no source becomes idle, however long that is") {
  for (const bool rests : {true, false}) {
    CAPTURE(rests);
    SetClock clock;
    const auto backend = state::memory_backend();
    state::Outbox outbox;
    auto dead_letter = std::move(*adapters::DeadLetterFile::open("", clock));
    Measures measures({}, clock);
    Pump pump(test::network_of("RULE r MATCH a DO log(\"x\")"), {}, {source("s"), source("t")}, *backend,
              {dead_letter.get(), dead_letter.get(), &outbox}, clock);
    auto writer = std::move(*GroupWriter::open(*backend, outbox, {}, measures, clock));
    REQUIRE(writer->start().has_value());
    pump.write_to(*writer);
    auto take = [&, next = 0](const char* name, int seconds) mutable {
      adapters::Message message;
      message.position = {SourceId(name), 0, next++};
      message.bytes = R"({"type":"a","ts":)" + std::to_string(seconds * 1000) + "}";
      pump.take(message);
    };
    take("s", 100);
    take("t", 900);
    for (int second = 0; second < 60; ++second) {  // idle_after is 30 s
      clock.at += 1s;
      if (rests) pump.rest();
    }
    pump.tick();
    take("s", 101);
    CHECK(dead_letter->total() == (rests ? 0 : 1));
    REQUIRE(writer->stop().has_value());
  }
}
