#include "tests/reference/random_input.h"

#include <algorithm>

namespace cepd::reference {
namespace {

Scalar some_value(Random& random) {
  const std::uint64_t kind = random.below(40);
  if (kind == 0) return std::monostate{};
  if (kind == 1) return std::string("1");
  if (kind == 2) return 1.0;
  return random.between(0, 3);
}

Scalar some_key(Random& random) {
  const std::uint64_t kind = random.below(30);
  if (kind == 0) return std::monostate{};
  if (kind == 1) return std::string("1");
  if (kind == 2) return 1.0;
  return random.chance(80) ? std::int64_t{1} : std::int64_t{2};
}

Given some_event(Random& random) {
  static const std::vector<std::string> kTypes = {"A", "A", "A", "A", "B", "B", "B", "B", "C", "C", "C", "D", "D", "X"};
  Given out;
  out.type = random.chance(3) ? "M" : random.one_of(kTypes);  // M is what rules make
  if (!random.chance(3)) out.fields["k"] = some_key(random);
  if (random.chance(60)) out.fields["j"] = some_key(random);
  if (!random.chance(5)) out.fields["v"] = some_value(random);
  if (!random.chance(15)) out.fields["w"] = some_value(random);
  return out;
}

/// Steps around the durations that the rules name (whole seconds up to 8).
std::int64_t some_gap(Random& random) {
  const std::uint64_t kind = random.below(100);
  if (kind < 18) return 0;
  if (kind < 70) return 1'000'000;
  if (kind < 82) return 2'000'000;
  if (kind < 92) return random.between(3, 8) * 1'000'000;
  if (kind < 95) return 1;
  if (kind < 98) return 999'999;
  return random.between(1, 8) * 1'000'000 + 1;
}

}  // namespace

void add_random_input(Trial& trial, Random& random) {
  const std::size_t few = trial.rules.statements.size() > 1 ? 8 : 4;  // chains need more
  const std::size_t count = random.chance(12) ? 13 + random.below(5) : few + random.below(9);
  std::int64_t now = 0;
  for (std::size_t i = 0; i < count; ++i) {
    Given given = some_event(random);
    if (i > 0) now += some_gap(random);
    given.time_us = now;
    trial.input.push_back(std::move(given));
  }
  if (random.chance(25)) {
    const std::int64_t delay = random.between(0, 4) * 1'000'000;
    const bool two_sources = random.chance(50);
    const bool two_partitions = random.chance(30);
    trial.max_delay["s"] = Micros(delay);
    if (two_sources) trial.max_delay["r"] = Micros(random.chance(50) ? delay : 0);
    for (Given& given : trial.input) {
      if (two_sources && random.chance(50)) given.source = std::string("r");
      if (two_partitions && random.chance(50)) given.partition = 1;
    }
    // Each event arrives up to a little more than the delay after its time: some come late.
    std::vector<std::pair<std::int64_t, Given>> arrivals;
    for (Given& given : trial.input) {
      arrivals.emplace_back(given.time_us + random.between(0, delay + 1'500'000), std::move(given));
    }
    std::stable_sort(arrivals.begin(), arrivals.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    for (std::size_t i = 0; i < arrivals.size(); ++i) trial.input[i] = std::move(arrivals[i].second);
  }
  std::map<std::pair<std::string, std::int32_t>, std::int64_t> offsets;
  for (Given& given : trial.input) given.offset = offsets[{given.source, given.partition}]++;
}

}  // namespace cepd::reference
