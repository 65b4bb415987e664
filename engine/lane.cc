#include "engine/lane.h"

#include <algorithm>

namespace cepd::engine {

void merge(std::vector<LaneMatch>& matches) {
  std::stable_sort(matches.begin(), matches.end(), [](const LaneMatch& a, const LaneMatch& b) {
    if (a.step != b.step) return a.step < b.step;
    if (a.due != b.due) return a.due < b.due;
    if (a.rule != b.rule) return a.rule < b.rule;
    for (std::size_t i = 0; i < a.match->key.size(); ++i) {
      if (const int order = key_order(a.match->key[i].second, b.match->key[i].second); order != 0) return order < 0;
    }
    return false;
  });
}

Lane::Lane(const std::shared_ptr<const nfa::Network>& network, const EngineOptions& options,
           const std::vector<std::uint32_t>& levels, std::size_t index) {
  rules_.reserve(levels.size());
  for (std::uint32_t i = 0; i < levels.size(); ++i) rules_.emplace_back(network, i, options, index);
  due_.begin(levels);
}

void Lane::give(const EventPtr& event, const nfa::Inputs& inputs, std::uint64_t step) {
  step_ = step;
  due_now_ = kMinTime;
  for (const nfa::RuleInput& input : inputs) {
    RuleRuntime& rule = rules_[input.rule];
    if (event->shadow && rule.rule().status != dsl::plan::Status::kShadow) continue;
    rule_ = input.rule;
    rule.handle(input, event, due_, scratch_, report_);
    scratch_.release();
  }
}

void Lane::fire(EventTime now, std::uint32_t level, std::uint64_t step) {
  step_ = step;
  due_now_ = now;
  for (const DueQueue::Entry& entry : due_.take(now, level)) {
    rule_ = entry.rule;
    rules_[entry.rule].fire(*entry.key, entry.time, due_, scratch_, report_);
    scratch_.release();
  }
}

void Lane::fire_before(EventTime limit, std::uint64_t step) {
  while (const auto earliest = due_.earliest()) {
    if (*earliest >= limit && limit != kMaxTime) return;
    fire(*earliest, 1, step);
  }
}

}  // namespace cepd::engine
