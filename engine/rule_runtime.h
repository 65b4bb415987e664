#pragma once
/// One rule at work: its keys with their partial matches, from an event or a deadline to the reported matches.

#include <boost/unordered/unordered_flat_map.hpp>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "engine/due_queue.h"
#include "engine/engine.h"
#include "engine/evaluator.h"

namespace cepd::engine {

class RuleRuntime {
 public:
  using Report = std::function<void(MatchPtr)>;

  /// `lane`: only keys of this lane are looked at.
  RuleRuntime(std::shared_ptr<const nfa::Network> network, std::uint32_t index, const EngineOptions& options,
              std::size_t lane);

  /// Requires events in the total order and every earlier deadline fired.
  void handle(const nfa::RuleInput& input, const EventPtr& event, DueQueue& due, Arena& scratch, const Report& report);
  /// What falls due at `now` for this key: absence, time-outs, the end of LIMIT spans. The key may be gone afterwards.
  void fire(KeyState& key, EventTime now, DueQueue& due, Arena& scratch, const Report& report);

  /// Tells `trace` every decision from now on; null: nobody.
  void set_trace(Trace* trace) {
    trace_ = trace;
    evaluator_.set_trace(trace);
  }

  /// Takes over the keys of the same rule under an older network.
  void adopt(RuleRuntime&& before, DueQueue& due);
  /// Puts a restored key in place. Requires that the key is not there yet.
  void put(std::unique_ptr<KeyState> key, DueQueue& due);

  using KeyMap = boost::unordered_flat_map<std::string, std::unique_ptr<KeyState>>;
  const KeyMap& keys() const { return keys_; }
  const dsl::plan::Rule& rule() const { return evaluator_.rule(); }
  const Evaluator& evaluator() const { return evaluator_; }
  RuleCounts counts() const;

  /// Ids of keys that changed since the last clear_changes(), and of stored ones that are gone. Kept only when asked
  /// for.
  const std::vector<std::string>& changed() const { return changed_; }
  const std::vector<std::string>& gone() const { return gone_; }
  void clear_changes();

 private:
  struct KeyOffer {
    std::string id;
    std::vector<Value> key;
    Offer offer;
  };
  std::vector<KeyOffer> offers(const nfa::RuleInput& input, const EventPtr& event, Arena& scratch);
  KeyState* find_or_add(const KeyOffer& offer);
  void finish(KeyState& key, std::vector<Candidate>& completed, std::vector<Run>& expired, DueQueue& due,
              Arena& scratch, const Report& report);
  void report_match(KeyState& key, MatchKind kind, const std::vector<Bound>& bound, EventTime time, DueQueue& due,
                    const Report& report);
  void report_timeouts(KeyState& key, std::vector<Run>& expired, DueQueue& due, const Report& report);
  void keep_under_cap(KeyState& key);
  void schedule(KeyState& key, DueQueue& due);
  void add_deadlines(KeyState& key, DueQueue& due);
  void forget_limit(KeyState& key);
  void mark_changed(KeyState& key);
  void erase_if_empty(KeyState& key);

  std::shared_ptr<const nfa::Network> network_;
  std::uint32_t index_;
  EngineOptions options_;
  std::size_t lane_;
  Evaluator evaluator_;
  nfa::ElementSet start_elements_ = 0;
  KeyMap keys_;
  RuleCounts counts_;
  std::vector<std::string> changed_, gone_;
  Trace* trace_ = nullptr;
};

/// The lane of a key: by the key alone; of a rule without KEY by the rule's name.
std::size_t lane_of(std::string_view rule_name, std::string_view key_id, std::size_t lanes);

}  // namespace cepd::engine
