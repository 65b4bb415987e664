#include "nfa/tally.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/check.h"
#include "nfa/arithmetic.h"

namespace cepd::nfa {
namespace {

using dsl::plan::AggregateKind;

double magnitude(const Value& v) { return v.kind() == Kind::kDuration ? static_cast<double>(v.as_int()) : v.number(); }

Value like_input(double d, const Total& total, EvalErrors& errors) {
  return total.durations() ? rounded_duration(d, errors) : finite(d, errors);
}

template <class... Each>
struct Overloaded : Each... {
  using Each::operator()...;
};

}  // namespace

void Total::add(const Value& v) {
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

Value Total::sum(EvalErrors& errors) const {
  if (has_double_) return finite(real_, errors);
  if (exact_ > std::numeric_limits<std::int64_t>::max() || exact_ < std::numeric_limits<std::int64_t>::min()) {
    return failed(errors);
  }
  const auto us = static_cast<std::int64_t>(exact_);
  return durations() ? Value::duration(Micros(us)) : Value::integer(us);
}

Tally::Tally(const dsl::plan::Aggregate& node) : of_(empty(node)) {}

Tally::Of Tally::empty(const dsl::plan::Aggregate& node) {
  switch (node.kind) {
    case AggregateKind::kCount:
      return Count();
    case AggregateKind::kSum:
    case AggregateKind::kAvg:
      return Sum{node.kind == AggregateKind::kAvg, {}};
    case AggregateKind::kMin:
      return Extreme{Ordering::kLess, {}};
    case AggregateKind::kMax:
      return Extreme{Ordering::kGreater, {}};
    case AggregateKind::kStddev:
      return Deviation();
    case AggregateKind::kPercentile:
      return Percentile{node.percentile, {}, {}};
    case AggregateKind::kDistinct:
      return Distinct();
    case AggregateKind::kCollect:
      break;
  }
  CEPD_CHECK(false);
  return Count();
}

void Tally::add(const Value& v) {
  if (v.is_null()) return;
  std::visit(Overloaded{
                 [](Count& of) { ++of.values; },
                 [&](Sum& of) { of.total.add(v); },
                 [&](Extreme& of) {
                   const Ordering order = of.best.is_null() ? of.wanted : compare(v, of.best);
                   of.unlike |= order == Ordering::kUnlike || v.kind() == Kind::kBool || v.kind() == Kind::kJson;
                   if (order == of.wanted) of.best = v;
                 },
                 [&](Deviation& of) {
                   of.total.add(v);
                   of.known = false;
                   if (!of.total.unlike()) of.values.push_back(magnitude(v));
                 },
                 [&](Percentile& of) {
                   of.total.add(v);
                   if (!of.total.unlike()) of.values.push_back(magnitude(v));
                 },
                 [&](Distinct& of) { of.insert(v); },
             },
             of_);
}

Value Tally::value(EvalErrors& errors) {
  return std::visit(Overloaded{
                        [](const Count& of) { return Value::integer(of.values); },
                        [&](const Sum& of) {
                          if (of.total.empty()) return Value::null();
                          if (of.total.unlike()) return failed(errors);
                          return of.mean ? like_input(of.total.mean(), of.total, errors) : of.total.sum(errors);
                        },
                        [&](const Extreme& of) { return of.unlike ? failed(errors) : of.best; },
                        [&](Deviation& of) { return value_of(of, errors); },
                        [&](Percentile& of) { return value_of(of, errors); },
                        [](const Distinct& of) {
                          return of.empty() ? Value::null() : Value::integer(static_cast<std::int64_t>(of.size()));
                        },
                    },
                    of_);
}

/// Two passes: the one-pass formula loses all digits when values are large and close together.
Value Tally::value_of(Deviation& of, EvalErrors& errors) {
  if (of.total.unlike()) return failed(errors);
  if (of.values.size() < 2) return Value::null();
  if (!std::exchange(of.known, true)) {
    const double mean = of.total.mean();
    double squares = 0;
    for (const double value : of.values) {
      const double off = value - mean;
      squares += off * off;
    }
    EvalErrors own;
    of.result = like_input(std::sqrt(squares / static_cast<double>(of.values.size() - 1)), of.total, own);
    of.errors = own.count;
  }
  errors.count += of.errors;
  return of.result;
}

/// Linear interpolation between the closest ranks: rank p/100 * (n - 1), as SQL's PERCENTILE_CONT.
Value Tally::value_of(Percentile& of, EvalErrors& errors) {
  constexpr std::size_t kFewNew = 8;
  if (of.total.unlike()) return failed(errors);
  if (of.values.empty()) return Value::null();
  if (of.values.size() - of.sorted > kFewNew) {
    std::sort(of.values.begin(), of.values.end());
  } else {
    for (auto next = of.values.begin() + static_cast<std::ptrdiff_t>(of.sorted); next != of.values.end(); ++next) {
      std::rotate(std::upper_bound(of.values.begin(), next, *next), next, next + 1);
    }
  }
  of.sorted = of.values.size();
  const double rank = std::clamp(of.percent, 0.0, 100.0) / 100.0 * static_cast<double>(of.values.size() - 1);
  const auto below = static_cast<std::size_t>(rank);
  const std::size_t above = std::min(below + 1, of.values.size() - 1);
  const double low = of.values[below], high = of.values[above];
  return like_input(low + (high - low) * (rank - static_cast<double>(below)), of.total, errors);
}

/// Visits the element's events behind the one numbered `through`.
template <class Visit>
void Tallies::catch_up(std::uint64_t& through, dsl::plan::ElementId element, std::span<const Bound> bound,
                       const Visit& visit) {
  auto from = bound.end();
  while (from != bound.begin() && (from - 1)->event->sequence > through) --from;
  visited_ += static_cast<std::uint64_t>(bound.end() - from);
  for (auto each = from; each != bound.end(); ++each) {
    if (each->element == element) visit(*each->event);
  }
  if (from != bound.end()) through = bound.back().event->sequence;
}

Value Tallies::aggregate(const dsl::plan::Aggregate& node, std::span<const Bound> bound, const FieldPlan& fields,
                         EvalErrors& errors) {
  auto running =
      std::find_if(running_.begin(), running_.end(), [&](const Running& each) { return each.node == &node; });
  if (running == running_.end()) running = running_.insert(running, {&node, Tally(node)});
  catch_up(running->through, node.element, bound, [&](const Event& event) {
    running->tally.add(node.field ? read_property(*node.field, event, fields) : Value::boolean(true));
  });
  return running->tally.value(errors);
}

Value Tallies::number(const dsl::plan::Expr& of, const Scope& scope, Arena& scratch) {
  const auto known = std::find_if(numbers_.begin(), numbers_.end(), [&](const Number& each) { return each.of == &of; });
  if (known != numbers_.end()) return known->value;
  EvalErrors errors;
  const Value value = evaluate(of, scope, scratch, errors);
  return numbers_.emplace_back(Number{&of, value.is_number() && errors.count == 0 ? value : Value::null()}).value;
}

const Tallies::Ends& Tallies::ends(dsl::plan::ElementId element, std::span<const Bound> bound) {
  auto of = std::find_if(ends_.begin(), ends_.end(), [&](const Ends& each) { return each.element == element; });
  if (of == ends_.end()) of = ends_.insert(of, {element});
  catch_up(of->through, element, bound, [&](const Event& event) {
    if (of->first == nullptr) of->first = &event;
    of->last = &event;
  });
  return *of;
}

}  // namespace cepd::nfa
