#pragma once
/// The streams of the workloads, from fixed seeds: the same data on every machine and in every run.
///
/// checkout, ticks and abc are, to the byte, the streams that other engines were measured on (bench/README.md), so that
/// numbers of matches can be compared. Rows are what the loops work on; lines, made of them, what the engine gets.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace cepd::bench {

/// One event, before it is JSON. What a stream does not have is 0.
struct Row {
  std::int64_t time_ms = 0;
  std::uint8_t type = 0;    ///< index into Stream::types
  std::int32_t key = 0;     ///< user, symbol or merchant
  std::int32_t number = 0;  ///< item, volume, order or value
  std::int32_t cents = 0;   ///< price
};

/// JSON lines, one after the other in one piece of memory.
class Lines {
 public:
  std::size_t size() const { return ends_.size(); }
  std::string_view operator[](std::size_t i) const {
    const std::size_t begin = i == 0 ? 0 : ends_[i - 1];
    return std::string_view(text_).substr(begin, ends_[i] - begin - 1);
  }
  /// With a line end after each.
  const std::string& text() const { return text_; }

 private:
  friend Lines lines_of(const struct Stream& stream);
  std::string text_;
  std::vector<std::size_t> ends_;
};

struct Stream {
  std::string name;
  std::vector<const char*> types;
  std::vector<Row> rows;
  void (*append_line)(std::string& out, const Stream& stream, std::size_t row) = nullptr;
};

Lines lines_of(const Stream& stream);

/// W1, W2, W8: a shop. 100,000 users, some far busier than others; 5 ms between events in the mean.
namespace checkout {
enum Type : std::uint8_t { kLogin, kCartAdd, kView, kPaymentFail, kPaymentOk };
inline constexpr std::uint64_t kSeed = 1;
Stream stream(std::size_t events, std::uint64_t seed = kSeed);
}  // namespace checkout

/// W3, W7: 500 symbols whose prices walk at random; 20 ms between ticks in the mean.
namespace ticks {
inline constexpr std::uint64_t kSeed = 3;
Stream stream(std::size_t events, std::uint64_t seed = kSeed);
}  // namespace ticks

/// W4: A 10 %, B 10 %, C 0.05 %, the rest noise; an event a millisecond, so that a window of N ms holds N events.
namespace abc {
enum Type : std::uint8_t { kA, kB, kC, kD, kE };
inline constexpr std::uint64_t kSeed = 4;
Stream stream(std::size_t events, std::uint64_t seed = kSeed);
}  // namespace abc

/// W5: one key; open 90 %, step 10 %, an event a millisecond, and last one close, which completes what has got so far.
namespace one_key {
enum Type : std::uint8_t { kOpen, kStep, kClose };
inline constexpr std::uint64_t kSeed = 5;
Stream stream(std::size_t events, std::uint64_t seed = kSeed);
}  // namespace one_key

/// W6: one merchant; first `open` orders, then orders and payments at random, so that about as many stay
/// unpaid; a payment is for any of the unpaid ones. 5 ms between events in the mean.
namespace orders {
enum Type : std::uint8_t { kOrder, kPayment };
inline constexpr std::uint64_t kSeed = 6;
Stream stream(std::size_t open, std::size_t events, std::uint64_t seed = kSeed);
}  // namespace orders

/// W6: one merchant; first `open` orders, then orders and trades at random, so that about as many stay open; every
/// other trade is at the price of the cheapest open order, the rest below all. 5 ms between events in the mean.
namespace limits {
enum Type : std::uint8_t { kOrder, kTrade };
inline constexpr std::uint64_t kSeed = 7;
Stream stream(std::size_t open, std::size_t events, std::uint64_t seed = kSeed);
}  // namespace limits

/// Memory: one cart_add of each of so many users.
Stream many_keys(std::size_t keys);

}  // namespace cepd::bench
