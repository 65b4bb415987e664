#include "tests/reference/random_operation.h"

#include <algorithm>

namespace cepd::reference {
namespace {

Reload some_reload(const Trial& trial, Random& random) {
  static const std::vector<Change> kChanges{Change::kNothing, Change::kCopy,   Change::kCopy,   Change::kCopy,
                                            Change::kWithout, Change::kHaving, Change::kHaving, Change::kEmit,
                                            Change::kEmit,    Change::kInto,   Change::kLimit,  Change::kLimit,
                                            Change::kPolicy,  Change::kStatus};
  return {random.below(trial.input.size() + 1), random.one_of(kChanges), random.below(4)};
}

}  // namespace

void add_random_operation(Trial& trial, Random& random) {
  if (random.chance(60)) {
    const std::uint64_t count = 1 + random.below(4);
    for (std::uint64_t i = 0; i < count; ++i) trial.reloads.push_back(some_reload(trial, random));
    std::sort(trial.reloads.begin(), trial.reloads.end(),
              [](const Reload& a, const Reload& b) { return a.before < b.before; });
    // Often what was changed is as it was again with the next one, which may follow at once.
    for (std::size_t i = 1; i < trial.reloads.size(); i += 2) {
      if (random.chance(50)) trial.reloads[i].change = Change::kNothing;
      if (random.chance(25)) trial.reloads[i].before = trial.reloads[i - 1].before;
    }
  }
  if (random.chance(20)) trial.state_ttl = std::chrono::seconds(random.between(1, 6));
  if (random.chance(50) || (trial.reloads.empty() && !trial.state_ttl)) trial.cap = 1 + random.below(5);
}

}  // namespace cepd::reference
