#include "nfa/aggregate.h"

#include <algorithm>
#include <boost/container/small_vector.hpp>
#include <cmath>
#include <limits>
#include <string>

#include "base/check.h"
#include "nfa/arithmetic.h"

namespace cepd::nfa {
namespace {

using dsl::plan::AggregateKind;

/// GCC and Clang have it on every 64-bit target; sums in it are exact and do not depend on the order of the events.
__extension__ using Wide = __int128;

using Values = boost::container::small_vector<Value, 16>;

template <class Visit>
void each_value(const dsl::plan::Aggregate& node, const Scope& scope, const Visit& visit) {
  const dsl::plan::FieldRef& field = *node.field;
  // Nearly always all events have the field in one place.
  const bool in_one_place = field.property == dsl::plan::Property::kField && field.slots.size() == 1;
  for (const Bound& bound : scope.bound) {
    if (bound.element != node.element) continue;
    if (in_one_place && bound.event->type == field.slots.front().first) {
      visit(bound.event->field(field.slots.front().second));
    } else {
      visit(read_property(field, *bound.event, *scope.fields));
    }
  }
}

/// Numbers, or durations in microseconds, added up.
class Total {
 public:
  void add(const Value& v) {
    if (v.kind() == Kind::kDuration) {
      ++durations_;
    } else if (v.is_number()) {
      ++numbers_;
      has_double_ |= v.kind() == Kind::kDouble;
    } else {
      unlike_ = true;
      return;
    }
    if (v.kind() == Kind::kDouble) {
      real_ += v.as_double();
    } else {
      exact_ += v.as_int();
      real_ += static_cast<double>(v.as_int());
    }
  }
  bool empty() const { return count() == 0 && !unlike_; }
  bool unlike() const { return unlike_ || (durations_ != 0 && numbers_ != 0); }
  bool durations() const { return durations_ != 0; }

  Value sum(EvalErrors& errors) const {
    if (has_double_) return finite(real_, errors);
    if (exact_ > std::numeric_limits<std::int64_t>::max() || exact_ < std::numeric_limits<std::int64_t>::min()) {
      return failed(errors);
    }
    const auto us = static_cast<std::int64_t>(exact_);
    return durations() ? Value::duration(Micros(us)) : Value::integer(us);
  }
  double mean() const { return (has_double_ ? real_ : static_cast<double>(exact_)) / static_cast<double>(count()); }

 private:
  std::uint64_t count() const { return numbers_ + durations_; }
  Wide exact_ = 0;   // of ints or durations
  double real_ = 0;  // of all, once there is a double
  std::uint64_t numbers_ = 0, durations_ = 0;
  bool has_double_ = false, unlike_ = false;
};

double magnitude(const Value& v) { return v.kind() == Kind::kDuration ? static_cast<double>(v.as_int()) : v.number(); }

Value like_input(double d, const Total& total, EvalErrors& errors) {
  return total.durations() ? rounded_duration(d, errors) : finite(d, errors);
}

/// Two passes: the one-pass formula loses all digits when values are large and close together.
Value stddev(const Values& values, const Total& total, EvalErrors& errors) {
  if (values.size() < 2) return Value::null();
  const double mean = total.mean();
  double squares = 0;
  for (const Value& v : values) {
    const double off = magnitude(v) - mean;
    squares += off * off;
  }
  return like_input(std::sqrt(squares / static_cast<double>(values.size() - 1)), total, errors);
}

/// Linear interpolation between the closest ranks: rank p/100 * (n - 1), as SQL's PERCENTILE_CONT.
Value percentile(Values& values, double p, const Total& total, EvalErrors& errors) {
  std::sort(values.begin(), values.end(), [](const Value& a, const Value& b) { return key_order(a, b) < 0; });
  const double rank = std::clamp(p, 0.0, 100.0) / 100.0 * static_cast<double>(values.size() - 1);
  const auto below = static_cast<std::size_t>(rank);
  const std::size_t above = std::min(below + 1, values.size() - 1);
  const double low = magnitude(values[below]), high = magnitude(values[above]);
  return like_input(low + (high - low) * (rank - static_cast<double>(below)), total, errors);
}

Value numeric(const dsl::plan::Aggregate& node, const Scope& scope, EvalErrors& errors) {
  Total total;
  Values values;
  const bool keep = node.kind == AggregateKind::kStddev || node.kind == AggregateKind::kPercentile;
  each_value(node, scope, [&](const Value& v) {
    if (v.is_null()) return;
    total.add(v);
    if (keep) values.push_back(v);
  });
  if (total.empty()) return Value::null();
  if (total.unlike()) return failed(errors);
  switch (node.kind) {
    case AggregateKind::kSum:
      return total.sum(errors);
    case AggregateKind::kAvg:
      return like_input(total.mean(), total, errors);
    case AggregateKind::kStddev:
      return stddev(values, total, errors);
    default:
      return percentile(values, node.percentile, total, errors);
  }
}

Value extreme(const dsl::plan::Aggregate& node, const Scope& scope, EvalErrors& errors) {
  const Ordering wanted = node.kind == AggregateKind::kMin ? Ordering::kLess : Ordering::kGreater;
  Value best;
  bool unlike = false;
  each_value(node, scope, [&](const Value& v) {
    if (v.is_null()) return;
    const Ordering order = best.is_null() ? wanted : compare(v, best);
    unlike |= order == Ordering::kUnlike || v.kind() == Kind::kBool || v.kind() == Kind::kJson;
    if (order == wanted) best = v;
  });
  return unlike ? failed(errors) : best;
}

Value distinct(const dsl::plan::Aggregate& node, const Scope& scope) {
  Values values;
  each_value(node, scope, [&](const Value& v) {
    if (!v.is_null()) values.push_back(v);
  });
  if (values.empty()) return Value::null();
  std::sort(values.begin(), values.end(), [](const Value& a, const Value& b) { return key_order(a, b) < 0; });
  const auto end =
      std::unique(values.begin(), values.end(), [](const Value& a, const Value& b) { return key_order(a, b) == 0; });
  return Value::integer(end - values.begin());
}

/// The JSON text of the list, nulls included.
Value collect(const dsl::plan::Aggregate& node, const Scope& scope, Arena& scratch) {
  std::string text;
  each_value(node, scope, [&](const Value& v) {
    text += text.empty() ? '[' : ',';
    append_json(text, v);
  });
  if (text.empty()) return Value::null();
  text += ']';
  return Value::json(scratch.copy(text));
}

Value count(const dsl::plan::Aggregate& node, const Scope& scope) {
  std::int64_t n = 0;
  if (node.field) {
    each_value(node, scope, [&](const Value& v) { n += v.is_null() ? 0 : 1; });
  } else {
    for (const Bound& bound : scope.bound) n += bound.element == node.element ? 1 : 0;
  }
  return Value::integer(n);
}

}  // namespace

Value aggregate(const dsl::plan::Aggregate& node, const Scope& scope, Arena& scratch, EvalErrors& errors) {
  if (node.kind == AggregateKind::kCount) return count(node, scope);
  CEPD_CHECK(node.field.has_value());
  switch (node.kind) {
    case AggregateKind::kMin:
    case AggregateKind::kMax:
      return extreme(node, scope, errors);
    case AggregateKind::kDistinct:
      return distinct(node, scope);
    case AggregateKind::kCollect:
      return collect(node, scope, scratch);
    default:
      return numeric(node, scope, errors);
  }
}

}  // namespace cepd::nfa
