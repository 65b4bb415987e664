#pragma once
/// Aggregates that are kept up to date while a list of events grows, so that a repeat of any length costs a test no
/// more than a short one. Values are taken in in the order of the events, whether at once or one by one: sums of
/// doubles have the same bits either way.

#include <boost/container/small_vector.hpp>
#include <boost/unordered/unordered_flat_set.hpp>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <variant>
#include <vector>

#include "base/block_pool.h"
#include "nfa/eval.h"

namespace cepd::nfa {

/// Numbers, or durations in microseconds, added up.
class Total {
 public:
  void add(const Value& v);
  bool empty() const { return count() == 0 && !unlike_; }
  bool unlike() const { return unlike_ || (durations_ != 0 && numbers_ != 0); }
  bool durations() const { return durations_ != 0; }
  Value sum(EvalErrors& errors) const;
  double mean() const { return (has_double_ ? real_ : static_cast<double>(exact_)) / static_cast<double>(count()); }

 private:
  /// GCC and Clang have it on every 64-bit target; sums in it are exact and do not depend on the order of the events.
  __extension__ using Wide = __int128;

  std::uint64_t count() const { return numbers_ + durations_; }
  Wide exact_ = 0;   // of ints or durations
  double real_ = 0;  // of all, once there is a double
  std::uint64_t numbers_ = 0, durations_ = 0;
  bool has_double_ = false, unlike_ = false;
};

/// One aggregate but `collect`, over the values it was given. Texts among them are not copied.
class Tally {
 public:
  explicit Tally(const dsl::plan::Aggregate& node);

  void add(const Value& v);
  /// Cost: O(1); `stddev` O(values) and `percentile` O(log values) of the first call after add().
  Value value(EvalErrors& errors);

 private:
  template <class T>
  using List = std::vector<T, PoolAllocator<T>>;
  struct Count {
    std::int64_t values = 0;
  };
  struct Sum {
    bool mean = false;
    Total total;
  };
  struct Extreme {
    Ordering wanted;
    Value best;
    bool unlike = false;
  };
  struct Deviation {
    Total total;
    List<double> values;  // as they came
    bool known = false;   // the two below, of all values
    Value result;
    std::uint64_t errors = 0;
  };
  struct Percentile {
    double percent;
    Total total;
    List<double> values;
    std::size_t sorted = 0;  // so many of them are
  };
  struct KeyHash {
    std::size_t operator()(const Value& v) const { return equality_hash(v); }
  };
  struct KeyEqual {
    bool operator()(const Value& a, const Value& b) const { return key_order(a, b) == 0; }
  };
  using Distinct = boost::unordered_flat_set<Value, KeyHash, KeyEqual, PoolAllocator<Value>>;
  using Of = std::variant<Count, Sum, Extreme, Deviation, Percentile, Distinct>;

  static Of empty(const dsl::plan::Aggregate& node);
  static Value value_of(Deviation& of, EvalErrors& errors);
  static Value value_of(Percentile& of, EvalErrors& errors);

  Of of_;
};

/// What conditions have asked of one growing list of events: aggregates, and the first and last event of an element.
/// Its copies go on with copies of the list. All derived: it may be dropped at any time. An element that it was asked
/// for keeps all its events in the list; those of others may leave it.
class Tallies {
 public:
  /// Of a shorter list what is asked costs no more than to keep it.
  static constexpr std::size_t kFewEvents = 4;

  /// As nfa::aggregate(), but not of `collect`. The node has to outlive it.
  Value aggregate(const dsl::plan::Aggregate& node, std::span<const Bound> bound, const FieldPlan& fields,
                  EvalErrors& errors);
  const Event* first(dsl::plan::ElementId element, std::span<const Bound> bound) { return ends(element, bound).first; }
  const Event* last(dsl::plan::ElementId element, std::span<const Bound> bound) { return ends(element, bound).last; }
  /// What the expression, which reads nothing but `scope.bound`, comes to; null: that is no number, or an error.
  /// Evaluated once until changed().
  Value number(const dsl::plan::Expr& of, const Scope& scope, Arena& scratch);
  /// An event was bound.
  void changed() { numbers_.clear(); }
  /// How many events it has looked at.
  std::uint64_t visited() const { return visited_; }

  static void* operator new(std::size_t bytes) { return BlockPool::allocate(bytes); }
  static void operator delete(void* block, std::size_t bytes) { BlockPool::release(block, bytes); }

 private:
  struct Running {
    const dsl::plan::Aggregate* node;
    Tally tally;
    std::uint64_t through = 0;  // sequence of the last event that it has taken in
  };
  struct Ends {
    dsl::plan::ElementId element;
    const Event* first = nullptr;
    const Event* last = nullptr;
    std::uint64_t through = 0;
  };
  struct Number {
    const dsl::plan::Expr* of;
    Value value;
  };
  const Ends& ends(dsl::plan::ElementId element, std::span<const Bound> bound);
  template <class Visit>
  void catch_up(std::uint64_t& through, dsl::plan::ElementId element, std::span<const Bound> bound, const Visit& visit);

  boost::container::small_vector<Number, 1, PoolAllocator<Number>> numbers_;
  std::vector<Running, PoolAllocator<Running>> running_;
  std::vector<Ends, PoolAllocator<Ends>> ends_;
  std::uint64_t visited_ = 0;
};

/// Tallies of its own, made when they are wanted; a copy's are a copy.
class OwnTallies {
 public:
  OwnTallies() = default;
  OwnTallies(OwnTallies&&) = default;
  OwnTallies& operator=(OwnTallies&&) = default;
  OwnTallies(const OwnTallies& other) { *this = other; }
  OwnTallies& operator=(const OwnTallies& other) {
    tallies_ = other.tallies_ ? std::make_unique<Tallies>(*other.tallies_) : nullptr;
    return *this;
  }
  void forget() { tallies_.reset(); }
  /// After one more event was bound.
  void changed() {
    if (tallies_ != nullptr) tallies_->changed();
  }
  Tallies& get() {
    if (tallies_ == nullptr) tallies_ = std::make_unique<Tallies>();
    return *tallies_;
  }

 private:
  std::unique_ptr<Tallies> tallies_;
};

/// What is kept of the scope's events; null: nothing is, or they are so few that it is not worth it.
inline Tallies* tallies_of(const Scope& scope) {
  return scope.tallies == nullptr || scope.bound.size() <= Tallies::kFewEvents ? nullptr : &scope.tallies->get();
}

}  // namespace cepd::nfa
