#pragma once
/// How partial matches, waiting events and watermarks are stored (docs/state_format.md). Written with state/layout.h.

#include <boost/unordered/unordered_flat_map.hpp>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/field_plan.h"
#include "base/result.h"
#include "engine/key_state.h"
#include "engine/lane.h"
#include "engine/order.h"
#include "state/layout.h"

namespace cepd::engine {

/// Space::kEngine keys; the field plans' goes on with a number, ordered.
inline constexpr std::string_view kFieldPlanKey = "field_plan/";
inline constexpr std::string_view kOrderKey = "order";
inline constexpr std::string_view kRulesKey = "rules";
inline constexpr std::string_view kLimitsKey = "limits";

/// `what` does not read back: kCorrupt.
Error corrupt_record(const char* what);

/// Space::kPartial key: 16 bytes for the key, 16 for the owner (a rule as it was when its partial matches were made, by
/// its fingerprint, or a prefix, by its identity).
struct PartialKey {
  MatchId key;
  MatchId owner;
};
std::string encode_partial_key(const PartialKey& key);
/// None: no such key has that length.
std::optional<PartialKey> decode_partial_key(std::string_view stored);
/// What PartialKey has for a key. Equal keys (1 and 1.0) have one.
MatchId key_id(std::span<const Value> key);

/// Which type and slots the fields of stored events have: the names behind TypeId and slot numbers.
std::string encode_plan(const FieldPlan& plan);

/// Brings stored slots to the ones of the present plan. Fields that no rule reads any more are dropped.
class StoredPlan {
 public:
  static Result<StoredPlan> decode(std::string_view record, const FieldPlan& present);
  struct Type {
    std::string name;
    TypeId present = kOtherType;
    std::vector<std::optional<std::size_t>> slots;  ///< stored slot -> present slot
  };
  const Type* find(std::uint64_t stored) const { return stored < types_.size() ? &types_[stored] : nullptr; }

 private:
  std::vector<Type> types_;
};

/// What a part's record begins with: as much as is to be known of it while it is not in memory.
struct PartHead {
  EventTime due = kMaxTime;  ///< nothing of it falls due before; kMaxTime: never
  std::uint64_t plan = 0;    ///< number of the field plan that its events are stored by
  std::uint64_t before = 0;  ///< it is as it was before the event that got this sequence number
};
/// Errors: kCorrupt. The record's rest is left in `in`.
Result<PartHead> decode_head(state::Reader& in);
std::vector<Value> decode_key(state::Reader& in);  ///< follows the head; text points into the record

/// `rules`: that the part is of.
std::string encode_part(const KeyPart& part, const LaneRules& rules, const PartHead& head);

/// What encode_part() wrote. `part` has no entry yet.
struct StoredPart {
  std::vector<Value> key;  ///< text points into the record
  std::unique_ptr<KeyPart> part;
};
/// By what they are known by (LaneRules::id_of) the owners that there are.
using Owners = boost::unordered_flat_map<MatchId, std::uint32_t, MatchIdHash>;
/// Of this owner's; `in` is behind the head. Errors: kCorrupt. The states and elements read are checked against its
/// automaton.
Result<StoredPart> decode_part(state::Reader& in, const StoredPlan& plan, const LaneRules& rules, const Owners& owners,
                               std::uint32_t owner);
/// Readers by the owners that they have now; those without are gone.
void rename_readers(PrefixState& state, const std::function<std::optional<std::uint32_t>(std::uint32_t)>& owner_now);

/// What is kept of each rule besides its partial matches.
struct RuleRecord {
  std::uint64_t since = 0;  ///< Evaluator::set_since()
  bool alone = false;       ///< it has no prefix
  // Sequence numbers from which on it has had these without a break. A reload has one of its own.
  std::uint64_t limit_since = 0;     ///< LIMIT
  std::uint64_t timeouts_since = 0;  ///< ON TIMEOUT
};
std::string encode_rules(const std::vector<dsl::plan::Rule>& rules, const std::vector<RuleRecord>& records);
Result<boost::unordered_flat_map<MatchId, RuleRecord, MatchIdHash>> decode_rules(std::string_view record);

/// The options that decide what may be under way. Where they have changed, all that is stored is to be looked at.
std::string encode_limits(const EngineOptions& options);

std::string encode_waiting(const Event& event, const FieldPlan& plan);
Result<EventPtr> decode_waiting(std::string_view record, const FieldPlan& present);

std::string encode_order(const EventOrder& order, std::uint64_t next_sequence);
Status decode_order(std::string_view record, EventOrder& order, std::uint64_t& next_sequence);

}  // namespace cepd::engine
