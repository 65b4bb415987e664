#include "bench/loops.h"

#include <deque>
#include <map>
#include <unordered_map>
#include <vector>

namespace cepd::bench {
namespace {

constexpr std::int64_t kFiveMinutes = 300'000, kOneMinute = 60'000, kOneHour = 3'600'000;

double price(const Row& row) { return row.cents / 100.0; }

}  // namespace

std::uint64_t loop_w1(Rows rows, Policy policy) {
  std::uint64_t matches = 0;
  std::unordered_map<std::int32_t, std::deque<std::int64_t>> open;  // times of cart_adds, by user
  for (const Row& row : rows) {
    if (row.type == checkout::kCartAdd) {
      auto& carts = open[row.key];
      while (!carts.empty() && row.time_ms - carts.front() > kFiveMinutes) carts.pop_front();
      carts.push_back(row.time_ms);
    } else if (row.type == checkout::kPaymentFail) {
      const auto found = open.find(row.key);
      if (found == open.end()) continue;
      std::uint64_t live = 0;
      for (const std::int64_t cart : found->second) live += row.time_ms - cart <= kFiveMinutes;
      matches += policy == Policy::kNoSkip ? live : live > 0;
      found->second.clear();
    }
  }
  return matches;
}

std::uint64_t loop_w2(Rows rows, std::uint32_t rules) {
  struct Waiting {
    std::int64_t time_ms;
    std::uint32_t rule;
  };
  constexpr std::uint32_t kItems = 10'000;
  std::uint64_t matches = 0;
  std::unordered_map<std::int32_t, std::vector<Waiting>> open;  // by user
  for (const Row& row : rows) {
    if (row.type == checkout::kCartAdd) {
      for (auto rule = static_cast<std::uint32_t>(row.number); rule < rules; rule += kItems) {
        open[row.key].push_back({row.time_ms, rule});
      }
    } else if (row.type == checkout::kPaymentFail) {
      const auto found = open.find(row.key);
      if (found == open.end()) continue;
      std::erase_if(found->second, [&](const Waiting& waiting) {
        if (row.time_ms - waiting.time_ms > kFiveMinutes) return true;
        const bool match = price(row) > static_cast<double>(std::uint64_t{37} * waiting.rule % 150);
        matches += match;
        return match;
      });
    }
  }
  return matches;
}

std::uint64_t loop_w3(Rows rows, Policy policy, bool or_equal) {
  struct Symbol {
    std::int32_t last = -1;
    std::vector<std::int64_t> starts;  // of the run that rises, the last tick included
  };
  std::uint64_t matches = 0;
  std::unordered_map<std::int32_t, Symbol> symbols;
  for (const Row& row : rows) {
    Symbol& symbol = symbols[row.key];
    bool taken = false;
    if (symbol.last >= 0 && row.cents <= symbol.last) {
      if (or_equal || row.cents < symbol.last) {
        // The tick just before has nothing that rose behind it.
        for (std::size_t i = 0; i + 1 < symbol.starts.size() && !taken; ++i) {
          if (row.time_ms - symbol.starts[i] > kOneMinute) continue;
          ++matches;
          taken = policy == Policy::kConsume;
        }
      }
      symbol.starts.clear();
    }
    // What a taken match has used starts no other.
    if (!taken) symbol.starts.push_back(row.time_ms);
    symbol.last = row.cents;
  }
  return matches;
}

std::uint64_t loop_w4(Rows rows, Policy policy, std::int64_t within_ms) {
  std::uint64_t matches = 0;
  std::deque<std::int64_t> as, bs;  // times of As and Bs that may still be used
  for (const Row& row : rows) {
    while (!as.empty() && row.time_ms - as.front() > within_ms) as.pop_front();
    while (!bs.empty() && row.time_ms - bs.front() > within_ms) bs.pop_front();
    if (row.type == abc::kA) as.push_back(row.time_ms);
    if (row.type == abc::kB) bs.push_back(row.time_ms);
    if (row.type != abc::kC) continue;
    if (policy == Policy::kNoSkip) {
      std::size_t before = 0;
      for (const std::int64_t b : bs) {
        while (before < as.size() && as[before] < b) ++before;
        for (std::size_t a = 0; a < before; ++a) matches += row.time_ms - as[a] <= within_ms;
      }
    } else if (!as.empty()) {
      // The earliest A with the earliest B behind it; each is used once.
      for (auto b = bs.begin(); b != bs.end(); ++b) {
        if (*b < as.front()) continue;
        ++matches;
        as.pop_front();
        bs.erase(b);
        break;
      }
    }
  }
  return matches;
}

std::uint64_t loop_w5(Rows rows, std::int64_t within_ms) {
  std::uint64_t matches = 0;
  std::deque<std::int64_t> opened, stepped;
  for (const Row& row : rows) {
    while (!opened.empty() && row.time_ms - opened.front() > within_ms) opened.pop_front();
    while (!stepped.empty() && row.time_ms - stepped.front() > within_ms) stepped.pop_front();
    if (row.type == one_key::kOpen) {
      opened.push_back(row.time_ms);
    } else if (row.type == one_key::kStep) {
      stepped.insert(stepped.end(), opened.begin(), opened.end());
      opened.clear();
    } else {
      for (std::size_t i = 0; i < stepped.size(); ++i) ++matches;
      stepped.clear();
    }
  }
  return matches;
}

std::uint64_t loop_w6(Rows rows) {
  std::uint64_t matches = 0;
  std::unordered_map<std::int32_t, std::int64_t> open;  // time by order
  for (const Row& row : rows) {
    if (row.type == orders::kOrder) {
      open.emplace(row.number, row.time_ms);
    } else if (const auto found = open.find(row.number); found != open.end()) {
      matches += row.time_ms - found->second <= kOneHour;
      open.erase(found);
    }
  }
  return matches;
}

std::uint64_t loop_w6_limits(Rows rows) {
  std::uint64_t matches = 0;
  std::multimap<std::int32_t, std::int64_t> open;  // time by price
  for (const Row& row : rows) {
    if (row.type == limits::kOrder) {
      open.emplace(row.cents, row.time_ms);
      continue;
    }
    for (; !open.empty() && open.begin()->first <= row.cents; open.erase(open.begin())) {
      matches += row.time_ms - open.begin()->second <= kOneHour;
    }
  }
  return matches;
}

std::uint64_t loop_w7(Rows rows) {
  struct Spike {
    std::int64_t time_ms;
    double price;
    std::uint32_t count = 0;
    double total_price = 0;
    std::int64_t total_volume = 0;
  };
  std::uint64_t matches = 0;
  std::unordered_map<std::int32_t, std::vector<Spike>> open;  // by symbol
  for (const Row& row : rows) {
    auto& spikes = open[row.key];
    std::erase_if(spikes, [&](Spike& spike) {
      if (row.time_ms - spike.time_ms > kFiveMinutes) return true;
      if (spike.count > 0 && price(row) < spike.price) {
        matches += spike.total_volume > 1000 && spike.count >= 2;
        return true;
      }
      if (price(row) > (spike.count > 0 ? spike.total_price / spike.count : spike.price)) {
        ++spike.count;
        spike.total_price += price(row);
        spike.total_volume += row.number;
      }
      return false;
    });
    if (row.number > 500) spikes.push_back({row.time_ms, price(row)});
  }
  return matches;
}

}  // namespace cepd::bench
