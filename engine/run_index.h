#pragma once
/// Finds, among many runs of one rule and key, those that an event can do something to, and those whose time is up,
/// without looking at the others: by the state they wait in, where that has an equality look-back by its value
/// (nfa/equal_look_back.h), where it has a range look-back in the order of its values, and by deadline.
///
/// Runs are named by their place in KeyState::runs; the last one takes the place of one that goes. A value of another
/// kind than the event's is an expression error, which is counted without looking at the runs either.

#include <array>
#include <boost/unordered/unordered_flat_map.hpp>
#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "base/field_plan.h"
#include "engine/offer.h"
#include "engine/run.h"
#include "engine/slot_heap.h"
#include "nfa/eval.h"
#include "nfa/look_back.h"

namespace cepd::engine {

class RunIndex {
 public:
  /// Both outlive the index's use.
  RunIndex(const nfa::LookBack& look_back, const FieldPlan& fields, const Runs& runs);
  RunIndex(const RunIndex&) = delete;
  RunIndex& operator=(const RunIndex&) = delete;

  /// The run has been put at the end.
  void add(const Run& run);
  /// The run at `place` goes, and the last one takes its place.
  void remove(std::size_t place, const Run& run);
  /// Run::due of the run at `place` may have changed.
  void set_due(std::size_t place, EventTime due);
  /// Partial matches were added to a run.
  void joined(std::uint64_t count) { count_ = std::min(count_ + count, kManyMatches); }

  /// The places of the runs to which the event can do something, the last one first. Holds until the next call.
  const std::vector<std::uint32_t>& find(const Offer& offer, nfa::EvalErrors& errors);

  EventTime first_due() const { return heap_.empty() ? kMaxTime : heap_.front().time; }
  /// The places of the runs that are due, the last one first; they have no deadline until set_due(). Likewise.
  const std::vector<std::uint32_t>& take_due(EventTime now);

  /// At least the sum of MatchSet::count() of all runs.
  std::uint64_t count() const { return count_; }
  void set_count(std::uint64_t count) { count_ = count; }

 private:
  static constexpr std::uint32_t kNone = UINT32_MAX;
  static constexpr std::size_t kKinds = static_cast<std::size_t>(Kind::kJson) + 1;

  struct Before {
    bool operator()(const Value& a, const Value& b) const { return key_order(a, b) < 0; }
  };
  using Ordered =
      std::multimap<Value, std::uint32_t, Before, PoolAllocator<std::pair<const Value, std::uint32_t>>>;  // places

  struct Place {
    std::uint64_t bucket = 0;                    // of chains_
    std::uint32_t next = kNone, before = kNone;  // in the chain; no chain: in none
    std::uint32_t due_slot = kNone;
    std::uint16_t state = 0;
    Kind kind = Kind::kNull;  // of the value; kNull: none equals it
    bool chained = false;
    bool ordered = false;
    Ordered::iterator in_order;  // where `ordered`
  };
  struct InState {
    std::uint32_t runs = 0;
    std::array<std::uint32_t, kKinds> by_kind{};  // where the state has a look-back
    Ordered ordered;                              // where it has a range look-back
  };
  struct Due {
    EventTime time;
    std::uint32_t place;
    bool before(const Due& other) const { return time < other.time; }
  };

  /// Kinds whose values compare with each other have one.
  static Kind family(const Value& value) { return value.kind() == Kind::kDouble ? Kind::kInt : value.kind(); }
  static std::uint64_t bucket_of(std::size_t state, std::uint64_t value_hash);
  auto placed() {
    return [this](const Due& due, std::size_t slot) { places_[due.place].due_slot = static_cast<std::uint32_t>(slot); };
  }
  Value value_of(const Run& run, const nfa::RangeLookBack& range, bool& known);
  void add_by_value(std::uint32_t at, const Run& run);
  void link(std::uint32_t place);
  void unlink(const Place& place);
  void find_in_state(std::size_t state, const Offer& offer, nfa::EvalErrors& errors);
  void find_by_value(std::size_t state, const dsl::plan::FieldRef& tested, const Event& event, nfa::EvalErrors& errors);
  void find_in_order(const Ordered& ordered, const Value& value, bool above);
  void find_chain(std::uint64_t bucket);
  void find_all(std::size_t state);

  const nfa::LookBack& look_back_;
  const FieldPlan& fields_;
  std::vector<Place> places_;  // by place
  std::vector<InState> states_;
  boost::unordered_flat_map<std::uint64_t, std::uint32_t> chains_;  // first place
  SlotHeap<Due> heap_;
  std::uint64_t count_ = 0;
  std::vector<std::uint32_t> found_;
  Arena scratch_;
};

}  // namespace cepd::engine
