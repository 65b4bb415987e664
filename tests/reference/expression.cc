#include "tests/reference/expression.h"

#include <cmath>
#include <set>

namespace cepd::reference {
namespace {

const std::set<std::string> kOverValues = {"sum", "avg", "min", "max", "distinct"};

class Evaluation {
 public:
  Evaluation(const Scope& scope, Arena& arena) : scope_(scope), arena_(arena) {}

  Value value(const ast::Expr& expr) {
    return std::visit([this](const auto& node) { return of(node); }, expr.node);
  }

 private:
  Value of(const ast::Literal& literal) {
    if (const auto* b = std::get_if<bool>(&literal.value)) return Value::boolean(*b);
    if (const auto* i = std::get_if<std::int64_t>(&literal.value)) return Value::integer(*i);
    if (const auto* d = std::get_if<double>(&literal.value)) return Value::real(*d);
    if (const auto* s = std::get_if<std::string>(&literal.value)) return Value::string(arena_.copy(*s));
    if (const auto* t = std::get_if<EventTime>(&literal.value)) return Value::timestamp(*t);
    if (const auto* d = std::get_if<Micros>(&literal.value)) return Value::duration(*d);
    return Value::null();
  }
  Value of(const ast::ConstantRef& constant) { return of(scope_.rule.constants.at(constant.name)); }

  /// "In [ … ] a bare name is a field of the event being tested; name.field is a field of an element bound earlier (an
  /// element's name wins …). In WHERE, HAVING and EMIT names are always name.field, except key fields."
  Value of(const ast::PathRef& ref) {
    const auto& steps = ref.path.steps;
    if (!ref.from_this && steps.size() > 1) {
      if (const auto slot = scope_.rule.slot(std::get<std::string>(steps.front()))) return of_element(*slot, ref);
    }
    if (ref.from_this || scope_.brackets) return field_of(*scope_.tested, steps, 0, ref.quoted);
    for (std::size_t i = 0; i < scope_.rule.key.size(); ++i) {
      if (scope_.rule.key[i] == ref.path) return scope_.key[i];
    }
    throw OutsideSubset{"a bare name outside of brackets: " + to_string(ref.path)};
  }

  /// "n.f alone means last(n.f), n[i].f the i-th (0 first, -1 last)"; in a WHERE part "its own n.f is the event being
  /// tested".
  Value of_element(std::size_t slot, const ast::PathRef& ref) {
    const auto& steps = ref.path.steps;
    if (const auto* index = std::get_if<std::int64_t>(&steps[1])) {
      const auto events = events_of(slot);
      const auto size = static_cast<std::int64_t>(events.size());
      const std::int64_t at = *index < 0 ? size + *index : *index;
      if (at < 0 || at >= size) return Value::null();
      return field_of(*events[static_cast<std::size_t>(at)], steps, 2, ref.quoted);
    }
    if (scope_.own == slot) return field_of(*scope_.tested, steps, 1, ref.quoted);
    const auto events = events_of(slot);
    return events.empty() ? Value::null() : field_of(*events.back(), steps, 1, ref.quoted);
  }

  std::vector<EventPtr> events_of(std::size_t slot) const {
    std::vector<EventPtr> out;
    for (const Bound& bound : scope_.bound) {
      if (bound.slot == slot) out.push_back(bound.event);
    }
    return out;
  }

  // "Logic is three-valued as in SQL"; what is not a bool is unknown.
  static std::optional<bool> truth(const Value& v) {
    return v.kind() == Kind::kBool ? std::optional(v.as_bool()) : std::nullopt;
  }
  static Value logic(std::optional<bool> b) { return b ? Value::boolean(*b) : Value::null(); }

  Value of(const ast::Unary& unary) {
    const Value v = value(*unary.operand);
    if (unary.op == ast::UnaryOp::kNot) {
      const auto b = truth(v);
      return b ? Value::boolean(!*b) : Value::null();
    }
    if (v.kind() == Kind::kInt && v.as_int() != INT64_MIN) return Value::integer(-v.as_int());
    if (v.kind() == Kind::kDouble) return Value::real(-v.as_double());
    if (v.kind() == Kind::kDuration) return Value::duration(-v.as_duration());
    return Value::null();
  }

  Value of(const ast::Binary& binary) {
    using ast::BinaryOp;
    const Value a = value(*binary.left);
    const Value b = value(*binary.right);
    switch (binary.op) {
      case BinaryOp::kOr:
      case BinaryOp::kAnd: {
        const bool decisive = binary.op == BinaryOp::kOr;  // true OR x is true, false AND x is false
        const auto x = truth(a), y = truth(b);
        if (x == decisive || y == decisive) return Value::boolean(decisive);
        return x && y ? Value::boolean(!decisive) : Value::null();
      }
      case BinaryOp::kEq:
      case BinaryOp::kNe:
      case BinaryOp::kLt:
      case BinaryOp::kLe:
      case BinaryOp::kGt:
      case BinaryOp::kGe:
        return logic(compared(binary.op, a, b));
      default:
        return arithmetic(binary.op, a, b);
    }
  }

  /// "a comparison with null or between unlike types is unknown"; "bools, arrays and objects only by = and !=".
  static std::optional<bool> compared(ast::BinaryOp op, const Value& a, const Value& b) {
    using ast::BinaryOp;
    const Ordering order = compare(a, b);
    if (order == Ordering::kNull || order == Ordering::kUnlike) return std::nullopt;
    if (op == BinaryOp::kEq) return order == Ordering::kEqual;
    if (op == BinaryOp::kNe) return order != Ordering::kEqual;
    if (order == Ordering::kUnequal || a.kind() == Kind::kBool || a.kind() == Kind::kJson) return std::nullopt;
    if (op == BinaryOp::kLt) return order == Ordering::kLess;
    if (op == BinaryOp::kLe) return order != Ordering::kGreater;
    if (op == BinaryOp::kGt) return order == Ordering::kGreater;
    return order != Ordering::kLess;
  }

  /// "/ always gives a double. int with int is int for + - * %, with a double double. … any other mix is null";
  /// overflow and division by zero give null.
  static Value arithmetic(ast::BinaryOp op, const Value& a, const Value& b) {
    using ast::BinaryOp;
    if (a.is_number() && b.is_number()) {
      if (op == BinaryOp::kDiv) return b.number() == 0 ? Value::null() : Value::real(a.number() / b.number());
      if (a.kind() == Kind::kInt && b.kind() == Kind::kInt) {
        const std::int64_t x = a.as_int(), y = b.as_int();
        std::int64_t r = 0;
        switch (op) {
          case BinaryOp::kAdd:
            return __builtin_add_overflow(x, y, &r) ? Value::null() : Value::integer(r);
          case BinaryOp::kSub:
            return __builtin_sub_overflow(x, y, &r) ? Value::null() : Value::integer(r);
          case BinaryOp::kMul:
            return __builtin_mul_overflow(x, y, &r) ? Value::null() : Value::integer(r);
          default:
            return y == 0 ? Value::null() : y == -1 ? Value::integer(0) : Value::integer(x % y);
        }
      }
      const double x = a.number(), y = b.number();
      return op == BinaryOp::kAdd   ? Value::real(x + y)
             : op == BinaryOp::kSub ? Value::real(x - y)
             : op == BinaryOp::kMul ? Value::real(x * y)
                                    : Value::real(std::fmod(x, y));
    }
    if (a.kind() == Kind::kTimestamp && b.kind() == Kind::kTimestamp && op == BinaryOp::kSub)
      return Value::duration(a.as_time() - b.as_time());
    if (a.is_null() || b.is_null()) return Value::null();
    if (a.kind() == Kind::kTimestamp || b.kind() == Kind::kTimestamp || a.kind() == Kind::kDuration ||
        b.kind() == Kind::kDuration) {
      throw OutsideSubset{"arithmetic on times"};
    }
    return Value::null();
  }

  Value of(const ast::In& in) {
    const Value operand = value(*in.operand);
    std::optional<bool> found = false;
    for (const ast::ExprPtr& each : in.list) {
      const auto same = compared(ast::BinaryOp::kEq, operand, value(*each));
      if (same == true) found = true;
      if (!same && found == false) found = std::nullopt;
    }
    if (found && in.negated) found = !*found;
    return logic(found);
  }

  Value of(const ast::Between& between) {
    const Value operand = value(*between.operand);
    const auto low = compared(ast::BinaryOp::kGe, operand, value(*between.low));
    const auto high = compared(ast::BinaryOp::kLe, operand, value(*between.high));
    std::optional<bool> inside;
    if (low == false || high == false) inside = false;
    if (low == true && high == true) inside = true;
    if (inside && between.negated) inside = !*inside;
    return logic(inside);
  }

  Value of(const ast::Matches&) { throw OutsideSubset{"MATCHES"}; }

  Value of(const ast::IsNull& test) { return Value::boolean(value(*test.operand).is_null() != test.negated); }

  Value of(const ast::Call& call) {
    const std::string& name = call.function.text;
    if (name == "prev") {
      if (scope_.bound.empty()) return Value::null();  // "null on the match's first event"
      const auto& ref = std::get<ast::PathRef>(call.arguments.at(0)->node);
      return field_of(*scope_.bound.back().event, ref.path.steps, 0, ref.quoted);
    }
    if (name == "coalesce") {
      for (const ast::ExprPtr& each : call.arguments) {
        if (const Value v = value(*each); !v.is_null()) return v;
      }
      return Value::null();
    }
    return aggregate(name, call.arguments);
  }

  Value aggregate(const std::string& name, const std::vector<ast::ExprPtr>& arguments) {
    const auto* ref = arguments.size() == 1 ? std::get_if<ast::PathRef>(&arguments[0]->node) : nullptr;
    if (ref == nullptr || ref->from_this) throw OutsideSubset{"the function " + name};
    const auto slot = scope_.rule.slot(std::get<std::string>(ref->path.steps.front()));
    if (!slot) throw OutsideSubset{"the function " + name};
    const auto events = events_of(*slot);
    if (name == "count" && ref->path.steps.size() == 1) return Value::integer(static_cast<std::int64_t>(events.size()));
    std::vector<Value> all, values;  // with and without nulls
    for (const EventPtr& event : events) {
      all.push_back(field_of(*event, ref->path.steps, 1, ref->quoted));
      if (!all.back().is_null()) values.push_back(all.back());
    }
    if (name == "first") return all.empty() ? Value::null() : all.front();
    if (name == "last") return all.empty() ? Value::null() : all.back();
    if (name == "collect") return all.empty() ? Value::null() : collected(all);
    if (name == "count") return Value::integer(static_cast<std::int64_t>(values.size()));
    // "Over nothing count is 0 and the others null."
    if (values.empty() && kOverValues.count(name) != 0) return Value::null();
    if (name == "sum" || name == "avg") return total(name, values);
    if (name == "min" || name == "max") return extreme(name == "min" ? ast::BinaryOp::kLt : ast::BinaryOp::kGt, values);
    if (name == "distinct") {
      std::set<Key, KeyLess> different;
      for (const Value& v : values) different.insert(Key{v});
      return Value::integer(static_cast<std::int64_t>(different.size()));
    }
    throw OutsideSubset{"the function " + name};
  }

  /// Only the sum of ints itself may overflow, not what is added up on the way to it.
  static Value total(const std::string& name, const std::vector<Value>& values) {
    __extension__ __int128 ints = 0;
    double doubles = 0;
    bool all_ints = true;
    for (const Value& v : values) {
      if (!v.is_number()) return Value::null();
      all_ints &= v.kind() == Kind::kInt;
      if (v.kind() == Kind::kInt) ints += v.as_int();
      doubles += v.number();
    }
    if (name == "avg")
      return Value::real((all_ints ? static_cast<double>(ints) : doubles) / static_cast<double>(values.size()));
    if (!all_ints) return Value::real(doubles);
    return ints < INT64_MIN || ints > INT64_MAX ? Value::null() : Value::integer(static_cast<std::int64_t>(ints));
  }

  static Value extreme(ast::BinaryOp better, const std::vector<Value>& values) {
    Value best = values.front();
    for (const Value& v : values) {
      const auto is_better = compared(better, v, best);
      if (!is_better) return Value::null();
      if (*is_better) best = v;
    }
    return best;
  }

  Value collected(const std::vector<Value>& values) {
    std::string text = "[";
    for (const Value& v : values) {
      if (text.size() > 1) text += ',';
      append_json(text, v);
    }
    return Value::json(arena_.copy(text + "]"));
  }

  const Scope& scope_;
  Arena& arena_;
};

}  // namespace

Value field_of(const Event& event, const std::vector<FieldPath::Step>& steps, std::size_t from, bool quoted) {
  if (steps.size() != from + 1) throw OutsideSubset{"a nested field"};
  const std::string& name = std::get<std::string>(steps[from]);
  if (!quoted && name == "ts") return Value::timestamp(event.time);
  if (!quoted && name == "type") return Value::string(event.type);
  return event.field(name);
}

Value evaluate(const ast::Expr& expr, const Scope& scope, Arena& arena) { return Evaluation(scope, arena).value(expr); }

bool holds(const ast::Expr& expr, const Scope& scope) {
  Arena arena;
  return evaluate(expr, scope, arena).is_true();
}

}  // namespace cepd::reference
