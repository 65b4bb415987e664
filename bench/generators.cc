#include "bench/generators.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <set>

namespace cepd::bench {
namespace {

constexpr std::int64_t kFirstTime = 1'700'000'000'000;

/// splitmix64.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}
  /// In [0, 1): 53 bits.
  double fraction() { return static_cast<double>(next() >> 11) * 0x1p-53; }
  /// In [0, bound).
  std::int32_t below(std::uint32_t bound) { return static_cast<std::int32_t>(fraction() * bound); }

 private:
  std::uint64_t next() {
    state_ += 0x9e3779b97f4a7c15U;
    std::uint64_t mixed = state_;
    mixed = (mixed ^ (mixed >> 30)) * 0xbf58476d1ce4e5b9U;
    mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111ebU;
    return mixed ^ (mixed >> 31);
  }
  std::uint64_t state_;
};

void append_number(std::string& out, std::int64_t number) {
  char digits[24];
  out.append(digits, std::to_chars(digits, digits + sizeof digits, number).ptr);
}

void append_price(std::string& out, std::int32_t cents) {
  append_number(out, cents / 100);
  out += '.';
  out += static_cast<char>('0' + cents / 10 % 10);
  out += static_cast<char>('0' + cents % 10);
}

/// {"type":"T","ts":N
void append_begin(std::string& out, const Stream& stream, const Row& row) {
  out += R"({"type":")";
  out += stream.types[row.type];
  out += R"(","ts":)";
  append_number(out, row.time_ms);
}

void append_checkout(std::string& out, const Stream& stream, std::size_t i) {
  static constexpr const char* kCountries[] = {"DE", "FR", "GB", "US", "CL", "JP", "BR", "IN"};
  const Row& row = stream.rows[i];
  append_begin(out, stream, row);
  out += R"(,"user_id":"u)";
  append_number(out, row.key);
  out += R"(","item":"i)";
  append_number(out, row.number);
  out += R"(","price":)";
  append_price(out, row.cents);
  out += R"(,"country":")";
  out += kCountries[row.key % 8];
  out += "\"}";
}

void append_tick(std::string& out, const Stream& stream, std::size_t i) {
  const Row& row = stream.rows[i];
  append_begin(out, stream, row);
  out += R"(,"symbol":"S)";
  append_number(out, row.key);
  out += R"(","price":)";
  append_price(out, row.cents);
  out += R"(,"volume":)";
  append_number(out, row.number);
  out += '}';
}

void append_abc(std::string& out, const Stream& stream, std::size_t i) {
  append_begin(out, stream, stream.rows[i]);
  out += R"(,"id":)";
  append_number(out, static_cast<std::int64_t>(i));
  out += R"(,"v":)";
  append_number(out, stream.rows[i].number);
  out += '}';
}

void append_order(std::string& out, const Stream& stream, std::size_t i) {
  const Row& row = stream.rows[i];
  append_begin(out, stream, row);
  out += R"(,"merchant":"m)";
  append_number(out, row.key);
  out += R"(","order_id":"o)";
  append_number(out, row.number);
  out += R"(","price":)";
  append_price(out, row.cents);
  out += '}';
}

const std::vector<const char*> kCheckoutTypes{"login", "cart_add", "view", "payment_fail", "payment_ok"};

}  // namespace

Lines lines_of(const Stream& stream) {
  Lines lines;
  lines.ends_.reserve(stream.rows.size());
  for (std::size_t i = 0; i < stream.rows.size(); ++i) {
    stream.append_line(lines.text_, stream, i);
    lines.text_ += '\n';
    lines.ends_.push_back(lines.text_.size());
  }
  return lines;
}

Stream checkout::stream(std::size_t events, std::uint64_t seed) {
  constexpr int kUsers = 100'000;
  constexpr double kExponent = 0.9;  // Zipf's
  constexpr std::uint32_t kItems = 10'000;
  std::vector<double> up_to(kUsers);  // weights of the users, added up
  double total = 0;
  for (int user = 0; user < kUsers; ++user) up_to[user] = total += 1.0 / std::pow(user + 1, kExponent);

  Stream stream{"checkout", kCheckoutTypes, {}, append_checkout};
  stream.rows.reserve(events);
  Random random(seed);
  std::int64_t time = kFirstTime;
  for (std::size_t i = 0; i < events; ++i) {
    Row row;
    row.time_ms = time += 1 + random.below(9);
    const double weight = random.fraction() * total;
    row.key = static_cast<std::int32_t>(std::lower_bound(up_to.begin(), up_to.end(), weight) - up_to.begin());
    const double share = random.fraction();
    row.type = share < 0.10   ? kLogin
               : share < 0.40 ? kCartAdd
               : share < 0.85 ? kView
               : share < 0.90 ? kPaymentFail
                              : kPaymentOk;
    row.number = random.below(kItems);
    row.cents = 100 + random.below(19'900);
    stream.rows.push_back(row);
  }
  return stream;
}

Stream ticks::stream(std::size_t events, std::uint64_t seed) {
  Random random(seed);
  std::vector<std::int32_t> prices(500);
  for (std::int32_t& cents : prices) cents = 5'000 + random.below(15'000);

  Stream stream{"ticks", {"tick"}, {}, append_tick};
  stream.rows.reserve(events);
  std::int64_t time = kFirstTime;
  for (std::size_t i = 0; i < events; ++i) {
    Row row;
    row.time_ms = time += 1 + random.below(39);
    row.key = random.below(static_cast<std::uint32_t>(prices.size()));
    std::int32_t& cents = prices[static_cast<std::size_t>(row.key)];
    cents = std::max(cents + random.below(101) - 48, 100);  // a little upwards in the mean
    if (cents > 100'000) cents = 5'000;
    row.cents = cents;
    row.number = 1 + random.below(1'000);
    stream.rows.push_back(row);
  }
  return stream;
}

Stream abc::stream(std::size_t events, std::uint64_t seed) {
  Stream stream{"abc", {"A", "B", "C", "D", "E"}, {}, append_abc};
  stream.rows.reserve(events);
  Random random(seed);
  std::int64_t time = kFirstTime;
  for (std::size_t i = 0; i < events; ++i) {
    Row row;
    row.time_ms = ++time;
    const double share = random.fraction();
    row.type = share < 0.10 ? kA : share < 0.20 ? kB : share < 0.2005 ? kC : share < 0.6 ? kD : kE;
    row.number = random.below(1'000);
    stream.rows.push_back(row);
  }
  return stream;
}

Stream one_key::stream(std::size_t events, std::uint64_t seed) {
  Stream stream{"one_key", {"open", "step", "close"}, {}, append_order};
  stream.rows.reserve(events);
  Random random(seed);
  std::int64_t time = kFirstTime;
  for (std::size_t i = 0; i < events; ++i) {
    Row row;
    row.time_ms = ++time;
    row.type = i + 1 == events ? kClose : random.fraction() < 0.9 ? kOpen : kStep;
    row.number = static_cast<std::int32_t>(i);
    stream.rows.push_back(row);
  }
  return stream;
}

Stream orders::stream(std::size_t open, std::size_t events, std::uint64_t seed) {
  Stream stream{"orders", {"order", "payment"}, {}, append_order};
  stream.rows.reserve(events);
  Random random(seed);
  std::int64_t time = kFirstTime;
  std::int32_t next_order = 0;
  std::vector<std::int32_t> unpaid;
  for (std::size_t i = 0; i < events; ++i) {
    Row row;
    row.time_ms = time += 1 + random.below(9);
    row.cents = 100 + random.below(19'900);
    const double order_share = unpaid.size() < open ? 0.6 : 0.4;
    if (i < open || unpaid.empty() || random.fraction() < order_share) {
      row.type = kOrder;
      row.number = next_order++;
      unpaid.push_back(row.number);
    } else {
      row.type = kPayment;
      const auto which = static_cast<std::size_t>(random.below(static_cast<std::uint32_t>(unpaid.size())));
      row.number = unpaid[which];
      unpaid[which] = unpaid.back();
      unpaid.pop_back();
    }
    stream.rows.push_back(row);
  }
  return stream;
}

Stream limits::stream(std::size_t open, std::size_t events, std::uint64_t seed) {
  Stream stream{"limits", {"order", "trade"}, {}, append_order};
  stream.rows.reserve(events);
  Random random(seed);
  std::int64_t time = kFirstTime;
  std::multiset<std::int32_t> prices;
  for (std::size_t i = 0; i < events; ++i) {
    Row row;
    row.time_ms = time += 1 + random.below(9);
    row.number = static_cast<std::int32_t>(i);
    if (i < open || prices.size() < open) {
      row.type = kOrder;
      row.cents = 10'000 + random.below(1'000'000);
      prices.insert(row.cents);
    } else {
      row.type = kTrade;
      const bool meets = random.below(2) == 0;
      row.cents = *prices.begin() - (meets ? 0 : 1);
      if (meets) prices.erase(row.cents);
    }
    stream.rows.push_back(row);
  }
  return stream;
}

Stream many_keys(std::size_t keys) {
  Stream stream{"many_keys", kCheckoutTypes, {}, append_checkout};
  for (std::size_t i = 0; i < keys; ++i) {
    const auto number = static_cast<std::int32_t>(i);
    // Five a millisecond: a million of them come within five minutes.
    stream.rows.push_back(
        {kFirstTime + number / 5, checkout::kCartAdd, number, number % 10'000, 100 + number % 19'900});
  }
  return stream;
}

}  // namespace cepd::bench
