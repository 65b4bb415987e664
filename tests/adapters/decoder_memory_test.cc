#include <doctest/doctest.h>
#include <simdjson.h>

#include <string>
#include <vector>

#include "adapters/decoder.h"
#include "tests/support/allocations.h"

using cepd::EventPtr;
using cepd::FieldPath;
using cepd::FieldPlan;
using cepd::FieldType;
using cepd::TypeId;
using cepd::adapters::DecoderOptions;
using cepd::adapters::JsonDecoder;
using cepd::adapters::Message;
using cepd::test::Allocations;

namespace {

/// A rule's type with fields of every kind, a declared one, and one that only rules of any type read.
FieldPlan plan() {
  FieldPlan plan;
  const TypeId order = plan.add_type("order");
  plan.set_named(order);
  for (const char* name : {"text", "number", "flag", "list", "object"}) plan.add_field(order, FieldPath::of(name));
  plan.add_field(order, FieldPath{{std::string("object"), std::string("b")}});
  const TypeId declared = plan.add_type("declared");
  plan.set_named(declared);
  for (const char* name : {"at", "took", "amount"}) plan.add_field(declared, FieldPath::of(name));
  plan.declare(declared, {{"at", FieldType::kTimestamp, false},
                          {"took", FieldType::kDuration, false},
                          {"amount", FieldType::kDouble, true}});
  plan.add_field(cepd::kOtherType, FieldPath::of("any"));
  return plan;
}

std::vector<Message> messages() {
  const std::string texts[] = {
      R"({"type":"order","ts":1700000000001,"text":"quite a long text, with \u00fc and \"quotes\" in it","number":-1.5})",
      R"({"type":"order","ts":1.5,"flag":true,"list":[1,[2,"three"],{}],"object":{"b":{"d":1,"c":"x"},"a":null,"b":2}})",
      R"({"type":"declared","ts":"2024-01-01T00:00:00.5+01:00","at":"2024-01-01T00:00:00Z","took":"1h30m","amount":3})",
      R"({"type":"a type that no rule names","ts":1700000000002,"any":"the field of any type","unread":{"x":[1e10]}})",
      R"({"ts":1700000000003,"type":"other"})"};
  std::vector<Message> all;
  for (int round = 0; round < 20; ++round) {
    for (const std::string& text : texts) {
      all.emplace_back();
      all.back().bytes = text;
      all.back().position = {cepd::SourceId("s"), 0, static_cast<std::int64_t>(all.size())};
    }
  }
  return all;
}

/// Decodes all of them, the last few events still held. How often memory was asked for.
std::uint64_t decode_all(JsonDecoder& decoder, const FieldPlan& fields, const std::vector<Message>& input,
                         std::vector<EventPtr>& held) {
  const Allocations allocations;
  std::size_t next = 0;
  for (const Message& message : input) {
    auto decoded = decoder.decode(message, fields);
    held[next++ % held.size()] = std::move(std::get<EventPtr>(decoded));
  }
  return allocations.count();
}

}  // namespace

TEST_CASE("decoder: asks for no memory once it has seen such events") {
  for (const bool keep_raw : {false, true}) {
    CAPTURE(keep_raw);
    DecoderOptions options;
    options.keep_raw = keep_raw;
    JsonDecoder decoder(options);
    const FieldPlan fields = plan();
    const auto input = messages();
    std::vector<EventPtr> held(30);
    CHECK(decode_all(decoder, fields, input, held) > 0);  // which also shows that it is counted
    CHECK(decode_all(decoder, fields, input, held) == 0);
    CHECK(decode_all(decoder, fields, input, held) == 0);
  }
}

TEST_CASE("decoder: the parser's code is made for this processor") {
#if SIMDJSON_IS_X86_64
  if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("pclmul") || !__builtin_cpu_supports("bmi")) return;
  const auto& name = simdjson::get_active_implementation()->name();
  CHECK_MESSAGE((name == "haswell" || name == "icelake"), name);
#endif
}
