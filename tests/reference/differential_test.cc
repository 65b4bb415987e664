/// The engine against the reference, over random rules and inputs. A failing case prints its seed and the smallest rule
/// and input that still fail.
///
///   CEPD_RANDOM_CASES=200000  how many cases (the nightly run); by default 5,000
///   CEPD_RANDOM_FIRST=900000  from which seed on; by default 1
///   CEPD_RANDOM_SEED=17       this one case
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>

#include "dsl/parse.h"
#include "dsl/print.h"
#include "tests/reference/random_input.h"
#include "tests/reference/random_rule.h"
#include "tests/reference/shrink.h"

using namespace cepd;
using namespace cepd::reference;

namespace {

constexpr std::uint64_t kFirstSeed = 1;
constexpr std::uint64_t kCases = 5'000;

std::optional<std::uint64_t> from_environment(const char* name) {
  const char* text = std::getenv(name);
  if (text == nullptr) return std::nullopt;
  return std::strtoull(text, nullptr, 10);
}

const Constructs& supported() {
  static const Constructs constructs = [] {
    const auto taken = [](const char* pattern) { return refusal(std::string("RULE r MATCH ") + pattern).empty(); };
    Constructs out;
    out.alternatives = taken("A OR B");
    out.both = taken("A AND B");
    out.groups = taken("(A THEN B){2}");
    out.link_bounds = taken("A THEN WITHIN 1s B");
    out.greedy = taken("A+ GREEDY THEN B");
    out.until = taken("A+ UNTIL B THEN C");
    out.consecutive = taken("A+ CONSECUTIVE THEN B");
    out.combinations = taken("A+ COMBINATIONS THEN B");
    return out;
  }();
  return constructs;
}

struct Refused {
  std::size_t rules = 0;
  std::map<std::string, std::size_t> why;
};

/// The case of a seed.
Trial trial_of(std::uint64_t seed, Refused& refused) {
  Random random(seed);
  const Statements rules = random_rules(random, supported(), [&](const Statements& so_far) {
    const std::string why = refusal(with_rules({}, so_far).rules.text);
    if (why.empty()) return true;
    ++refused.rules;
    ++refused.why[why];
    return false;
  });
  Trial trial = with_rules({}, rules);
  if (from_environment("CEPD_RANDOM_SEED")) MESSAGE(trial.rules.text);
  add_random_input(trial, random);
  return trial;
}

/// The engine's results where they are not the reference's.
std::optional<Lines> wrong(const Trial& trial, const Lines& right, const Drive& drive) {
  Lines lines = by_engine(trial, drive);
  return lines == right ? std::nullopt : std::optional(std::move(lines));
}

std::vector<Drive> drives_of(std::uint64_t seed) {
  std::vector<Drive> out{{1, false}, {1, true}, {4, false}};
  // Threads are slow to start and stop, and this does so for every event.
  if (seed % 10 == 0) out.push_back({4, true});
  return out;
}

/// A trial that the reference cannot judge is no failure.
std::optional<Lines> judged(const Trial& trial) {
  try {
    return by_reference(trial);
  } catch (const TooManyRuns&) {
    return std::nullopt;
  } catch (const OutsideSubset&) {
    return std::nullopt;
  }
}

bool binds_derived(const std::string& line) {
  return line.find(":#") != std::string::npos || line.find(",#") != std::string::npos;
}

std::string text_of(const Lines& lines) {
  std::string out;
  for (const std::string& line : lines) out += "  " + line + "\n";
  return out.empty() ? "  nothing\n" : out;
}

std::string report(const Trial& trial, const Drive& drive) {
  const Trial small = shrunk(trial, [&](const Trial& candidate) {
    const auto right = judged(candidate);
    return right && wrong(candidate, *right, drive);
  });
  return "\n" + printed(small) + "reference:\n" + text_of(*judged(small)) + drive.text() + ":\n" +
         text_of(by_engine(small, drive));
}

}  // namespace

TEST_CASE("differential: the engine does what the reference does") {
  const auto one = from_environment("CEPD_RANDOM_SEED");
  const std::uint64_t cases = one ? 1 : from_environment("CEPD_RANDOM_CASES").value_or(kCases);
  const std::uint64_t first = one ? *one : from_environment("CEPD_RANDOM_FIRST").value_or(kFirstSeed);
  Refused refused;
  std::size_t unjudged = 0, with_results = 0, with_chains = 0, failures = 0;
  for (std::uint64_t seed = first; seed < first + cases && failures < 10; ++seed) {
    const Trial trial = trial_of(seed, refused);
    const auto right = judged(trial);
    if (!right) {
      ++unjudged;
      continue;
    }
    with_results += right->empty() ? 0 : 1;
    with_chains += std::any_of(right->begin(), right->end(), binds_derived) ? 1 : 0;
    for (const Drive& drive : drives_of(seed)) {
      if (!wrong(trial, *right, drive)) continue;
      ++failures;
      FAIL_CHECK("CEPD_RANDOM_SEED=" << seed << report(trial, drive));
      break;
    }
  }
  std::string why;
  std::vector<std::pair<std::size_t, std::string>> reasons;
  for (const auto& [reason, count] : refused.why) reasons.emplace_back(count, reason);
  std::sort(reasons.rbegin(), reasons.rend());
  for (std::size_t i = 0; i < reasons.size() && i < 12; ++i) {
    why += "\n  " + std::to_string(reasons[i].first) + ": " + reasons[i].second;
  }
  MESSAGE(cases << " cases, " << with_results << " with results, " << with_chains << " with derived events in them, "
                << unjudged << " too large; rules refused first: " << refused.rules << why);
  if (!one) CHECK(with_results > cases / 4);
  if (!one) CHECK(with_chains > cases / 20);
  CHECK(unjudged <= cases / 50);
}
