#pragma once
/// Events that rules have made at one place of the total order, until they are handled there: by level, then maker's
/// name, then in the order in which they were made (language-details.md section 2).

#include <algorithm>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "base/event.h"

namespace cepd::engine {

class DerivedQueue {
 public:
  /// `maker`: index of the rule; rules are sorted by name.
  void add(std::uint32_t maker, std::uint32_t level, EventPtr event) {
    if (made_.size() <= level) made_.resize(level + 1);
    made_[level].push_back({maker, std::move(event)});
  }

  /// Takes the events made by rules of `level`, in their order. Requires that nothing can make more of them at this
  /// place: all that makes some of lower levels, and the rules of `level` themselves, have been at work.
  std::vector<EventPtr> take(std::uint32_t level) {
    std::vector<EventPtr> out;
    if (made_.size() <= level) return out;
    std::stable_sort(made_[level].begin(), made_[level].end(),
                     [](const Made& a, const Made& b) { return a.maker < b.maker; });
    out.reserve(made_[level].size());
    for (Made& made : made_[level]) out.push_back(std::move(made.event));
    made_[level].clear();
    return out;
  }

 private:
  struct Made {
    std::uint32_t maker;
    EventPtr event;
  };
  std::vector<std::vector<Made>> made_;  // by level
};

}  // namespace cepd::engine
