#pragma once
/// What engine.cc, engine_rules.cc and engine_state.cc share.

#include <boost/unordered/unordered_flat_map.hpp>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/derived_queue.h"
#include "engine/engine.h"
#include "engine/event_maker.h"
#include "engine/lane.h"
#include "engine/lane_threads.h"
#include "engine/order.h"
#include "engine/seen_ids.h"
#include "engine/snapshot.h"
#include "engine/stored_keys.h"

namespace cepd::engine {

struct Engine::Impl {
  std::shared_ptr<const LaneRules> rules;
  EngineOptions options;
  Handlers handlers;
  EventOrder order;
  SeenIds seen;
  std::deque<Lane> lanes;
  std::vector<EventMaker> makers;  // by index in RuleSet::rules; empty where no rule reads what another makes
  DerivedQueue derived;            // empty between two places of the total order
  std::uint32_t top_level = 0;
  boost::unordered_flat_map<std::uint32_t, RuleTally> counted_before;  // by rule, under earlier sets of rules
  std::vector<EventPtr> ready;  // their place in the order is settled; handled with the next drain()
  std::uint64_t next_sequence = 1;
  std::uint64_t handled = 0;
  // With several lanes, while no rule reads what others make:
  std::uint64_t next_step = 0;          // of the next batch
  std::optional<EventTime> time_given;  // the lanes' watermark; none: it may be anything

  // What is stored (engine_state.cc).
  std::vector<RuleRecord> rule_records;     // by rule
  std::vector<std::uint64_t> prefix_since;  // by prefix: the least of its rules' RuleRecord::since
  bool rules_saved = false;
  struct Plan {
    std::string text;  // encoded
    bool saved = false;
  };
  std::map<std::uint64_t, Plan> plans;  // that something may be stored by, by number
  std::uint64_t plan = 0;               // the present one's number
  std::size_t dropped_by_swap = 0;
  state::WriteBatch to_save;  // of the save under way, beside what the lanes have
  bool saving = false;

  std::unique_ptr<LaneThreads> threads;  // the last member: they work on the others

  const nfa::Network& network() const { return *rules->network; }

  // ---- sets of rules ----

  /// `alone`: see LaneRules.
  void make_rules(std::shared_ptr<const nfa::Network> network, std::vector<bool> alone = {});
  Owners owners() const;
  /// By rule; without what they hold now.
  std::vector<RuleCounts> counted() const;
  std::size_t lane_of(std::uint32_t owner, const KeyProbe& probe) const {
    return probe.key.empty() ? rules->lane_of_unkeyed[rules->rule_of(owner)] : probe.hash % lanes.size();
  }
  bool keep(const KeyProbe& probe, std::unique_ptr<KeyPart> part);
  void set_since(std::uint32_t rule, std::uint64_t sequence) {
    rule_records[rule].since = sequence;
    for (Lane& lane : lanes) lane.runtime(rule).set_since(sequence);
  }

  // ---- what is stored (engine_state.cc) ----

  /// After the last set_since(), before parts are put in place.
  void settle_since();
  /// Gives the lanes what they need to read keys; `backend` may be null.
  Status read_from(state::StateBackend* backend);
  void number_plan();
  Status restore_plans(state::StateBackend& backend);
  Status restore_rules(state::StateBackend& backend);
  Status restore_heads(Restored& restored, bool only_strangers);

  // ---- the way of an event (engine.cc) ----

  void number(EventPtr& event);
  static EventPtr with_raw(const Event& event, std::string_view raw);
  void settle();
  void add_ready(EventPtr event);
  void drain();
  void handle(EventPtr event);
  // No rule reads what another makes: every lane goes through all that is ready, by itself.
  void give_lanes(EventTime watermark);
  std::vector<LaneMatch> work(LaneThreads& of, std::size_t index, const LaneBatch& batch);
  // Rules read what others make: one place of the total order after the other, level by level.
  void handle_by_level(EventPtr event);
  EventTime earliest_due() const;
  void fire_due(EventTime limit);
  void handle_derived(std::uint32_t level);
  void give(EventPtr event, const nfa::TypeDispatch& dispatch);
  void report();
};

/// Of a stored event, whose type may be one that no rule names.
inline std::string_view type_name(const Event& event, const FieldPlan& fields) {
  return event.type == kOtherType ? event.other_type() : std::string_view(fields.type(event.type).name);
}

}  // namespace cepd::engine
