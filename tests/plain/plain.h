#pragma once
/// The engine as it was before it was made fast: compiled rules over events in their total order, one partial match and
/// one key after the other, on one thread. What engine/ is compared with where tests/reference cannot judge: counts,
/// the cap on partial matches, the state TTL, reloads.
///
///   run.h          partial matches and what a key has of them
///   evaluator.h    one key over one event, or over a deadline
///   after_match.h  policies, LIMIT
///   rule_state.h   one rule: its keys, HAVING, time-outs, the cap
///   report.h       the match as it is printed and acted on
///
/// Shared with engine/: what the rules were compiled to (nfa/), the order of events, the making of derived events.

#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>
#include <vector>

#include "engine/event_maker.h"
#include "engine/order.h"
#include "tests/plain/rule_state.h"

namespace cepd::plain {

class Engine {
 public:
  using Report = std::function<void(const Match&)>;

  Engine(std::shared_ptr<const nfa::Network> network, Options options, Report report);

  // As of engine::Engine. Late events are dropped.
  void set_max_delay(SourceId source, Micros max_delay) { order_.set_max_delay(source, max_delay); }
  void push(EventPtr event);
  void advance(EventTime watermark);
  void finish();
  /// `decode_again`: a waiting event, of the type named, by the new plan.
  using DecodeAgain = std::function<EventPtr(const Event&, std::string_view type)>;
  void swap(std::shared_ptr<const nfa::Network> network, const DecodeAgain& decode_again);

  std::vector<Counts> counts() const;  ///< in the order of rule names

 private:
  /// An event that a rule has made at the present place of the total order.
  struct Made {
    std::uint32_t maker;
    EventPtr event;
  };

  void make_rules();
  void drain();
  void fire_due(EventTime limit);
  std::optional<EventTime> earliest_due() const;
  void handle_made(std::uint32_t level);
  void give(const EventPtr& event, const nfa::Inputs& inputs);
  RuleState::Report report_of(std::uint32_t rule);

  std::shared_ptr<const nfa::Network> network_;
  Options options_;
  Report report_;
  engine::EventOrder order_;
  std::vector<RuleState> rules_;  // by index in RuleSet::rules, as are the makers
  std::vector<engine::EventMaker> makers_;
  std::uint32_t top_level_ = 0;
  std::vector<EventPtr> events_;         // all that were handled: what is bound only looks at them
  std::vector<std::vector<Made>> made_;  // by the maker's level
  std::uint64_t next_sequence_ = 1;
};

}  // namespace cepd::plain
