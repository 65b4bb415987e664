#include "adapters/http_source.h"

#include <doctest/doctest.h>
#include <httplib.h>

#include <future>
#include <set>
#include <thread>

#include "adapters/json_split.h"

using cepd::adapters::HttpSource;
using cepd::adapters::HttpSourceOptions;
using cepd::adapters::Message;
using cepd::adapters::MessageQueue;
using namespace std::chrono_literals;

namespace {

using Texts = std::vector<std::string>;

/// A source and what stands behind it: here a test that releases what comes through the queue.
struct Server {
  explicit Server(std::size_t max_messages = 100, HttpSourceOptions options = {}, const cepd::Positions& taken = {})
      : queue(max_messages, 1 << 20), source("web", options) {
    REQUIRE(source.start(queue, taken).has_value());
    client = std::make_unique<httplib::Client>("127.0.0.1", source.port());
    client->set_keep_alive(true);
  }
  ~Server() {
    client->stop();
    source.stop();
  }

  /// Posts, and has everything that comes stored at once.
  httplib::Result post(const std::string& body, const std::string& type = "application/json") {
    auto answer = post_later(body, type);
    while (answer.wait_for(0s) != std::future_status::ready) store(1ms);
    store(0ms);
    auto result = answer.get();
    REQUIRE(result);
    return result;
  }

  std::future<httplib::Result> post_later(std::string body, std::string type = "application/json",
                                          bool compress = false) {
    return std::async(std::launch::async, [this, body = std::move(body), type = std::move(type), compress] {
      httplib::Client own("127.0.0.1", source.port());
      own.set_compress(compress);
      return own.Post("/events", body, type);
    });
  }

  /// Takes what is queued and releases it.
  void store(std::chrono::milliseconds wait) {
    std::vector<Message> got;
    queue.pop(got, 1000, wait);
    for (auto& message : got) {
      message.receipt->release();
      stored.push_back(std::move(message));
    }
  }

  /// "offset:bytes" of all that was stored since the last call.
  Texts take() {
    Texts texts;
    for (const auto& m : stored) texts.push_back(std::to_string(m.position.offset) + ":" + m.bytes);
    stored.clear();
    return texts;
  }

  void wait_queued(std::size_t messages) const {
    while (queue.size() < messages) std::this_thread::yield();
  }

  MessageQueue queue;
  HttpSource source;
  std::unique_ptr<httplib::Client> client;
  std::vector<Message> stored;
};

}  // namespace

TEST_CASE("http source: one object, also over several lines") {
  Server server;
  const auto answer = server.post(R"({"a":1})");
  CHECK(answer->status == 200);
  CHECK(answer->body == "{\"accepted\":1}\n");
  CHECK(answer->get_header_value("Content-Type") == "application/json");
  CHECK(server.post("\n {\n \"a\": [1,\n2]\n}\n")->body == "{\"accepted\":1}\n");
  CHECK(server.take() == Texts{R"(0:{"a":1})", "1:{\n \"a\": [1,\n2]\n}"});
}

TEST_CASE("http source: one object a line") {
  Server server(100, {}, {{{cepd::SourceId("web"), 0}, 9}});
  const std::string body = "{\"a\":1}\n\n  {\"a\":2}\r\nnot json\n{\"a\":3}";
  CHECK(server.post(body, "application/x-ndjson")->body == "{\"accepted\":4}\n");
  CHECK(server.take() == Texts{R"(10:{"a":1})", R"(11:{"a":2})", "12:not json", R"(13:{"a":3})"});
  CHECK(server.post(body, "text/plain")->body == "{\"accepted\":4}\n");
  CHECK(server.take().size() == 4);
  // With the type of lines a line may be an array: the decoder refuses it.
  CHECK(server.post("[1]\n{}", "application/x-ndjson")->body == "{\"accepted\":2}\n");
}

TEST_CASE("http source: an array of objects, a bad one among them") {
  Server server;
  const auto answer =
      server.post(R"( [ {"a":[1,{"b":"]}\""}]} , {"a": 01 }, "text", 5 , [1], 12345678901234567890123 ] )");
  CHECK(answer->status == 200);
  CHECK(answer->body == "{\"accepted\":6}\n");
  CHECK(server.take() == Texts{R"(0:{"a":[1,{"b":"]}\""}]})", R"(1:{"a": 01 })", R"(2:"text")", "3:5", "4:[1]",
                               "5:12345678901234567890123"});
  CHECK(server.post("[]")->body == "{\"accepted\":0}\n");
}

TEST_CASE("http source: what is no array and what is nothing") {
  Server server;
  for (const std::string body :
       {"[", "[{}", "[{} {}]", "[{},]", "[{}]x", "[{}][{}]", "[{\"a]", "[\"\xff\"]", "[,{}]"}) {
    CAPTURE(body);
    const auto answer = server.post(body);
    CHECK(answer->status == 400);
    CHECK(answer->body.starts_with("{\"error\":\""));
  }
  CHECK(server.post("")->status == 400);
  CHECK(server.post(" \n ")->status == 400);
  CHECK(server.post("\n\n", "application/x-ndjson")->status == 400);
  CHECK(server.queue.size() == 0);
  CHECK(server.client->Get("/other")->status == 404);
  CHECK(server.client->Get("/healthz")->status == 200);
  // One that is no array is the decoder's to refuse.
  CHECK(server.post("nonsense")->status == 200);
}

TEST_CASE("http source: a full queue is answered with 429 and takes nothing, until it is drained") {
  Server server(3);
  auto first = server.post_later(R"([{"n":0},{"n":1}])");
  server.wait_queued(2);
  const auto full = server.client->Post("/events", R"([{"n":2},{"n":3}])", "application/json");
  REQUIRE(full);
  CHECK(full->status == 429);
  CHECK(full->get_header_value("Retry-After") == "1");
  CHECK(server.queue.size() == 2);
  auto second = server.post_later(R"({"n":2})");
  server.wait_queued(3);
  server.store(0ms);
  CHECK(first.get()->status == 200);
  CHECK(second.get()->status == 200);
  CHECK(server.take() == Texts{R"(0:{"n":0})", R"(1:{"n":1})", R"(2:{"n":2})"});
  CHECK(server.post(R"([{"n":2},{"n":3}])")->status == 200);
  CHECK(server.take() == Texts{R"(3:{"n":2})", R"(4:{"n":3})"});
  // More than the queue can hold at all: coming again would be in vain.
  CHECK(server.post("[{},{},{},{}]")->status == 413);
}

TEST_CASE("http source: answers when the last line of the request is durable, not before") {
  Server server;
  auto answer = server.post_later("[{},{},{}]");
  server.wait_queued(3);
  std::vector<Message> got;
  server.queue.pop(got, 10, 0ms);
  REQUIRE(got.size() == 3);
  got[2].receipt->release();
  got[0].receipt->release();
  // Another request's answer does not wait for this one.
  CHECK(server.post("{}")->status == 200);
  CHECK(answer.wait_for(0s) == std::future_status::timeout);
  got[1].receipt->release();
  CHECK(answer.get()->status == 200);
}

TEST_CASE("http source: 503 when it takes too long, and the events stay taken") {
  Server server(100, {.answer_within = 20ms});
  const auto late = server.client->Post("/events", "[{},{}]", "application/json");
  REQUIRE(late);
  CHECK(late->status == 503);
  CHECK(late->get_header_value("Retry-After") == "1");
  CHECK(late->body.starts_with("{\"error\":\""));
  CHECK(server.queue.size() == 2);
  server.store(0ms);  // nobody waits for these receipts any more
}

TEST_CASE("http source: says what was taken") {
  Server server(100, {}, {{{cepd::SourceId("web"), 0}, 9}});
  CHECK(server.client->Get("/events")->body == "{\"next\":10}\n");
  CHECK(server.post("[{},{}]")->status == 200);
  CHECK(server.client->Get("/events")->body == "{\"next\":12}\n");
}

TEST_CASE("http source: a stop lets what was taken become durable, and answers 503 where it does not") {
  for (const bool durable : {true, false}) {
    CAPTURE(durable);
    Server server(100, {.answer_within = durable ? 60'000ms : 100ms});
    auto answer = server.post_later("{}");
    server.wait_queued(1);
    auto stopped = std::async(std::launch::async, [&] { server.source.stop(); });
    if (durable) {
      while (httplib::Client("127.0.0.1", server.source.port()).Get("/healthz")) std::this_thread::yield();
      server.store(0ms);
    }
    const auto result = answer.get();
    REQUIRE(result);
    CHECK(result->status == (durable ? 200 : 503));
    stopped.get();
  }
}

TEST_CASE("http source: bodies over the limit") {
  Server server(100, {.max_body = 2000});
  const std::string fits = "{\"a\":\"" + std::string(1992, 'x') + "\"}";
  REQUIRE(fits.size() == 2000);
  CHECK(server.post(fits)->status == 200);
  CHECK(server.post(fits + " ")->status == 413);
  // Without a length beforehand.
  std::size_t sent = 0;
  const auto chunked = server.client->Post(
      "/events",
      [&](std::size_t, httplib::DataSink& sink) {
        sink.write(fits.data(), fits.size());
        if (++sent == 3) sink.done();
        return true;
      },
      "application/json");
  REQUIRE(chunked);
  CHECK(chunked->status == 413);
  // What is long only when unpacked.
  server.client->set_compress(true);
  const auto packed =
      server.client->Post("/events", "{\"a\":\"" + std::string(10'000, 'x') + "\"}", "application/json");
  REQUIRE(packed);
  CHECK(packed->status == 413);
  server.client->set_compress(false);
  auto fits_packed = server.post_later("{\"a\":\"" + std::string(1000, 'x') + "\"}", "application/json", true);
  server.wait_queued(1);
  server.store(0ms);
  CHECK(fits_packed.get()->status == 200);
  CHECK(server.take().size() == 2);
  CHECK(server.post("{}")->status == 200);
}

TEST_CASE("http source: an address in use is an error") {
  Server server;
  MessageQueue queue(1, 1);
  HttpSource second("web2", {.port = server.source.port()});
  const auto started = second.start(queue, {});
  REQUIRE_FALSE(started.has_value());
  CHECK(started.error().message.find("127.0.0.1:" + std::to_string(server.source.port())) != std::string::npos);
  HttpSource elsewhere("web3", {.host = "203.0.113.1"});
  CHECK_FALSE(elsewhere.start(queue, {}).has_value());
}

TEST_CASE("http source: more clients than threads, each number once and in the queue's order") {
  Server server(10'000, {.threads = 2});
  constexpr int kClients = 6, kEach = 50;
  std::vector<std::jthread> clients;
  std::atomic<int> accepted = 0;
  for (int c = 0; c < kClients; ++c) {
    clients.emplace_back([&] {
      httplib::Client client("127.0.0.1", server.source.port());
      for (int i = 0; i < kEach; ++i) {
        const auto answer = client.Post("/events", "[{},{}]", "application/json");
        if (answer && answer->status == 200) ++accepted;
      }
    });
  }
  while (server.stored.size() < kClients * kEach * 2) server.store(10ms);
  clients.clear();
  CHECK(accepted == kClients * kEach);
  const std::vector<Message>& got = server.stored;
  REQUIRE(got.size() == kClients * kEach * 2);
  bool counted = true;
  for (std::size_t i = 0; i < got.size(); ++i) counted &= got[i].position.offset == static_cast<std::int64_t>(i);
  CHECK(counted);
}

TEST_CASE("http source: stopped at once after the start, and with an open connection") {
  MessageQueue queue(1, 1);
  {
    HttpSource source("web", {});
    REQUIRE(source.start(queue, {}).has_value());
    source.stop();
    CHECK(source.status() == "stopped");
  }
  Server server;
  CHECK(server.post("{}")->status == 200);
  server.source.stop();
  CHECK_FALSE(server.client->Post("/events", "{}", "application/json"));
}
