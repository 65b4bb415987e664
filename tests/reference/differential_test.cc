/// The engine against the reference and against the plain engine, over random rules and inputs. A failing case prints
/// its seed and the smallest rule and input that still fail.
///
///   CEPD_RANDOM_CASES=200000  how many cases (the nightly run); by default kCases
///   CEPD_RANDOM_FIRST=900000  from which seed on; by default 1
///   CEPD_RANDOM_SEED=17       this one case
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>

#include "dsl/parse.h"
#include "dsl/print.h"
#include "tests/reference/random_input.h"
#include "tests/reference/random_operation.h"
#include "tests/reference/random_rule.h"
#include "tests/reference/shrink.h"
#include "tests/reference/subject.h"

using namespace cepd;
using namespace cepd::reference;

namespace {

constexpr std::uint64_t kFirstSeed = 1;
// Under the sanitizers a case takes 5 to 30 times as long.
#if defined(__SANITIZE_THREAD__)
constexpr std::uint64_t kCases = 500;
#elif defined(__SANITIZE_ADDRESS__)
constexpr std::uint64_t kCases = 2'000;
#else
constexpr std::uint64_t kCases = 5'000;
#endif

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
Trial trial_of(Random& random, Refused& refused) {
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

/// What others make of a trial.
struct Judges {
  Networks networks;
  std::optional<Lines> reference;  ///< none where it cannot judge: that is no failure
  Outcome plain;
};

Judges judges_of(const Trial& trial) {
  Judges out{networks_of(trial), std::nullopt, {}};
  out.plain = by_plain(trial, out.networks);
  if (!trial.reloads.empty() || trial.cap || trial.state_ttl) return out;
  try {
    out.reference = by_reference(trial);
  } catch (const TooManyRuns&) {
  } catch (const OutsideSubset&) {
  }
  return out;
}

bool wrong(const Judges& judges, const Outcome& engine) {
  return (judges.reference && engine.results != *judges.reference) || engine.in_full != judges.plain.in_full;
}

std::vector<Drive> drives_of(std::uint64_t seed) {
  const std::size_t lanes = seed % 2 == 0 ? 4 : 2;
  const std::size_t every = seed % 4 < 2 ? 1 : 3;
  std::vector<Drive> out{{}, {}, {}, {}};
  out[1].index_from = 1 + seed % 3;
  out[2].restored_every = every;
  out[2].index_from = 1;
  out[3].lanes = lanes;
  out[3].index_from = 2;
  out[3].lane_batch = 1 + seed % 5;  // the input is short: several batches only where they are small
  out.push_back(out[2]);
  out.back().restored_every = seed % 3 == 0 ? 5 : 0;
  out.back().evicted_every = every;
  out.back().evicted = seed % 5 == 0 ? 1 : 1000;
  if (seed % 7 < 4) out.back().part_bytes = 1 + seed % 100;
  // Threads are slow to start and stop, and this does so for every event.
  if (seed % 10 < 2) {
    out.push_back(out[3]);
    (seed % 10 == 0 ? out.back().restored_every : out.back().evicted_every) = every;
  }
  return out;
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
    const Judges judges = judges_of(candidate);
    return wrong(judges, by_engine(candidate, judges.networks, drive));
  });
  const Judges judges = judges_of(small);
  const Outcome engine = by_engine(small, judges.networks, drive);
  std::string out = "\n" + printed(small);
  if (judges.reference && engine.results != *judges.reference) {
    out += "reference:\n" + text_of(*judges.reference) + drive.text() + ":\n" + text_of(engine.results);
  }
  if (engine.results != judges.plain.results) {
    out += "plain:\n" + text_of(judges.plain.results) + drive.text() + ":\n" + text_of(engine.results);
  } else if (engine.in_full != judges.plain.in_full) {
    out += "plain:\n" + text_of(judges.plain.in_full) + drive.text() + ":\n" + text_of(engine.in_full);
  }
  return out;
}

/// Fails the test where the engine does something else than `judges` say, and says true.
bool fails(std::uint64_t seed, const Trial& trial, const Judges& judges, std::uint64_t& read_again) {
  for (const Drive& drive : drives_of(seed)) {
    const Outcome outcome = by_engine(trial, judges.networks, drive);
    read_again += outcome.read_again;
    if (!wrong(judges, outcome)) continue;
    FAIL_CHECK("CEPD_RANDOM_SEED=" << seed << report(trial, drive));
    return true;
  }
  return false;
}

}  // namespace

TEST_CASE("differential: the engine does what the references do") {
  const auto one = from_environment("CEPD_RANDOM_SEED");
  const std::uint64_t cases = one ? 1 : from_environment("CEPD_RANDOM_CASES").value_or(kCases);
  const std::uint64_t first = one ? *one : from_environment("CEPD_RANDOM_FIRST").value_or(kFirstSeed);
  Refused refused;
  std::uint64_t read_again = 0;
  std::size_t unjudged = 0, with_results = 0, with_chains = 0, over_cap = 0, failures = 0;
  for (std::uint64_t seed = first; seed < first + cases && failures < 10; ++seed) {
    Random random(seed);
    Trial trial = trial_of(random, refused);
    const Judges judges = judges_of(trial);
    if (!judges.reference) {
      ++unjudged;
      continue;
    }
    const Lines& results = judges.plain.results;
    with_results += results.empty() ? 0 : 1;
    with_chains += std::any_of(results.begin(), results.end(), binds_derived) ? 1 : 0;
    failures += fails(seed, trial, judges, read_again) ? 1 : 0;

    add_random_operation(trial, random);
    const Judges operated = judges_of(trial);
    const std::string counts = text_of(operated.plain.in_full);
    over_cap += counts.find(" over the cap") == std::string::npos ? 0 : 1;
    failures += fails(seed, trial, operated, read_again) ? 1 : 0;
  }
  std::string why;
  std::vector<std::pair<std::size_t, std::string>> reasons;
  for (const auto& [reason, count] : refused.why) reasons.emplace_back(count, reason);
  std::sort(reasons.rbegin(), reasons.rend());
  for (std::size_t i = 0; i < reasons.size() && i < 12; ++i) {
    why += "\n  " + std::to_string(reasons[i].first) + ": " + reasons[i].second;
  }
  MESSAGE(cases << " cases, " << with_results << " with results, " << with_chains << " with derived events in them, "
                << unjudged << " too large, " << over_cap << " over a cap, " << read_again
                << " keys read again; rules refused first: " << refused.rules << why);
  if (!one) CHECK(with_results > cases / 4);
  if (!one) CHECK(with_chains > cases / 40);
  if (!one) CHECK(over_cap > cases / 20);
  if (!one) CHECK(read_again > cases);
  CHECK(unjudged <= cases / 50);
}
