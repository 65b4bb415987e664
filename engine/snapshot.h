#pragma once
/// How partial matches, waiting events and watermarks are stored (docs/state_format.md). Written with state/layout.h.

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/field_plan.h"
#include "base/result.h"
#include "engine/key_state.h"
#include "engine/order.h"

namespace cepd::engine {

/// Space::kEngine keys.
inline constexpr std::string_view kFieldPlanKey = "field_plan";
inline constexpr std::string_view kOrderKey = "order";

/// Space::kPartial key: 16 bytes naming the rule as it was when its partial matches were made, then 16 bytes naming the
/// key.
inline constexpr std::size_t kPartialPrefixBytes = 16;
std::string partial_prefix(const dsl::plan::Rule& rule);
std::string partial_key(const dsl::plan::Rule& rule, std::string_view key_id);

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

std::string encode_state(const KeyState& state);

/// What encode_state() wrote. `state` has no entry and no rule yet.
struct StoredState {
  std::vector<Value> key;
  std::unique_ptr<Arena> arena;  ///< owns the text of `key`
  std::unique_ptr<KeyState> state;
};
/// Errors: kCorrupt. The states and elements read are checked against `automaton`.
Result<StoredState> decode_state(std::string_view record, const StoredPlan& plan, const nfa::Automaton& automaton);

std::string encode_waiting(const Event& event, const FieldPlan& plan);
Result<EventPtr> decode_waiting(std::string_view record, const FieldPlan& present);

std::string encode_order(const EventOrder& order, std::uint64_t next_sequence);
Status decode_order(std::string_view record, EventOrder& order, std::uint64_t& next_sequence);

}  // namespace cepd::engine
