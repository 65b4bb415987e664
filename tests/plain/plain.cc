#include "tests/plain/plain.h"

#include <algorithm>

namespace cepd::plain {

Engine::Engine(std::shared_ptr<const nfa::Network> network, Options options, Report report)
    : network_(std::move(network)), options_(options), report_(std::move(report)) {
  make_rules();
}

void Engine::make_rules() {
  rules_.clear();
  makers_.clear();
  top_level_ = 0;
  const std::vector<dsl::plan::Rule>& rules = network_->rules().rules;
  for (std::uint32_t i = 0; i < rules.size(); ++i) {
    rules_.emplace_back(*network_, i, options_);
    makers_.emplace_back(*network_, rules[i]);
    top_level_ = std::max(top_level_, rules[i].level);
  }
  made_.resize(top_level_ + 1);
}

void Engine::push(EventPtr event) {
  if (!order_.offer(event)) drain();
}

void Engine::advance(EventTime watermark) {
  order_.advance(watermark);
  drain();
}

void Engine::finish() {
  order_.end();
  drain();
}

/// An instant goes: events in their order, then deadlines (language-details.md section 2).
void Engine::drain() {
  while (EventPtr event = order_.next()) {
    fire_due(event->time);
    const nfa::Inputs inputs = network_->inputs(event->type);
    give(event, inputs);
    for (std::uint32_t level = 1; level <= top_level_; ++level) handle_made(level);
  }
  fire_due(order_.watermark());
}

std::optional<EventTime> Engine::earliest_due() const {
  std::optional<EventTime> earliest;
  for (const RuleState& rule : rules_) {
    if (const auto due = rule.earliest_due(); due && (!earliest || *due < *earliest)) earliest = due;
  }
  return earliest;
}

/// Everything that falls due before `limit`; at the end of time everything. Level by level: what a deadline makes is
/// handled before the deadlines of higher levels at the same time.
void Engine::fire_due(EventTime limit) {
  while (const auto due = earliest_due()) {
    if (*due >= limit) return;
    for (std::uint32_t level = 1; level <= top_level_; ++level) {
      for (std::uint32_t i = 0; i < rules_.size(); ++i) {
        if (rules_[i].rule().level == level) rules_[i].fire(*due, report_of(i));
      }
      handle_made(level);
    }
  }
}

/// The events that rules of `level` have made at this place, by maker; they have all been at work.
void Engine::handle_made(std::uint32_t level) {
  std::vector<Made> made = std::exchange(made_[level], {});
  std::stable_sort(made.begin(), made.end(), [](const Made& a, const Made& b) { return a.maker < b.maker; });
  for (const Made& each : made) {
    const nfa::Inputs inputs = network_->derived_inputs(each.event->type);
    give(each.event, inputs);
  }
}

void Engine::give(const EventPtr& event, const nfa::Inputs& inputs) {
  event->sequence = next_sequence_++;
  events_.push_back(event);
  for (const nfa::RuleInput& input : inputs) {
    RuleState& rule = rules_[input.rule];
    if (event->shadow && rule.rule().status != dsl::plan::Status::kShadow) continue;
    rule.handle(input, event, report_of(input.rule));
  }
}

RuleState::Report Engine::report_of(std::uint32_t rule) {
  return [this, rule](const MatchPtr& match) {
    if (auto event = makers_[rule].make(*match)) made_[rules_[rule].rule().level].push_back({rule, std::move(event)});
    report_(*match);
  };
}

void Engine::swap(std::shared_ptr<const nfa::Network> network, const DecodeAgain& decode_again) {
  std::vector<RuleState> before = std::move(rules_);
  const std::shared_ptr<const nfa::Network> old_network = std::exchange(network_, std::move(network));
  make_rules();
  for (RuleState& rule : rules_) {
    const auto same = std::find_if(before.begin(), before.end(), [&](const RuleState& old) {
      return old.rule().fingerprint == rule.rule().fingerprint;
    });
    if (same != before.end()) rule.adopt(std::move(*same));
  }
  for (EventPtr& event : order_.waiting()) {
    const bool named = event->type != kOtherType;
    const std::string type = named ? old_network->fields().type(event->type).name : std::string(event->other_type());
    event = decode_again(*event, type);
  }
}

std::vector<Counts> Engine::counts() const {
  std::vector<Counts> counts;
  for (const RuleState& rule : rules_) counts.push_back(rule.counts());
  return counts;
}

}  // namespace cepd::plain
