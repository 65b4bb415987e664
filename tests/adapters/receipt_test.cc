#include "adapters/receipt.h"

#include <doctest/doctest.h>

#include <future>

using cepd::adapters::Receipt;
using namespace std::chrono_literals;

TEST_CASE("receipt: is there when it was released for every message") {
  Receipt receipt(2);
  CHECK_FALSE(receipt.wait(0ms));
  receipt.release();
  CHECK_FALSE(receipt.wait(1ms));
  auto waiting = std::async(std::launch::async, [&] { return receipt.wait(20s); });
  receipt.release();
  CHECK(waiting.get());
  CHECK(receipt.wait(0ms));
  CHECK(receipt.wait(std::stop_token()));
}

TEST_CASE("receipt: a stop ends the wait, but does not undo a release") {
  Receipt receipt(1);
  std::stop_source stop;
  auto with_limit = std::async(std::launch::async, [&] { return receipt.wait(20s, stop.get_token()); });
  auto without = std::async(std::launch::async, [&] { return receipt.wait(stop.get_token()); });
  stop.request_stop();
  CHECK_FALSE(with_limit.get());
  CHECK_FALSE(without.get());
  receipt.release();
  CHECK(receipt.wait(stop.get_token()));
  CHECK(receipt.wait(0ms, stop.get_token()));
}

TEST_CASE("receipt: of no message") { CHECK(Receipt(0).wait(0ms)); }
