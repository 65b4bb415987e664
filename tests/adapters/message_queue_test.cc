#include <doctest/doctest.h>

#include <future>
#include <thread>

#include "adapters/source.h"

using cepd::adapters::Message;
using cepd::adapters::MessageQueue;
using namespace std::chrono_literals;

namespace {

constexpr auto kLong = std::chrono::milliseconds(20s);

Message message(std::string bytes, std::int64_t offset = 0) {
  Message m;
  m.bytes = std::move(bytes);
  m.position.offset = offset;
  return m;
}

std::vector<std::string> pop_all(MessageQueue& queue) {
  std::vector<Message> out;
  queue.pop(out, 1000, 0ms);
  std::vector<std::string> bytes;
  for (auto& m : out) bytes.push_back(std::move(m.bytes));
  return bytes;
}

}  // namespace

TEST_CASE("message queue: refuses messages over its count and keeps them whole") {
  MessageQueue queue(2, 1000);
  Message a = message("a"), b = message("b"), c = message("c");
  CHECK(queue.try_push(a));
  CHECK(queue.try_push(b));
  CHECK_FALSE(queue.try_push(c));
  CHECK(c.bytes == "c");
  CHECK(queue.size() == 2);
  CHECK(pop_all(queue) == std::vector<std::string>{"a", "b"});
  CHECK(queue.try_push(c));
}

TEST_CASE("message queue: refuses messages over its bytes, but an empty one takes any single message") {
  MessageQueue queue(100, 10);
  Message big = message(std::string(50, 'x')), small = message("y");
  CHECK(queue.try_push(big));
  CHECK_FALSE(queue.try_push(small));
  CHECK(pop_all(queue).size() == 1);
  CHECK(queue.try_push(small));
  Message eight = message(std::string(8, 'z')), two = message("zz");
  CHECK(queue.try_push(eight));
  CHECK_FALSE(queue.try_push(two));
}

TEST_CASE("message queue: a batch goes in whole or not at all") {
  MessageQueue queue(3, 100);
  Message first = message("1");
  REQUIRE(queue.try_push(first));
  std::vector<Message> three{message("a"), message("b"), message("c")};
  CHECK_FALSE(queue.try_push(three));
  CHECK(three.size() == 3);
  CHECK(three[2].bytes == "c");
  CHECK(queue.size() == 1);
  three.pop_back();
  CHECK(queue.try_push(three));
  CHECK(three.empty());
  CHECK(pop_all(queue) == std::vector<std::string>{"1", "a", "b"});
}

TEST_CASE("message queue: says when a batch can never fit") {
  const MessageQueue queue(2, 10);
  CHECK(queue.could_fit({message("a"), message("b")}));
  CHECK_FALSE(queue.could_fit({message("a"), message("b"), message("c")}));
  CHECK_FALSE(queue.could_fit({message("123456"), message("12345")}));
  CHECK(queue.could_fit({message("12345678901234567890")}));
}

TEST_CASE("message queue: push waits for room") {
  MessageQueue queue(1, 100);
  REQUIRE(queue.push(message("a")));
  auto second = std::async(std::launch::async, [&] { return queue.push(message("b")); });
  std::vector<Message> out;
  while (out.size() < 2) queue.pop(out, 1, kLong);
  CHECK(second.get());
  CHECK(out[0].bytes == "a");
  CHECK(out[1].bytes == "b");
}

TEST_CASE("message queue: close lets waiting producers go and keeps what is queued") {
  MessageQueue queue(1, 100);
  REQUIRE(queue.push(message("a")));
  auto waiting = std::async(std::launch::async, [&] { return queue.push(message("b")); });
  queue.close();
  CHECK_FALSE(waiting.get());
  Message c = message("c");
  CHECK_FALSE(queue.try_push(c));
  std::vector<Message> batch{message("d")};
  CHECK_FALSE(queue.try_push(batch));
  CHECK(batch.size() == 1);
  std::vector<Message> out;
  CHECK(queue.pop(out, 10, kLong) == 1);
  CHECK(queue.pop(out, 10, kLong) == 0);
}

TEST_CASE("message queue: wake ends one wait, also before it begins") {
  MessageQueue queue(1, 100);
  queue.wake();
  std::vector<Message> out;
  CHECK(queue.pop(out, 10, kLong) == 0);
  CHECK(queue.pop(out, 10, 1ms) == 0);  // the wake was used up: this one ran out of time
  auto waiting = std::async(std::launch::async, [&] { return queue.pop(out, 10, kLong); });
  queue.wake();
  CHECK(waiting.get() == 0);
}

TEST_CASE("message queue: pop takes at most max, in order") {
  MessageQueue queue(10, 100);
  for (int i = 0; i < 5; ++i) REQUIRE(queue.push(message("m", i)));
  std::vector<Message> out;
  CHECK(queue.pop(out, 3, kLong) == 3);
  CHECK(queue.pop(out, 3, kLong) == 2);
  for (int i = 0; i < 5; ++i) CHECK(out[static_cast<std::size_t>(i)].position.offset == i);
}

TEST_CASE("message queue: several producers, none lost") {
  constexpr int kProducers = 4, kEach = 2000;
  MessageQueue queue(16, 1000);
  std::vector<std::jthread> producers;
  for (int p = 0; p < kProducers; ++p) {
    producers.emplace_back([&queue, p] {
      for (int i = 0; i < kEach; ++i) {
        Message m = message("x", i);
        m.position.partition = p;
        static_cast<void>(queue.push(std::move(m)));
      }
    });
  }
  std::vector<Message> out;
  while (out.size() < kProducers * kEach) REQUIRE(queue.pop(out, 100, kLong) > 0);
  std::vector<std::int64_t> next(kProducers, 0);
  bool in_order = true;
  for (const auto& m : out) in_order &= m.position.offset == next[static_cast<std::size_t>(m.position.partition)]++;
  CHECK(in_order);
}

TEST_CASE("message queue: the beginning of a batch is taken as far as it fits") {
  MessageQueue queue(3, 1 << 20);
  std::vector<Message> batch(5);
  for (std::size_t i = 0; i < batch.size(); ++i) batch[i].position.offset = static_cast<std::int64_t>(i);
  CHECK(queue.push_some(batch, 0ms) == 3);
  CHECK(queue.push_some(std::span(batch).subspan(3), 0ms) == 0);
  std::vector<Message> got;
  CHECK(queue.pop(got, 2, 0ms) == 2);
  CHECK(queue.push_some(std::span(batch).subspan(3), 0ms) == 2);
  CHECK(queue.pop(got, 10, 0ms) == 3);
  for (std::size_t i = 0; i < got.size(); ++i) CHECK(got[i].position.offset == static_cast<std::int64_t>(i));
  CHECK(queue.push_some({}, 0ms) == 0);
  queue.close();
  CHECK(queue.push_some(batch, 0ms) == 0);
}
