#include "adapters/mqtt_source.h"

#include <doctest/doctest.h>

#include <cstdio>
#include <cstdlib>
#include <functional>
#include <future>
#include <set>
#include <thread>

#include "tests/adapters/temporary_file.h"
#include "tests/support/mosquitto.h"

using cepd::adapters::Message;
using cepd::adapters::MessageQueue;
using cepd::adapters::MqttSource;
using cepd::adapters::MqttSourceOptions;
using cepd::test::Mosquitto;
using cepd::test::TemporaryFile;
using namespace std::chrono_literals;

namespace {

bool skipped() {
  if (Mosquitto::installed()) return false;
  MESSAGE("skipped: mosquitto is not installed");
  return true;
}

MqttSourceOptions options_for(const Mosquitto& broker, std::string client_id) {
  MqttSourceOptions options;
  options.servers = {broker.url()};
  options.topics = {"shop/#"};
  options.client_id = std::move(client_id);
  options.longest_wait = 500ms;
  return options;
}

/// Publishes each of the texts.
void publish(const Mosquitto& broker, const std::string& topic, const std::vector<std::string>& texts,
             const std::string& more = "-q 1") {
  const std::string command =
      "mosquitto_pub -h 127.0.0.1 -p " + std::to_string(broker.port()) + " -t '" + topic + "' -l " + more;
  std::FILE* const input = ::popen(command.c_str(), "w");
  REQUIRE(input != nullptr);
  for (const auto& text : texts) std::fputs((text + '\n').c_str(), input);
  CHECK(::pclose(input) == 0);
}

/// Waits until `done`, asking often: what is waited for happens in another process.
bool eventually(const std::function<bool()>& done) {
  const auto begun = std::chrono::steady_clock::now();
  while (!done()) {
    if (std::chrono::steady_clock::now() - begun > 30s) return false;
    std::this_thread::sleep_for(5ms);
  }
  return true;
}

bool connected(const MqttSource& source) {
  return eventually([&] { return source.status() == "connected"; });
}

/// Appends what is queued and says that it is durable. How many.
std::size_t store(MessageQueue& queue, std::vector<Message>& out, std::size_t most, std::chrono::milliseconds wait) {
  const std::size_t count = queue.pop(out, most, wait);
  for (auto message = out.end() - static_cast<std::ptrdiff_t>(count); message != out.end(); ++message) {
    if (message->receipt) message->receipt->release();
  }
  return count;
}

/// At least `count` messages, or those that came within the time.
std::vector<Message> take(MessageQueue& queue, std::size_t count) {
  std::vector<Message> out;
  const auto begun = std::chrono::steady_clock::now();
  while (out.size() < count && std::chrono::steady_clock::now() - begun < 30s) store(queue, out, 1000, 100ms);
  return out;
}

std::size_t count_of(const std::string& text, std::string_view word) {
  std::size_t count = 0;
  for (std::size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) ++count;
  return count;
}

}  // namespace

TEST_CASE("mqtt source: messages of matching topics with topic, payload and counted offsets") {
  if (skipped()) return;
  Mosquitto broker;
  REQUIRE(broker.start());
  for (const bool version_5 : {true, false}) {
    for (const int qos : {0, 1, 2}) {
      CAPTURE(version_5);
      CAPTURE(qos);
      MessageQueue queue(100, 1 << 20);
      auto options = options_for(broker, "topics");
      options.topics = {"shop/+/cart", "alarm/#"};
      options.qos = qos;
      options.version_5 = version_5;
      options.clean_start = true;
      MqttSource source("shop", options);
      CHECK(source.status() == "waiting for broker");
      REQUIRE(source.start(queue, {{{source.id(), 0}, 41}}).has_value());
      REQUIRE(connected(source));
      publish(broker, "shop/1/cart", {"a"});
      publish(broker, "shop/1/2/cart", {"no"});
      publish(broker, "shop/1/other", {"no"});
      publish(broker, "alarm", {"b"});
      publish(broker, "alarm/x/y", {"c"});
      const auto got = take(queue, 3);
      REQUIRE(got.size() == 3);
      CHECK(got[0].bytes == "a");
      CHECK(got[0].topic == "shop/1/cart");
      CHECK(got[0].position == cepd::SourcePosition{cepd::SourceId("shop"), 0, 42});
      CHECK(got[1].topic == "alarm");
      CHECK(got[2].topic == "alarm/x/y");
      CHECK(got[2].position.offset == 44);
      source.stop();
      CHECK(queue.size() == 0);
    }
  }
}

TEST_CASE("mqtt source: too long payloads are cut and marked") {
  if (skipped()) return;
  Mosquitto broker;
  REQUIRE(broker.start());
  MessageQueue queue(100, 1 << 20);
  auto options = options_for(broker, "long");
  options.max_message = 10'000;
  MqttSource source("shop", options);
  REQUIRE(source.start(queue, {}).has_value());
  REQUIRE(connected(source));
  publish(broker, "shop/a", {std::string(10'000, 'x')});
  publish(broker, "shop/a", {std::string(10'001, 'y')});
  const auto got = take(queue, 2);
  REQUIRE(got.size() == 2);
  CHECK_FALSE(got[0].too_long);
  CHECK(got[0].bytes.size() == 10'000);
  CHECK(got[0].position.offset == 0);
  CHECK(got[1].too_long);
  CHECK(got[1].bytes == std::string(4096, 'y'));
}

TEST_CASE("mqtt source: a broker that is away at the start is waited for") {
  if (skipped()) return;
  Mosquitto broker;
  MessageQueue queue(100, 1 << 20);
  MqttSource source("shop", options_for(broker, "away"));
  REQUIRE(source.start(queue, {}).has_value());
  CHECK(source.status() == "waiting for broker");
  REQUIRE(broker.start());
  REQUIRE(connected(source));
  publish(broker, "shop/a", {"1"});
  CHECK(take(queue, 1).size() == 1);
}

TEST_CASE("mqtt source: goes on after the broker was killed and started again") {
  if (skipped()) return;
  for (const bool version_5 : {true, false}) {
    CAPTURE(version_5);
    Mosquitto broker;
    REQUIRE(broker.start());
    MessageQueue queue(100, 1 << 20);
    auto options = options_for(broker, "restart");
    options.version_5 = version_5;
    MqttSource source("shop", options);
    REQUIRE(source.start(queue, {}).has_value());
    REQUIRE(connected(source));
    publish(broker, "shop/a", {"1"});
    CHECK(take(queue, 1).size() == 1);
    broker.kill();
    CHECK(eventually([&] { return source.status() == "waiting for broker"; }));
    REQUIRE(broker.start());
    REQUIRE(connected(source));
    publish(broker, "shop/a", {"2"});
    const auto got = take(queue, 1);
    REQUIRE(got.size() == 1);
    CHECK(got[0].bytes == "2");
    CHECK(got[0].position.offset == 1);
  }
}

TEST_CASE("mqtt source: the broker keeps what comes while a session is away, unless it starts clean") {
  if (skipped()) return;
  Mosquitto broker;
  REQUIRE(broker.start());
  for (const bool version_5 : {true, false}) {
    for (const bool clean : {false, true}) {
      CAPTURE(version_5);
      CAPTURE(clean);
      auto options = options_for(broker, version_5 ? "kept5" : "kept3");
      options.version_5 = version_5;
      options.clean_start = clean;
      {
        MessageQueue queue(100, 1 << 20);
        MqttSource source("shop", options);
        REQUIRE(source.start(queue, {}).has_value());
        REQUIRE(connected(source));
        source.stop();
      }
      publish(broker, "shop/a", {"while away"});
      MessageQueue queue(100, 1 << 20);
      MqttSource source("shop", options);
      REQUIRE(source.start(queue, {}).has_value());
      // What was kept comes before the answer to the subscription, which waits until it is stored.
      std::vector<Message> got;
      CHECK(eventually([&] {
        store(queue, got, 10, 0ms);
        return source.status() == "connected";
      }));
      publish(broker, "shop/a", {"back"});
      const auto rest = take(queue, 1);
      got.insert(got.end(), rest.begin(), rest.end());
      REQUIRE(got.size() == (clean ? 1 : 2));
      CHECK(got.front().bytes == (clean ? "back" : "while away"));
      CHECK(got.back().bytes == "back");
    }
  }
}

TEST_CASE("mqtt source: the broker gets its acknowledgement when the message is durable, not before") {
  if (skipped()) return;
  Mosquitto broker;
  REQUIRE(broker.start());
  for (const int qos : {1, 2}) {  // 2 is asked for as 1
    CAPTURE(qos);
    const std::string name = "durable" + std::to_string(qos);
    MessageQueue queue(1000, 1 << 20);
    auto options = options_for(broker, name);
    options.qos = qos;
    MqttSource source("shop", options);
    REQUIRE(source.start(queue, {}).has_value());
    REQUIRE(connected(source));
    publish(broker, "shop/a", {"1", "2", "3"}, "-q 2");
    const auto acknowledged = [&] { return count_of(broker.log(), "Received PUBACK from " + name); };
    for (std::size_t durable = 0; durable < 3;) {
      std::vector<Message> got;
      REQUIRE(eventually([&] { return queue.pop(got, 10, 10ms) > 0; }));
      CHECK(acknowledged() == durable);
      durable += got.size();
      for (std::size_t i = 1; i < got.size(); ++i) got[i].receipt->release();
      CHECK(acknowledged() == durable - got.size());  // they share it: the last one is missing
      got[0].receipt->release();
      CHECK(eventually([&] { return acknowledged() == durable; }));
    }
  }
}

TEST_CASE("mqtt source: what waits for the broker's session is acknowledged together") {
  if (skipped()) return;
  Mosquitto broker;
  REQUIRE(broker.start());
  for (const bool version_5 : {true, false}) {
    CAPTURE(version_5);
    auto options = options_for(broker, version_5 ? "together5" : "together3");
    options.version_5 = version_5;
    {
      MessageQueue queue(100, 1 << 20);
      MqttSource source("shop", options);
      REQUIRE(source.start(queue, {}).has_value());
      REQUIRE(connected(source));
    }
    publish(broker, "shop/a", {"1", "2", "3", "4", "5", "6", "7", "8", "9", "10"});
    MessageQueue queue(100, 1 << 20);
    MqttSource source("shop", options);
    REQUIRE(source.start(queue, {}).has_value());
    const auto logged = [&](const std::string& what) { return count_of(broker.log(), what + options.client_id); };
    // Some are there with the answer to the connection, the others by the time that those are durable.
    CHECK(eventually([&] { return queue.size() > 0 && logged("Sending PUBLISH to ") == 10; }));
    CHECK(source.status() == "waiting for broker");  // the subscription waits behind them
    const std::size_t before = take(queue, 1).size();
    CHECK(eventually([&] { return queue.size() == 10 - before; }));
    CHECK(eventually([&] { return logged("Received PUBACK from ") == before; }));
    CHECK(take(queue, 1).size() == 10 - before);
    CHECK(eventually([&] { return logged("Received PUBACK from ") == 10; }));
    CHECK(connected(source));
  }
}

TEST_CASE("mqtt source: many messages in order through a small queue, some of QoS 0 for which nobody waits") {
  if (skipped()) return;
  Mosquitto broker;
  REQUIRE(broker.start());
  constexpr std::size_t kCount = 300;
  for (const int qos : {0, 1}) {
    CAPTURE(qos);
    MessageQueue queue(2, 1 << 20);
    auto options = options_for(broker, "full" + std::to_string(qos));
    options.qos = qos;
    MqttSource source("shop", options);
    REQUIRE(source.start(queue, {}).has_value());
    REQUIRE(connected(source));
    std::vector<std::string> texts;
    for (std::size_t i = 0; i < kCount; ++i) texts.push_back(std::to_string(i));
    publish(broker, "shop/a", texts);
    // The others wait for room, or of QoS 1 for those that came first.
    CHECK(eventually([&] { return queue.size() == 2 || (qos == 1 && queue.size() == 1); }));
    CHECK(count_of(broker.log(), "Received PUBACK from full") == 0);
    const auto got = take(queue, kCount);
    REQUIRE(got.size() == kCount);
    bool in_order = true;
    for (std::size_t i = 0; i < kCount; ++i) in_order &= got[i].bytes == std::to_string(i);
    CHECK(in_order);
    source.stop();
  }
}

TEST_CASE("mqtt source: stopped while messages come, the next session has what this one did not take") {
  if (skipped()) return;
  for (const bool version_5 : {true, false}) {
    CAPTURE(version_5);
    Mosquitto broker;
    REQUIRE(broker.start());
    auto options = options_for(broker, "stopped");
    options.version_5 = version_5;
    constexpr std::size_t kCount = 500;
    std::vector<std::string> texts;
    for (std::size_t i = 0; i < kCount; ++i) texts.push_back(std::to_string(i));
    std::vector<Message> all;
    {
      MessageQueue queue(2, 1 << 20);
      MqttSource source("shop", options);
      REQUIRE(source.start(queue, {}).has_value());
      REQUIRE(connected(source));
      publish(broker, "shop/a", texts);
      while (all.size() < 10) store(queue, all, 1, 10ms);
      auto stopped = std::async(std::launch::async, [&] { source.stop(); });
      while (stopped.wait_for(0s) != std::future_status::ready) store(queue, all, 1, 10ms);
    }
    MessageQueue queue(1000, 1 << 20);
    MqttSource source("shop", options);
    REQUIRE(source.start(queue, {{{source.id(), 0}, all.back().position.offset}}).has_value());
    // Nothing is missing. What the broker had sent ahead when the connection ended may come twice: the acknowledgements
    // that it had not read by then are lost with the connection.
    std::set<std::string> seen;
    for (const auto& message : all) seen.insert(message.bytes);
    CHECK(seen.size() == all.size());
    while (seen.size() < kCount) {
      const auto rest = take(queue, 1);
      if (rest.empty()) break;
      all.insert(all.end(), rest.begin(), rest.end());
      for (const auto& message : rest) seen.insert(message.bytes);
    }
    CHECK(seen.size() == kCount);
    bool counted = true;
    for (std::size_t i = 0; i < all.size(); ++i) counted &= all[i].position.offset == static_cast<std::int64_t>(i);
    CHECK(counted);
  }
}

TEST_CASE("mqtt source: a stop leaves a message that does not become durable to the broker") {
  if (skipped()) return;
  Mosquitto broker;
  REQUIRE(broker.start());
  const auto options = options_for(broker, "held");
  {
    MessageQueue queue(100, 1 << 20);
    MqttSource source("shop", options);
    REQUIRE(source.start(queue, {}).has_value());
    REQUIRE(connected(source));
  }
  publish(broker, "shop/a", {"1"});
  MessageQueue queue(100, 1 << 20);
  {
    MqttSource source("shop", options);
    REQUIRE(source.start(queue, {}).has_value());
    REQUIRE(eventually([&] { return queue.size() == 1; }));
    CHECK(source.status() == "waiting for broker");
    source.stop();
    CHECK(queue.size() == 1);
  }
  CHECK(count_of(broker.log(), "Received PUBACK from held") == 0);
  CHECK(take(queue, 1).size() == 1);
  MqttSource source("shop", options);
  REQUIRE(source.start(queue, {}).has_value());
  CHECK(take(queue, 1).size() == 1);
}

TEST_CASE("mqtt source: stops when the queue was closed while a message waited for room") {
  if (skipped()) return;
  Mosquitto broker;
  REQUIRE(broker.start());
  MessageQueue queue(1, 1 << 20);
  auto options = options_for(broker, "closed");
  options.qos = 0;
  MqttSource source("shop", options);
  REQUIRE(source.start(queue, {}).has_value());
  REQUIRE(connected(source));
  publish(broker, "shop/a", {"1", "2", "3"});
  CHECK(eventually([&] { return queue.size() == 1; }));
  queue.close();
  source.stop();
  CHECK(queue.size() == 1);
}

TEST_CASE("mqtt source: user and password") {
  if (skipped()) return;
  const TemporaryFile passwords("");
  REQUIRE(std::system(("mosquitto_passwd -b " + passwords.path() + " cepd right").c_str()) == 0);
  Mosquitto broker({"allow_anonymous false", "password_file " + passwords.path()});
  REQUIRE(broker.start());
  MessageQueue queue(100, 1 << 20);
  auto options = options_for(broker, "login");
  options.username = "cepd";
  options.password = "wrong";
  {
    MqttSource source("shop", options);
    REQUIRE(source.start(queue, {}).has_value());
    CHECK(eventually([&] { return count_of(broker.log(), "not authorised") >= 2; }));
    CHECK(source.status() == "waiting for broker");
  }
  options.password = "right";
  MqttSource source("shop", options);
  REQUIRE(source.start(queue, {}).has_value());
  REQUIRE(connected(source));
  publish(broker, "shop/a", {"1"}, "-q 1 -u cepd -P right");
  CHECK(take(queue, 1).size() == 1);
}

TEST_CASE("mqtt source: TLS with certificates of both sides, and no connection to a broker that is not known") {
  if (skipped()) return;
  const TemporaryFile file("");
  const std::string ca = file.path() + ".ca.pem", certificate = file.path() + ".pem", key = file.path() + ".key";
  // One certificate is authority, broker and client at once.
  REQUIRE(std::system(("openssl req -x509 -newkey rsa:2048 -nodes -days 1 -subj /CN=localhost -keyout " + key +
                       " -out " + certificate +
                       " -addext subjectAltName=IP:127.0.0.1,DNS:localhost 2>/dev/null && cp " + certificate + " " + ca)
                          .c_str()) == 0);
  Mosquitto broker({"cafile " + ca, "certfile " + certificate, "keyfile " + key, "require_certificate true"});
  REQUIRE(broker.start());
  MessageQueue queue(100, 1 << 20);
  auto options = options_for(broker, "tls");
  options.servers = {"mqtts://127.0.0.1:" + std::to_string(broker.port())};
  options.cert_file = certificate;
  options.key_file = key;
  const std::size_t before = count_of(broker.log(), "New connection");
  {
    MqttSource source("shop", options);  // the system knows no such authority
    REQUIRE(source.start(queue, {}).has_value());
    CHECK(eventually([&] { return count_of(broker.log(), "New connection") >= before + 2; }));
    CHECK(source.status() == "waiting for broker");
  }
  options.ca_file = ca;
  MqttSource source("shop", options);
  REQUIRE(source.start(queue, {}).has_value());
  REQUIRE(connected(source));
  publish(broker, "shop/a", {"1"}, "-q 1 --cafile " + ca + " --cert " + certificate + " --key " + key);
  CHECK(take(queue, 1).size() == 1);
}

TEST_CASE("mqtt source: stopping while the broker is away") {
  MqttSourceOptions options;
  options.servers = {"mqtt://127.0.0.1:" + std::to_string(Mosquitto::free_port())};
  options.topics = {"a"};
  options.client_id = "never";
  MessageQueue queue(1, 1);
  MqttSource source("shop", options);
  REQUIRE(source.start(queue, {}).has_value());
  source.stop();
  CHECK(source.status() == "waiting for broker");
}
