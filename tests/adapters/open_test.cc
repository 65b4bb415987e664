#include "adapters/open.h"

#include <doctest/doctest.h>

#include "adapters/mqtt_options.h"

using cepd::Diagnostics;
using cepd::FieldPath;
using cepd::adapters::open_source;
using cepd::adapters::OpenedSource;
using namespace std::chrono_literals;

namespace {

std::unique_ptr<OpenedSource> open(const std::string& yaml, Diagnostics& diagnostics) {
  const auto node = cepd::config::parse_yaml("cepd.yaml", yaml, diagnostics);
  return open_source("shop", node, diagnostics);
}

std::unique_ptr<OpenedSource> good(const std::string& yaml) {
  Diagnostics diagnostics;
  auto opened = open(yaml, diagnostics);
  for (const auto& d : diagnostics) FAIL_CHECK(format(d));
  REQUIRE(opened != nullptr);
  return opened;
}

/// Messages of all mistakes, as "line:column: message".
std::string bad(const std::string& yaml) {
  Diagnostics diagnostics;
  CHECK(open(yaml, diagnostics) == nullptr);
  std::string text;
  for (const auto& d : diagnostics) {
    text += (text.empty() ? "" : "\n") + std::to_string(d.line) + ":" + std::to_string(d.column) + ": " + d.message;
  }
  return text;
}

bool contains(const std::string& text, std::string_view part) {
  if (text.find(part) != std::string::npos) return true;
  MESSAGE(text);
  return false;
}

}  // namespace

TEST_CASE("open source: defaults") {
  const auto opened = good("type: file\npath: /data/events.jsonl\n");
  CHECK(opened->settings.name == "shop");
  CHECK(opened->settings.decoder.type_field == FieldPath::of("type"));
  CHECK(opened->settings.decoder.time_field == FieldPath::of("ts"));
  CHECK(opened->settings.decoder.time_unit == cepd::TimeUnit::kMillis);
  CHECK_FALSE(opened->settings.decoder.type_from_topic);
  CHECK(opened->settings.max_delay == 0s);
  CHECK(opened->settings.idle_after == 30s);
  CHECK(opened->settings.max_future == 1h);
  REQUIRE(opened->source != nullptr);
  CHECK(opened->source->id() == cepd::SourceId("shop"));
  CHECK(opened->source->bounded());
}

TEST_CASE("open source: all that is common") {
  const auto opened = good(
      "type: file\npath: x\nfollow: true\nmax_line: 4KiB\ntype_field: meta.kind\n"
      "time_field: 'at[1].`a.b`'\ntime_unit: s\nmax_delay: 5s\nidle_after: 1m\nmax_future: 2h\n");
  CHECK_FALSE(opened->source->bounded());
  CHECK(opened->settings.decoder.type_field == FieldPath{{std::string("meta"), std::string("kind")}});
  CHECK(opened->settings.decoder.time_field == FieldPath{{std::string("at"), std::int64_t{1}, std::string("a.b")}});
  CHECK(opened->settings.decoder.time_unit == cepd::TimeUnit::kSeconds);
  CHECK(opened->settings.max_delay == 5s);
  CHECK(opened->settings.idle_after == 1min);
  CHECK(opened->settings.max_future == 2h);
}

TEST_CASE("open source: each type") {
  CHECK(good("type: stdin\n")->source->bounded());
  CHECK_FALSE(good("type: http\nport: 8080\n")->source->bounded());
  const std::string mqtt = "type: mqtt\nservers: mqtt://localhost:1883\ntopics: [shop/+/cart, '#']\n";
  CHECK_FALSE(good(mqtt)->settings.decoder.type_from_topic);
  CHECK(good(mqtt + "type_from: topic\n")->settings.decoder.type_from_topic);
}

TEST_CASE("open source: mistakes") {
  CHECK(contains(bad("path: x\n"), "source shop needs a type"));
  CHECK(contains(bad("type: fiel\npath: x\n"),
                 "unknown source type fiel, expected one of file, http, kafka, mqtt, stdin"));
  CHECK(contains(bad("- a\n"), "expected a map of the options of source shop"));
  CHECK(contains(bad("type: file\n"), "path"));
  CHECK(contains(bad("type: file\npath: x\nfolow: true\n"), "unknown option folow"));
  CHECK(contains(bad("type: stdin\nqos: 1\n"), "unknown option qos"));
  CHECK(contains(bad("type: file\npath: '-'\n"), "expected the path of a file"));
  CHECK(contains(bad("type: stdin\ntype_field: a..b\n"), "type_field: expected the path of a field"));
  for (const std::string path : {"''", "'.a'", "a.", "'a[x]'", "'a[-1]'", "'a[1'", "'`a'", "'``'", "'[0]'"}) {
    CAPTURE(path);
    CHECK(contains(bad("type: stdin\ntime_field: " + path + "\n"), "time_field: expected the path of a field"));
  }
  CHECK(contains(bad("type: stdin\ntime_unit: h\n"), "time_unit"));
  CHECK(contains(bad("type: http\nport: 70000\n"), "port"));
}

TEST_CASE("open source: mistakes of mqtt") {
  const auto with = [](const std::string& servers, const std::string& topics, const std::string& more = "") {
    return "type: mqtt\nservers: " + servers + "\ntopics: " + topics + "\n" + more;
  };
  const std::string ok = "mqtt://h:1";
  CHECK(contains(bad("type: mqtt\n"), "servers"));
  CHECK(contains(bad(with("[mqtt://h:1, http://h]", "a")), "2:23: expected mqtt://host:port or mqtts://host:port"));
  CHECK(contains(bad(with(ok, "'a/#/b'")), "# must be the last level"));
  CHECK(contains(bad(with(ok, "[a, b+]")), "3:13: + and # must be whole levels"));
  CHECK(contains(bad(with(ok, "[]")), "topics must not be empty"));
  CHECK(contains(bad(with(ok, "a", "qos: 3\n")), "qos"));
  CHECK(contains(bad(with(ok, "a", "ca_file: /ca.pem\n")), "ca_file is used with TLS only"));
  CHECK(contains(bad(with("mqtts://h:1", "a", "cert_file: /c.pem\n")), "cert_file and key_file go together"));
  CHECK(contains(bad(with(ok, "a", "username: u\npassword: written-here\n")), "password"));
}

TEST_CASE("mqtt options: what does not go together") {
  const auto with = [](const std::string& more) {
    return "type: mqtt\nservers: [\"mqtt://h:1\"]\ntopics: [\"s/{site}/{type}\", \"t/{type}\"]\n" + more;
  };
  const auto good = [](const std::string& yaml) {
    cepd::Diagnostics diagnostics;
    return open(yaml, diagnostics) != nullptr && diagnostics.empty();
  };
  CHECK(good(with("payload: number\ntime_from: arrival\n")));
  CHECK(good(with("payload: text\ntime_from: arrival\ntype_from: topic\nvalue_field: v\n")));
  CHECK(good(with("will_topic: a/b\nwill_payload: gone\nwill_qos: 2\nwill_retain: true\n")));
  CHECK(contains(bad(with("payload: number\n")), "has no time"));
  CHECK(contains(bad(with("payload: text\ntime_from: arrival\ntype_field: kind\n")), "names no type"));
  CHECK(contains(bad(with("value_field: v\n")), "value_field is of payloads"));
  CHECK(contains(bad(with("time_from: arrival\ntime_field: a.b\n")), "plain name"));
  CHECK(contains(bad(with("will_qos: 1\n")), "will_qos needs a will_topic"));
  CHECK(contains(bad(with("will_topic: a/+\n")), "published to no +"));
  CHECK(contains(bad(with("retained: sometimes\n")), "retained"));
  CHECK(contains(bad(with("max_in_flight: 0\n")), "max_in_flight"));
  for (const char* server :
       {"h:1", "mqtt://", "mqtt://h:", "mqtt://h:0", "mqtt://h:x", "mqtts://[::1", "mqtt://h:70000"}) {
    CAPTURE(server);
    CHECK(contains(bad("type: mqtt\ntopics: [a]\nservers: [\"" + std::string(server) + "\"]\n"), "mqtt://host:port"));
  }
  for (const char* server : {"mqtt://h", "tcp://h:1883", "mqtts://[::1]:8883", "ssl://1.2.3.4"}) {
    CAPTURE(server);
    CHECK(good("type: mqtt\ntopics: [a]\nservers: [\"" + std::string(server) + "\"]\n"));
  }
}

TEST_CASE("open source: dedup") {
  const auto none = good("type: stdin\n");
  CHECK_FALSE(none->settings.decoder.id_field.has_value());
  const auto opened = good("type: stdin\ndedup: meta.id\ndedup_most: 5000\n");
  CHECK(opened->settings.decoder.id_field == FieldPath{{std::string("meta"), std::string("id")}});
  CHECK(opened->settings.most_ids == 5000);
  CHECK(contains(bad("type: stdin\ndedup: a..b\n"), "dedup: expected the path of a field"));
  CHECK(contains(bad("type: stdin\ndedup_most: 10\n"), "dedup_most"));
}

TEST_CASE("open source: option tables list each type once, common rows first") {
  const auto tables = cepd::adapters::option_tables();
  REQUIRE(tables.size() == 6);
  CHECK(tables[0].section == "sources.<name>");
  CHECK(tables[3].section == "sources.<name> (type: kafka)");
  for (const auto& table : tables) {
    for (const auto& row : table.rows) {
      CHECK_FALSE(row.help.empty());
      CHECK(row.name.find_first_not_of("abcdefghijklmnopqrstuvwxyz_") == std::string::npos);
    }
  }
}

TEST_CASE("open source: kafka, defaults and all that is said") {
  const auto plain = good("type: kafka\nbrokers: b:9092\ntopics: orders\n");
  CHECK(plain->settings.replayable);
  CHECK_FALSE(plain->settings.decoder.type_from_record);
  CHECK_FALSE(plain->settings.decoder.time_from_record);
  CHECK_FALSE(plain->source->bounded());
  const auto opened = good(
      "type: kafka\nbrokers: [b1:9092, '[::1]:9093']\ntopics: [orders, ^shop]\ntype_from: fixed\ntype_name: order\n"
      "time_from: record\nkey_field: user\ntls: true\nsasl: scram-sha-512\nusername: u\npassword: ${env:PATH}\n");
  CHECK(opened->settings.decoder.type_from_record);
  CHECK(opened->settings.decoder.time_from_record);
  CHECK(opened->settings.decoder.key_field == "user");
}

TEST_CASE("open source: kafka, mistakes with their places") {
  const std::string begin = "type: kafka\nbrokers: b:9092\ntopics: t\n";
  CHECK(contains(bad("type: kafka\nbrokers: [b:9092, b]\ntopics: t\n"), "2:19: expected host:port"));
  CHECK(contains(bad("type: kafka\nbrokers: b:9092\ntopics: [t, a b]\n"), "3:13: a topic's name has letters"));
  CHECK(contains(bad("type: kafka\nbrokers: b:9092\ntopics: ^\n"), "3:1: a topic pattern must not be empty"));
  CHECK(contains(bad(begin + "time_from: header\n"), "4:1: time_from: header needs time_header"));
  CHECK(contains(bad(begin + "type_header: kind\n"), "4:1: type_header is read with type_from: header only"));
  CHECK(contains(bad(begin + "ca_file: ca.pem\n"), "4:1: ca_file is used with TLS only"));
  CHECK(contains(bad(begin + "username: u\n"), "username and password need sasl"));
  CHECK(contains(bad(begin + "sasl: plain\nusername: u\n"), "4:1: sasl needs username and password"));
  CHECK(contains(bad(begin + "sasl: plain\nusername: u\npassword: p\n"), "6:1: sources.shop.password is a secret"));
}
