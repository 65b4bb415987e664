#include "adapters/decoder.h"

#include <doctest/doctest.h>

using cepd::DeclaredField;
using cepd::DropReason;
using cepd::Event;
using cepd::EventDraft;
using cepd::EventPtr;
using cepd::FieldPath;
using cepd::FieldPlan;
using cepd::FieldType;
using cepd::Kind;
using cepd::kOtherType;
using cepd::to_us;
using cepd::TypeId;
using cepd::Value;
using cepd::adapters::DecodeError;
using cepd::adapters::DecoderOptions;
using cepd::adapters::JsonDecoder;
using cepd::adapters::Message;

namespace {

FieldPath path(std::initializer_list<FieldPath::Step> steps) { return FieldPath{steps}; }

/// A plan with one named type `t` and these fields, slots in this order.
FieldPlan plan_of(const std::vector<FieldPath>& paths) {
  FieldPlan plan;
  const TypeId t = plan.add_type("t");
  plan.set_named(t);
  for (const FieldPath& p : paths) plan.add_field(t, p);
  return plan;
}

Message message(std::string bytes, std::string topic = {}) {
  Message m;
  m.bytes = std::move(bytes);
  m.topic = std::move(topic);
  m.position = {cepd::SourceId("s"), 3, 7};
  return m;
}

EventPtr decoded(JsonDecoder& decoder, const FieldPlan& plan, std::string bytes, std::string topic = {}) {
  auto result = decoder.decode(message(std::move(bytes), std::move(topic)), plan);
  if (const auto* error = std::get_if<DecodeError>(&result)) {
    FAIL(std::string(drop_reason_name(error->reason)), ": ", error->detail);
  }
  return std::get<EventPtr>(result);
}

/// "reason: detail", or "ok".
std::string refused(JsonDecoder& decoder, const FieldPlan& plan, std::string bytes, std::string topic = {}) {
  auto result = decoder.decode(message(std::move(bytes), std::move(topic)), plan);
  const auto* error = std::get_if<DecodeError>(&result);
  return error ? std::string(drop_reason_name(error->reason)) + ": " + error->detail : "ok";
}

std::string reason(std::string bytes) {
  JsonDecoder decoder({});
  const std::string text = refused(decoder, plan_of({}), std::move(bytes));
  return text.substr(0, text.find(':'));
}

/// "kind json" of field `x` in an event of type `t` with time 0.
std::string field_x(const std::string& json, const FieldPath& p = FieldPath::of("x")) {
  JsonDecoder decoder({});
  const auto event = decoded(decoder, plan_of({p}), R"({"type":"t","ts":0,"x":)" + json + "}");
  std::string text(kind_name(event->field(0).kind()));
  text += ' ';
  append_json(text, event->field(0));
  return text;
}

std::string nested(std::size_t depth) {
  return R"({"type":"t","ts":0,"x":)" + std::string(depth, '[') + std::string(depth, ']') + "}";
}

std::int64_t time_us(const std::string& json, cepd::TimeUnit unit) {
  DecoderOptions options;
  options.time_unit = unit;
  JsonDecoder decoder(options);
  return to_us(decoded(decoder, plan_of({}), R"({"type":"t","ts":)" + json + "}")->time);
}

std::string time_refused(const std::string& json, cepd::TimeUnit unit = cepd::TimeUnit::kMillis) {
  DecoderOptions options;
  options.time_unit = unit;
  JsonDecoder decoder(options);
  return refused(decoder, plan_of({}), R"({"type":"t","ts":)" + json + "}");
}

}  // namespace

TEST_CASE("decoder: type, time, position, raw bytes and fields") {
  DecoderOptions options;
  options.keep_raw = true;
  JsonDecoder decoder(options);
  const FieldPlan plan = plan_of({FieldPath::of("item"), FieldPath::of("price"), FieldPath::of("gone")});
  const std::string text = R"( {"price": 9.5, "type": "t", "item": "b\u00fcch", "ts": 1500, "other": [1]} )";
  const auto event = decoded(decoder, plan, text);
  CHECK(event->type == *plan.find("t"));
  CHECK(event->other_type().empty());
  CHECK(to_us(event->time) == 1'500'000);
  CHECK(event->position == cepd::SourcePosition{cepd::SourceId("s"), 3, 7});
  CHECK(event->raw() == text);
  CHECK(event->field(0).text() == "b\u00fcch");
  CHECK(event->field(1).as_double() == 9.5);
  CHECK(event->field(2).is_null());
}

TEST_CASE("decoder: strings outlive the parser's buffers and the message") {
  JsonDecoder decoder({});
  const FieldPlan plan = plan_of({FieldPath::of("x")});
  const auto first = decoded(decoder, plan, R"({"type":"t","ts":0,"x":"first first first first first"})");
  const auto second = decoded(decoder, plan, R"({"type":"t","ts":0,"x":"other other other other other"})");
  CHECK(first->field(0).text() == "first first first first first");
  CHECK(second->field(0).text() == "other other other other other");
}

TEST_CASE("decoder: raw bytes are left out unless asked for") {
  JsonDecoder decoder({});
  CHECK(decoded(decoder, plan_of({}), R"({"type":"t","ts":0})")->raw().empty());
}

TEST_CASE("decoder: numbers") {
  CHECK(field_x("30") == "int 30");
  CHECK(field_x("-0") == "int 0");
  CHECK(field_x("30.0") == "double 30.0");
  CHECK(field_x("1e3") == "double 1000.0");
  CHECK(field_x("9223372036854775807") == "int 9223372036854775807");
  CHECK(field_x("-9223372036854775808") == "int -9223372036854775808");
  CHECK(field_x("9223372036854775808") == "double 9223372036854775808.0");
  CHECK(field_x("18446744073709551615") == "double 18446744073709551616.0");
  CHECK(field_x("18446744073709551616") == "double 18446744073709551616.0");
  CHECK(field_x("-9223372036854775809") == "double -9223372036854775808.0");
  CHECK(field_x("1e-400") == "double 0.0");
  CHECK(field_x("1" + std::string(63, '0')) == "double 1e+63");
  CHECK(field_x("0." + std::string(63, '1')) == "double 0.1111111111111111");
}

TEST_CASE("decoder: an over-long integer changes nothing else of the text") {
  DecoderOptions options;
  options.keep_raw = true;
  JsonDecoder decoder(options);
  const FieldPlan plan = plan_of({FieldPath::of("a"), path({std::string("b"), std::int64_t{1}}), FieldPath::of("c")});
  const std::string text =
      R"({"type":"t","ts":12,"a":"12345678901234567890123 \" 1","b":[1,123456789012345678901234567890],"c":-7})";
  const auto event = decoded(decoder, plan, text);
  CHECK(event->raw() == text);
  CHECK(event->field(0).text() == "12345678901234567890123 \" 1");
  CHECK(event->field(1).as_double() == 123456789012345678901234567890.0);
  CHECK(event->field(2).as_int() == -7);
}

TEST_CASE("decoder: numbers that no double holds or with too many digits, also where no rule looks") {
  const auto with = [](const std::string& number) { return R"({"type":"t","ts":0,"x":[{"y":)" + number + "}]}"; };
  CHECK(reason(with("1e400")) == "bad_number");
  CHECK(reason(with("-1e309")) == "bad_number");
  CHECK(reason(with(std::string(64, '9'))) == "ok");
  CHECK(reason(with(std::string(65, '9'))) == "bad_number");
  CHECK(reason(with("-" + std::string(300, '9'))) == "bad_number");
  CHECK(reason(with(std::string(400, '9'))) == "bad_number");
  CHECK(reason(with("0." + std::string(70, '1'))) == "bad_number");
  CHECK(reason(with("1234567890." + std::string(55, '1'))) == "bad_number");
  CHECK(reason(with("1234567890." + std::string(54, '1'))) == "ok");
  CHECK(reason(with("\"" + std::string(300, '9') + "\"")) == "ok");
  CHECK(reason(with("123456789012345678901234567890, \"z\":1e400")) == "bad_number");
  // Wherever it stands.
  for (std::size_t shift = 0; shift < 70; ++shift) {
    const std::string pad(shift, ' ');
    CHECK(reason(with(pad + "1." + std::string(63, '1'))) == "ok");
    CHECK(reason(with(pad + "1." + std::string(64, '1'))) == "bad_number");
  }
}

TEST_CASE("decoder: what is no JSON object") {
  CHECK(reason("") == "not_json");
  CHECK(reason("   ") == "not_json");
  CHECK(reason("hello") == "not_json");
  CHECK(reason("[1,2]") == "not_json");
  CHECK(reason("12") == "not_json");
  CHECK(reason("\"text\"") == "not_json");
  CHECK(reason(R"({"type":"t","ts":0)") == "not_json");
  CHECK(reason(R"({"type":"t","ts":0}{"type":"t","ts":0})") == "not_json");
  CHECK(reason(R"({"type":"t","ts":0,})") == "not_json");
  CHECK(reason(R"({"type":"t","ts":0,"x":01})") == "not_json");
  CHECK(reason(R"({"type":"t","ts":0,"x":1.})") == "not_json");
  CHECK(reason(R"({"type":"t","ts":0,"x":12a})") == "not_json");
  CHECK(reason(R"({"type":"t","ts":0,"x":NaN})") == "not_json");
  CHECK(reason(R"({"type":"t","ts":0,"x":"a)"
               "\n"
               R"("})") == "not_json");
  CHECK(reason(R"({"type":"t","ts":0,"x":12345678901234567890123 4})") == "not_json");
}

TEST_CASE("decoder: the whole text is checked whatever the rules read") {
  CHECK(reason("{\"type\":\"t\",\"ts\":0,\"unread\":{\"deep\":\"\xff\"}}") == "invalid_utf8");
  CHECK(reason("{\"type\":\"t\",\"ts\":0,\"\xc3\x28\":1}") == "invalid_utf8");
  CHECK(reason("{\"type\":\"t\",\"ts\":0,\"x\":\"\xed\xa0\x80\"}") == "invalid_utf8");  // a surrogate
  CHECK(reason(nested(1000)) == "ok");
  CHECK(reason(nested(10'000)) == "too_deep");
  CHECK(reason(std::string(10'000, '[') + std::string(10'000, ']')) == "too_deep");
}

TEST_CASE("decoder: what the source has cut is too long") {
  JsonDecoder decoder({});
  Message m = message(R"({"type":"t","ts":0})");
  m.too_long = true;
  const auto result = decoder.decode(m, plan_of({}));
  CHECK(std::get<DecodeError>(result).reason == DropReason::kTooLong);
}

TEST_CASE("decoder: a 10 MB event is read, and small ones after it") {
  JsonDecoder decoder({});
  const FieldPlan plan = plan_of({FieldPath::of("x")});
  const auto big = decoded(decoder, plan, R"({"type":"t","ts":0,"x":")" + std::string(10'000'000, 'a') + R"(","y":1})");
  CHECK(big->field(0).text().size() == 10'000'000);
  CHECK(decoded(decoder, plan, R"({"type":"t","ts":0,"x":1})")->field(0).as_int() == 1);
}

TEST_CASE("decoder: of repeated names the last counts, with all below it") {
  JsonDecoder decoder({});
  const FieldPlan plan =
      plan_of({path({std::string("a"), std::string("b")}), path({std::string("a"), std::string("c")}),
               FieldPath::of("d"), path({std::string("e"), std::int64_t{1}})});
  const auto event = decoded(
      decoder, plan,
      R"({"type":"u","ts":1,"a":{"b":1,"c":2},"d":1,"e":[1,2],"type":"t","ts":2,"a":{"b":3},"d":null,"e":[5]})");
  CHECK(event->type == *plan.find("t"));
  CHECK(to_us(event->time) == 2000);
  CHECK(event->field(0).as_int() == 3);
  CHECK(event->field(1).is_null());
  CHECK(event->field(2).is_null());
  CHECK(event->field(3).is_null());
  // Within one nested object, and after an object a plain value.
  const auto more = decoded(decoder, plan, R"({"type":"t","ts":1,"a":{"b":1,"b":2,"c":3}})");
  CHECK(more->field(0).as_int() == 2);
  CHECK(more->field(1).as_int() == 3);
  CHECK(decoded(decoder, plan, R"({"type":"t","ts":1,"a":{"b":1},"a":5})")->field(0).is_null());
  CHECK(refused(decoder, plan, R"({"type":"t","type":null,"ts":1})") ==
        "no_type: field type: expected the type, got null");
}

TEST_CASE("decoder: names that are alike, few and many, short and long") {
  for (const std::size_t count : {2U, 16U, 17U, 60U}) {
    for (const std::string stem :
         {"", "x", "abcd", "abcdefgh", "abcdefghi", "much the same beginning of the name, and a long one at that: "}) {
      CAPTURE(count);
      CAPTURE(stem);
      std::vector<FieldPath> paths;
      std::string text = R"({"type":"t","ts":0)";
      for (std::size_t i = 0; i < count; ++i) {
        const std::string name = stem + std::string(1, static_cast<char>('a' + i % 26)) + std::string(i / 26, 'z');
        paths.push_back(FieldPath::of(name));
        text += ",\"" + name + "\":" + std::to_string(i) + ",\"" + name + "?\":-1,\"?" + name + "\":-1";
      }
      JsonDecoder decoder({});
      const auto event = decoded(decoder, plan_of(paths), text + "}");
      for (std::size_t i = 0; i < count; ++i) CHECK(event->field(i).as_int() == static_cast<std::int64_t>(i));
    }
  }
  CHECK(field_x(R"(1,"":2)", FieldPath::of("")) == "int 2");
}

TEST_CASE("decoder: nested and array paths") {
  CHECK(field_x(R"({"y":{"z":5}})", path({std::string("x"), std::string("y"), std::string("z")})) == "int 5");
  CHECK(field_x(R"([7,8,9])", path({std::string("x"), std::int64_t{2}})) == "int 9");
  CHECK(field_x(R"([7,8,9])", path({std::string("x"), std::int64_t{3}})) == "null null");
  CHECK(field_x(R"([[1],[2,{"k":"v"}]])",
                path({std::string("x"), std::int64_t{1}, std::int64_t{1}, std::string("k")})) == "string \"v\"");
  CHECK(field_x(R"({"0":1})", path({std::string("x"), std::int64_t{0}})) == "null null");
  CHECK(field_x("5", path({std::string("x"), std::string("y")})) == "null null");
  // A path and what is below it at once; a dot inside a name belongs to the name.
  JsonDecoder decoder({});
  const FieldPlan plan =
      plan_of({FieldPath::of("x"), path({std::string("x"), std::string("y")}), FieldPath::of("x.y")});
  const auto event = decoded(decoder, plan, R"({"type":"t","ts":0,"x":{"y":1},"x.y":2})");
  CHECK(event->field(0).text() == R"({"y":1})");
  CHECK(event->field(1).as_int() == 1);
  CHECK(event->field(2).as_int() == 2);
}

TEST_CASE("decoder: arrays and objects are kept as canonical JSON") {
  CHECK(field_x(R"( { "b" : 1 , "a" : [ 1.50 , true , null, "q\"\u000a" ] , "b" : {} } )") ==
        R"(array or object {"a":[1.5,true,null,"q\"\n"],"b":{}})");
  CHECK(field_x(R"([1e2, -0, 18446744073709551615, 9223372036854775807])") ==
        "array or object [100.0,0,18446744073709551616.0,9223372036854775807]");
  CHECK(field_x(R"({"aa":1,"a":2,"B":3,"\u00e9":4})") == "array or object {\"B\":3,\"a\":2,\"aa\":1,\"\u00e9\":4}");
  CHECK(field_x("[]") == "array or object []");
  CHECK(field_x("true") == "bool true");
  CHECK(field_x("\"\"") == "string \"\"");
}

TEST_CASE("decoder: payload fields named ts and type") {
  DecoderOptions options;
  options.type_field = path({std::string("meta"), std::string("kind")});
  options.time_field = path({std::string("meta"), std::string("at")});
  JsonDecoder decoder(options);
  const FieldPlan plan = plan_of({FieldPath::of("ts"), FieldPath::of("type")});
  const auto event = decoded(decoder, plan, R"({"ts":5,"type":"payload","meta":{"kind":"t","at":9}})");
  CHECK(event->type == *plan.find("t"));
  CHECK(to_us(event->time) == 9000);
  CHECK(event->field(0).as_int() == 5);
  CHECK(event->field(1).text() == "payload");
}

TEST_CASE("decoder: types that no rule names") {
  JsonDecoder decoder({});
  FieldPlan plan = plan_of({FieldPath::of("x")});
  plan.add_type("earlier");  // kept for older events, not named any more
  plan.add_field(kOtherType, FieldPath::of("y"));
  const auto other = decoded(decoder, plan, R"({"type":"zzz","ts":0,"x":1,"y":2})");
  CHECK(other->type == kOtherType);
  CHECK(other->other_type() == "zzz");
  CHECK(other->fields().size() == 1);
  CHECK(other->field(0).as_int() == 2);
  const auto earlier = decoded(decoder, plan, R"({"type":"earlier","ts":0,"x":1,"y":2})");
  CHECK(earlier->type == kOtherType);
  CHECK(earlier->other_type() == "earlier");
  const auto named = decoded(decoder, plan, R"({"type":"t","ts":0,"x":1,"y":2})");
  CHECK(named->other_type().empty());
  CHECK(named->field(0).as_int() == 1);
  CHECK(named->field(1).as_int() == 2);
}

TEST_CASE("decoder: a plan that grows, and another plan at the same address") {
  JsonDecoder decoder({});
  FieldPlan plan = plan_of({FieldPath::of("x")});
  const std::string text = R"({"type":"t","ts":0,"x":1,"y":"two"})";
  CHECK(decoded(decoder, plan, text)->fields().size() == 1);
  plan.add_field(*plan.find("t"), FieldPath::of("y"));
  CHECK(decoded(decoder, plan, text)->field(1).text() == "two");
  plan = plan_of({FieldPath::of("y"), FieldPath::of("x")});
  CHECK(decoded(decoder, plan, text)->field(0).text() == "two");
  plan.declare(*plan.find("t"), {DeclaredField{"y", FieldType::kInt, false}});
  CHECK(refused(decoder, plan, text) == "schema: field y: expected int, got string");
  plan.declare(*plan.find("t"), {DeclaredField{"y", FieldType::kString, false}});
  CHECK(refused(decoder, plan, text) == "ok");
  plan.begin_set();
  CHECK(decoded(decoder, plan, text)->type == kOtherType);
}

TEST_CASE("decoder: type from the topic's last level") {
  DecoderOptions options;
  options.type_from_topic = true;
  JsonDecoder decoder(options);
  const FieldPlan plan = plan_of({});
  CHECK(decoded(decoder, plan, R"({"ts":0})", "shop/7/t")->type == *plan.find("t"));
  CHECK(decoded(decoder, plan, R"({"ts":0,"type":"ignored"})", "u")->other_type() == "u");
  CHECK(refused(decoder, plan, R"({"ts":0})", "shop/") == "no_type: the topic's last level is empty");
}

TEST_CASE("decoder: no type") {
  JsonDecoder decoder({});
  const FieldPlan plan = plan_of({});
  CHECK(refused(decoder, plan, R"({"ts":0})") == "no_type: field type: expected the type, got null");
  CHECK(refused(decoder, plan, R"({"ts":0,"type":5})") == "no_type: field type: expected the type, got int");
  CHECK(refused(decoder, plan, R"({"ts":0,"type":""})") ==
        "no_type: field type: expected the type, got an empty string");
  CHECK(refused(decoder, plan, R"({"ts":"bad","type":{}})") == "no_type: field type: expected the type, got object");
}

TEST_CASE("decoder: times of every unit, cut towards the past") {
  using enum cepd::TimeUnit;
  CHECK(time_us("3", kSeconds) == 3'000'000);
  CHECK(time_us("-3", kSeconds) == -3'000'000);
  CHECK(time_us("3", kMillis) == 3000);
  CHECK(time_us("3", kMicros) == 3);
  CHECK(time_us("2999", kNanos) == 2);
  CHECK(time_us("-1", kNanos) == -1);
  CHECK(time_us("9223372036854775807", kMicros) == INT64_MAX);
  CHECK(time_us("9223372036854775808", kNanos) == 9223372036854775);
  CHECK(time_us("1700000000.123456", kSeconds) == 1'700'000'000'123'456);
  CHECK(time_us("1700000000.1234567", kSeconds) == 1'700'000'000'123'456);
  CHECK(time_us("1.5", kMillis) == 1500);
  CHECK(time_us("0.00001", kMillis) == 0);
  CHECK(time_us("-0.00001", kMillis) == -1);
  CHECK(time_us("-1.0005", kMillis) == -1001);
  CHECK(time_us("1e-300", kSeconds) == 0);
  CHECK(time_us("-1e-300", kNanos) == -1);
  CHECK(time_us("-0.0", kSeconds) == 0);
  CHECK(time_us("1e9", kSeconds) == 1'000'000'000'000'000);
  for (const auto unit : {kSeconds, kMillis, kMicros, kNanos}) {
    CHECK(time_us("\"1970-01-01T01:00:00.1234569+01:00\"", unit) == 123456);
  }
}

TEST_CASE("decoder: no time") {
  CHECK(time_refused("null") == "no_time: field ts: expected the time, got null");
  CHECK(time_refused("true") == "no_time: field ts: expected the time, got bool");
  CHECK(time_refused("\"soon\"") == "no_time: field ts: expected the time, got string that is no RFC 3339 time");
  CHECK(time_refused("9223372036854775807") == "no_time: field ts: expected the time, got int out of range");
  CHECK(time_refused("1e300") == "no_time: field ts: expected the time, got double out of range");
  CHECK(time_refused("-1e16") == "no_time: field ts: expected the time, got double out of range");
  CHECK(time_refused("9223372036854775808", cepd::TimeUnit::kMicros) ==
        "no_time: field ts: expected the time, got double out of range");
}

TEST_CASE("decoder: declared fields have their kind, also when no rule reads them") {
  JsonDecoder decoder({});
  FieldPlan plan = plan_of({FieldPath::of("d"), FieldPath::of("i"), FieldPath::of("s"), FieldPath::of("b"),
                            FieldPath::of("at"), FieldPath::of("for")});
  plan.declare(*plan.find("t"), {{"d", FieldType::kDouble, false},
                                 {"i", FieldType::kInt, true},
                                 {"s", FieldType::kString, true},
                                 {"b", FieldType::kBool, true},
                                 {"at", FieldType::kTimestamp, true},
                                 {"for", FieldType::kDuration, true},
                                 {"unread", FieldType::kString, false}});
  const auto with = [](const std::string& rest) { return R"({"type":"t","ts":0,"unread":"u","d":1)" + rest + "}"; };
  const auto event = decoded(
      decoder, plan, with(R"(,"i":2,"s":"x","b":true,"at":"1970-01-01T00:00:01Z","for":"1h30m","undeclared":[])"));
  CHECK(event->field(0).kind() == Kind::kDouble);
  CHECK(event->field(0).as_double() == 1.0);
  CHECK(event->field(1).as_int() == 2);
  CHECK(event->field(2).text() == "x");
  CHECK(event->field(3).is_true());
  CHECK(to_us(event->field(4).as_time()) == 1'000'000);
  CHECK(event->field(5).as_duration() == std::chrono::minutes(90));
  const auto numeric = decoded(decoder, plan, with(R"(,"at":2.5,"for":1500,"i":null)"));
  CHECK(to_us(numeric->field(4).as_time()) == 2500);
  CHECK(numeric->field(5).as_duration() == std::chrono::milliseconds(1500));
  CHECK(numeric->field(1).is_null());

  CHECK(refused(decoder, plan, with(R"(,"i":2.0)")) == "schema: field i: expected int, got double");
  CHECK(refused(decoder, plan, with(R"(,"i":9223372036854775808)")) == "schema: field i: expected int, got double");
  CHECK(refused(decoder, plan, with(R"(,"s":1)")) == "schema: field s: expected string, got int");
  CHECK(refused(decoder, plan, with(R"(,"b":"true")")) == "schema: field b: expected bool, got string");
  CHECK(refused(decoder, plan, with(R"(,"d":"1")")) == "schema: field d: expected double, got string");
  CHECK(refused(decoder, plan, with(R"(,"d":null)")) == "schema: field d: expected double, got null");
  CHECK(refused(decoder, plan, with(R"(,"at":"soon")")).starts_with("schema: field at: expected timestamp"));
  CHECK(refused(decoder, plan, with(R"(,"at":1e300)")).starts_with("schema: field at: expected timestamp"));
  CHECK(refused(decoder, plan, with(R"(,"for":"soon")")).starts_with("schema: field for: expected duration"));
  CHECK(refused(decoder, plan, with(R"(,"for":{})")).starts_with("schema: field for: expected duration"));
  CHECK(refused(decoder, plan, R"({"type":"t","ts":0,"d":1})") == "schema: field unread: expected string, got null");
  CHECK(refused(decoder, plan, with(R"(,"unread":3)")) == "schema: field unread: expected string, got int");
  CHECK(refused(decoder, plan, with(R"(,"d":"bad","d":5)")) == "ok");
  // The time is judged before the schema.
  CHECK(refused(decoder, plan, R"({"type":"t"})").starts_with("no_time"));
}

TEST_CASE("decoder: a declared type that no rule names is checked too") {
  JsonDecoder decoder({});
  FieldPlan plan = plan_of({});
  plan.add_field(kOtherType, FieldPath::of("n"));
  plan.declare(plan.add_type("d"), {{"n", FieldType::kDouble, false}});
  const auto event = decoded(decoder, plan, R"({"type":"d","ts":0,"n":4})");
  CHECK(event->type == kOtherType);
  CHECK(event->field(0).kind() == Kind::kDouble);
  CHECK(refused(decoder, plan, R"({"type":"d","ts":0,"n":"4"})") == "schema: field n: expected double, got string");
  CHECK(decoded(decoder, plan, R"({"type":"e","ts":0,"n":"4"})")->field(0).kind() == Kind::kString);
}

TEST_CASE("decoder: fields are read again by a newer plan") {
  DecoderOptions options;
  options.type_from_topic = true;
  options.keep_raw = true;
  JsonDecoder decoder(options);
  FieldPlan plan = plan_of({FieldPath::of("x")});
  auto known = decoded(decoder, plan, R"({"ts":0,"x":1,"y":"two"})", "a/t");
  auto other = decoded(decoder, plan, R"({"ts":0,"x":1,"y":"two"})", "a/u");
  CHECK(other->type == kOtherType);

  FieldPlan next = plan;
  next.begin_set();
  next.add_field(*next.find("t"), FieldPath::of("y"));
  const TypeId u = next.add_type("u");
  next.set_named(u);
  next.add_field(u, FieldPath::of("y"));
  next.declare(u, {{"x", FieldType::kString, false}});
  known = decoder.decode_again(*known, "t", next);
  CHECK(known->type == kOtherType);  // not named any more
  CHECK(known->other_type() == "t");
  other = decoder.decode_again(*other, "u", next);
  CHECK(other->type == u);
  CHECK(other->other_type().empty());
  CHECK(other->field(0).text() == "two");
  next.set_named(*next.find("t"));
  known = decoder.decode_again(*known, "t", next);
  CHECK(known->type == *next.find("t"));
  CHECK(known->field(0).as_int() == 1);
  CHECK(known->field(1).text() == "two");

  EventDraft restored;
  restored.type = u;
  restored.fields = {Value::integer(4)};
  CHECK(decoder.decode_again(*restored.build(), "u", next)->field(0).as_int() == 4);
}

TEST_CASE("decoder: the id by which an event is known is the field's value, of its kind") {
  DecoderOptions options;
  options.id_field = path({std::string("meta"), std::string("id")});
  JsonDecoder decoder(options);
  const auto id = [&](const std::string& meta) {
    decoded(decoder, plan_of({}), R"({"type":"t","ts":0,"meta":)" + meta + "}");
    return decoder.id();
  };
  const auto of = [&](const std::string& json) { return id(R"({"id":)" + json + "}"); };
  CHECK(of("\"a\"").has_value());
  CHECK(of("\"a\"") == of("\"\\u0061\""));
  CHECK(of("\"1\"") != of("1"));
  CHECK(of("1") != of("2"));
  CHECK(of(R"({"b":1,"a":2})") == of(R"({"a":2, "b":1})"));
  CHECK_FALSE(of("null").has_value());
  CHECK_FALSE(id("{}").has_value());
  CHECK_FALSE(id("7").has_value());
}

TEST_CASE("decoder: named levels of the topic are fields, whatever the payload says") {
  DecoderOptions options;
  options.topics.emplace_back("s/{site}/{type}");
  options.topics.emplace_back("$share/g/d/{site}/#");
  options.id_field = FieldPath::of("site");
  JsonDecoder decoder(options);
  const FieldPlan plan = plan_of({FieldPath::of("site"), FieldPath::of("x")});
  const auto event = decoded(decoder, plan, R"({"ts":0,"site":"no","x":1})", "s/north/t");
  CHECK(event->field(0).text() == "north");
  CHECK(event->field(1).as_int() == 1);
  CHECK(decoder.text() == R"({"ts":0,"site":"no","x":1,"site":"north","type":"t"})");
  CHECK(decoder.id() == cepd::hash_match_id("\"north\""));
  CHECK(decoded(decoder, plan, R"({"ts":0,"type":"t"})", "d/a\"b/x/y")->field(0).text() == "a\"b");
  CHECK(decoded(decoder, plan, R"({"ts":0,"type":"t","site":"own"})", "other")->field(0).text() == "own");
  CHECK(refused(decoder, plan, R"([])", "s/north/t").starts_with("not_json"));
}
