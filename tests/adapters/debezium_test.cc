#include "adapters/debezium.h"

#include <doctest/doctest.h>

using cepd::adapters::debezium_event;

TEST_CASE("debezium: the row after the change, with what was before it") {
  CHECK(debezium_event(R"({"before":{"id":1,"n":2},"after":{"id":1,"n":3},"op":"u","ts_ms":9,"source":{"ts_ms":7}})") ==
        R"({"id":1,"n":3,"__op":"u","__ts_ms":7,"__before":{"id":1,"n":2}})");
  CHECK(debezium_event(R"({"before":null,"after":{"id":1},"op":"c","ts_ms":9,"source":{"db":"x"}})") ==
        R"({"id":1,"__op":"c","__ts_ms":9})");
  CHECK(debezium_event(R"({"after":{},"op":"r"})") == R"({"__op":"r"})");
}

TEST_CASE("debezium: of a deletion the row before it") {
  CHECK(debezium_event(R"({"before":{"id":1},"after":null,"op":"d","ts_ms":9})") ==
        R"({"id":1,"__op":"d","__ts_ms":9,"__before":{"id":1}})");
}

TEST_CASE("debezium: with schemas the envelope is the payload") {
  CHECK(debezium_event(R"({"schema":{"type":"struct"},"payload":{"after":{"a":"x\ny"},"op":"c"}})") ==
        R"({"a":"x\ny","__op":"c"})");
}

TEST_CASE("debezium: what is no envelope") {
  for (const char* other : {"", "[]", "{}", R"({"id":1})", R"({"op":"c"})", R"({"op":1,"after":{}})",
                            R"({"op":"d","after":{"id":1}})", R"({"op":"u","before":{}})", R"({"payload":{"id":1}})"}) {
    CAPTURE(std::string(other));
    CHECK_FALSE(debezium_event(other).has_value());
  }
}
