#include "state/layout.h"

#include <doctest/doctest.h>

#include <cfloat>
#include <cmath>
#include <cstring>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "state/backend.h"

namespace cepd::state {
namespace {

std::string hex(const std::string& bytes) {
  std::string out;
  for (const char c : bytes) {
    char two[3];
    std::snprintf(two, sizeof two, "%02x", static_cast<unsigned>(static_cast<unsigned char>(c)));
    out += two;
  }
  return out;
}

std::string written(const std::function<void(Writer&)>& body) {
  Writer writer;
  body(writer);
  return writer.take();
}

const std::vector<std::int64_t> kInts{
    0,   1,         -1,        63,        64,        -64,       -65,           127,
    128, INT32_MAX, INT32_MIN, 1LL << 53, INT64_MAX, INT64_MIN, INT64_MAX - 1, INT64_MIN + 1};

std::vector<Value> values() {
  std::vector<Value> all{Value::null(), Value::boolean(false), Value::boolean(true)};
  for (const std::int64_t i : kInts) {
    all.push_back(Value::integer(i));
    all.push_back(Value::timestamp(event_time_us(i)));
    all.push_back(Value::duration(Micros(i)));
  }
  for (const double d : {0.0, -0.0, 1.5, -1e300, DBL_MAX, DBL_MIN, DBL_TRUE_MIN, 0.1}) all.push_back(Value::real(d));
  static const std::string long_text(300, 'x');
  for (const std::string_view text :
       {std::string_view(""), std::string_view("a"), std::string_view("\0ü\xff", 4), std::string_view(long_text)}) {
    all.push_back(Value::string(text));
    all.push_back(Value::json(text));
  }
  return all;
}

bool same(const Value& a, const Value& b) {
  if (a.kind() != b.kind()) return false;
  if (a.is_text()) return a.text() == b.text();
  if (a.kind() == Kind::kDouble) {
    const double x = a.as_double(), y = b.as_double();
    return std::memcmp(&x, &y, sizeof x) == 0;
  }
  return a.as_int() == b.as_int();
}

TEST_CASE("layout: bytes of the stored forms never change") {
  CHECK(hex(written([](Writer& w) {
          w.number(0);
          w.number(127);
          w.number(128);
          w.number(UINT64_MAX);
        })) == "007f8001ffffffffffffffffff01");
  CHECK(hex(written([](Writer& w) {
          w.signed_number(0);
          w.signed_number(-1);
          w.signed_number(1);
          w.signed_number(INT64_MIN);
        })) == "000102ffffffffffffffffff01");
  CHECK(hex(written([](Writer& w) { w.text("abc"); })) == "03616263");
  CHECK(hex(written([](Writer& w) {
          w.value(Value::null());
          w.value(Value::boolean(false));
          w.value(Value::boolean(true));
          w.value(Value::integer(-3));
          w.value(Value::real(1.5));
          w.value(Value::string("s"));
          w.value(Value::timestamp(event_time_us(1)));
          w.value(Value::duration(Micros(2)));
          w.value(Value::json("[]"));
        })) ==
        "00"
        "01"
        "02"
        "0305"
        "043ff8000000000000"
        "050173"
        "0602"
        "0704"
        "08025b5d");
  CHECK(hex(written([](Writer& w) { w.position({SourceId("k"), 3, -1}); })) == "016b0601");
  CHECK(hex(written([](Writer& w) { w.match_id({1, 0xab00000000000000}); })) == "0000000000000001ab00000000000000");
  CHECK(hex(written([](Writer& w) {
          w.path({{std::string("a"), std::int64_t{1}}});
        })) ==
        "0200016101"
        "02");
  CHECK(hex(written([](Writer& w) { w.time(event_time_us(-2)); })) == "03");
  CHECK(space_name(Space::kMeta) == "meta");
  CHECK(space_name(Space::kEngine) == "engine");
  CHECK(space_name(Space::kPartial) == "partial");
  CHECK(space_name(Space::kPending) == "pending");
  CHECK(space_name(Space::kPositions) == "positions");
  CHECK(space_name(Space::kOutbox) == "outbox");
}

TEST_CASE("layout: integers at their ends come back") {
  for (const std::int64_t i : kInts) {
    const std::string bytes = written([i](Writer& w) {
      w.signed_number(i);
      w.number(static_cast<std::uint64_t>(i));
      w.time(event_time_us(i));
    });
    Reader reader(bytes);
    CHECK(reader.signed_number() == i);
    CHECK(reader.number() == static_cast<std::uint64_t>(i));
    CHECK(reader.time() == event_time_us(i));
    CHECK(reader.at_end());
  }
}

TEST_CASE("layout: every value comes back, and is refused when cut anywhere") {
  for (const Value& value : values()) {
    const std::string bytes = written([&value](Writer& w) { w.value(value); });
    Reader reader(bytes);
    CHECK(same(reader.value(), value));
    CHECK(reader.at_end());
    for (std::size_t size = 0; size < bytes.size(); ++size) {
      Reader cut(std::string_view(bytes).substr(0, size));
      CHECK(cut.value().is_null());
      CHECK_FALSE(cut.ok());
      CHECK_FALSE(cut.at_end());
    }
  }
}

TEST_CASE("layout: positions, match ids and paths come back, and are refused when cut anywhere") {
  const SourcePosition position{SourceId("mqtt/été"), INT32_MIN, INT64_MAX};
  const MatchId id{UINT64_MAX, 1};
  const FieldPath path{{std::string("payload"), std::int64_t{-1}, std::string(), std::int64_t{INT64_MIN}}};
  const std::string bytes = written([&](Writer& w) {
    w.position(position);
    w.match_id(id);
    w.path(path);
    w.path({});
  });
  const auto read = [&](Reader& reader) {
    const bool whole = reader.position() == position && reader.match_id() == id && reader.path() == path;
    return reader.path().empty() && whole;
  };
  Reader reader(bytes);
  CHECK(read(reader));
  CHECK(reader.at_end());
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    Reader cut(std::string_view(bytes).substr(0, size));
    read(cut);
    CHECK_FALSE(cut.ok());
    // Every read after the failure gives nothing.
    CHECK(cut.number() == 0);
    CHECK(cut.text().empty());
    CHECK(cut.value().is_null());
    CHECK(cut.position() == SourcePosition{});
    CHECK(cut.match_id() == MatchId{});
    CHECK(cut.path().empty());
    CHECK(cut.count() == 0);
  }
}

TEST_CASE("layout: what no Writer writes is refused") {
  const auto refused = [](const std::string& bytes, const std::function<void(Reader&)>& read) {
    Reader reader(bytes);
    read(reader);
    return !reader.ok();
  };
  const auto value = [](Reader& reader) { reader.value(); };
  const auto number = [](Reader& reader) { reader.number(); };
  CHECK(refused("\x09", value));
  CHECK(refused("\xff", value));
  CHECK(refused(std::string("\x04\x7f\xf0\0\0\0\0\0\0", 9), value));       // infinity
  CHECK(refused(std::string("\x04\x7f\xf8\0\0\0\0\0\0", 9), value));       // NaN
  CHECK(refused("\x05\x05hi", value));                                     // text longer than the record
  CHECK(refused("\x05\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", value));   // by far
  CHECK(refused("\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02", number));      // 65 bits
  CHECK(refused("\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x01", number));  // eleven bytes
  CHECK(refused("\x80", number));
  CHECK(refused(std::string("\x01k\x80\x80\x80\x80\x10\0", 8), [](Reader& reader) { reader.position(); }));
  CHECK(refused(std::string("\x01\x02\0\0", 4), [](Reader& reader) { reader.path(); }));  // step of no kind
}

TEST_CASE("layout: a claimed count needs a byte for each") {
  const auto count = [](const std::string& bytes, bool& ok) {
    Reader reader(bytes);
    const std::size_t found = reader.count();
    ok = reader.ok();
    return found;
  };
  bool ok = false;
  CHECK(count(std::string("\0", 1), ok) == 0);
  CHECK(ok);
  CHECK(count("\x03"
              "abc",
              ok) == 3);
  CHECK(ok);
  CHECK(count("\x04"
              "abc",
              ok) == 0);
  CHECK_FALSE(ok);
  CHECK(count("\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"
              "abc",
              ok) == 0);
  CHECK_FALSE(ok);
}

TEST_CASE("layout: random bytes are read without a crash") {
  const unsigned seed = 7;
  INFO("seed ", seed);
  std::mt19937 random(seed);
  std::size_t refused = 0;
  for (int round = 0; round < 20'000; ++round) {
    std::string bytes(random() % 40, '\0');
    for (char& c : bytes) c = static_cast<char>(random() % (round % 2 == 0 ? 256 : 12));
    Reader reader(bytes);
    for (int i = 0; i < 8; ++i) {
      switch (random() % 4) {
        case 0:
          reader.value();
          break;
        case 1:
          reader.path();
          break;
        case 2:
          reader.match_id();
          break;
        default:
          reader.count();
      }
    }
    if (!reader.ok()) ++refused;
  }
  CHECK(refused > 10'000);
}

TEST_CASE("layout: ordered numbers sort as bytes") {
  std::string before;
  for (const std::uint64_t number : {0UL, 1UL, 255UL, 256UL, 1UL << 32, UINT64_MAX - 1, UINT64_MAX}) {
    std::string key;
    append_ordered(key, number);
    CHECK(key.size() == 8);
    CHECK(key > before);
    CHECK(read_ordered(key + "more") == number);
    before = key;
  }
}

}  // namespace
}  // namespace cepd::state
