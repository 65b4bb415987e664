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

namespace cepd::engine {

/// Space::kEngine keys.
inline constexpr std::string_view kFieldPlanKey = "field_plan";
inline constexpr std::string_view kOrderKey = "order";

inline constexpr std::string_view kRulesKey = "rules";

/// `what` does not read back: kCorrupt.
Error corrupt_record(const char* what);

/// Space::kPartial key: 16 bytes naming the owner (a rule as it was when its partial matches were made, by its
/// fingerprint, or a prefix, by its identity), then 16 bytes naming the key.
std::string partial_key(const MatchId& owner, std::string_view key_id);
/// None: no such key is that short.
std::optional<MatchId> owner_in(std::string_view partial_key);

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

/// `rules`: that the part is of.
std::string encode_part(const KeyPart& part, const LaneRules& rules);

/// What encode_part() wrote. `part` has no entry and no owner yet.
struct StoredPart {
  std::vector<Value> key;
  std::unique_ptr<Arena> arena;  ///< owns the text of `key`
  std::unique_ptr<KeyPart> part;
};
/// By what they are known by (LaneRules::id_of) the owners that there are.
using Owners = boost::unordered_flat_map<MatchId, std::uint32_t, MatchIdHash>;
/// Of this owner's. Errors: kCorrupt. The states and elements read are checked against its automaton.
Result<StoredPart> decode_part(std::string_view record, const StoredPlan& plan, const LaneRules& rules,
                               const Owners& owners, std::uint32_t owner);
/// Readers by the owners that they have now; those without are gone.
void rename_readers(PrefixState& state, const std::function<std::optional<std::uint32_t>(std::uint32_t)>& owner_now);

/// What is kept of each rule besides its partial matches.
struct RuleRecord {
  std::uint64_t since = 0;  ///< Evaluator::set_since()
  bool alone = false;       ///< it has no prefix
};
std::string encode_rules(const std::vector<dsl::plan::Rule>& rules, const std::vector<RuleRecord>& records);
Result<boost::unordered_flat_map<MatchId, RuleRecord, MatchIdHash>> decode_rules(std::string_view record);

std::string encode_waiting(const Event& event, const FieldPlan& plan);
Result<EventPtr> decode_waiting(std::string_view record, const FieldPlan& present);

std::string encode_order(const EventOrder& order, std::uint64_t next_sequence);
Status decode_order(std::string_view record, EventOrder& order, std::uint64_t& next_sequence);

}  // namespace cepd::engine
