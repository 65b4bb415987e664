#pragma once
/// Expressions and scopes built by hand, for the tests of nfa/eval.h and what it uses.

#include <deque>
#include <initializer_list>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "nfa/eval.h"

namespace cepd::nfa::testing {

namespace plan = dsl::plan;

inline plan::ExprPtr node(decltype(plan::Expr::node) n) {
  return std::make_shared<const plan::Expr>(plan::Expr{std::move(n)});
}
inline plan::ExprPtr lit(const Value& v) {
  plan::Constant c;
  c.kind = v.kind();
  if (v.kind() == Kind::kString) {
    c.text = v.text();
  } else {
    c.scalar = v;
  }
  return node(c);
}
inline plan::ExprPtr lit(int i) { return lit(Value::integer(i)); }
inline plan::ExprPtr lit(double d) { return lit(Value::real(d)); }
inline plan::ExprPtr lit(bool b) { return lit(Value::boolean(b)); }
inline plan::ExprPtr lit(const char* s) { return lit(Value::string(s)); }
inline plan::ExprPtr null() { return lit(Value::null()); }

inline plan::ExprPtr op(plan::ExprPtr a, plan::BinaryOp o, plan::ExprPtr b) {
  return node(plan::Binary{o, std::move(a), std::move(b)});
}
inline plan::ExprPtr negation(plan::ExprPtr a) { return node(plan::Unary{plan::UnaryOp::kNot, std::move(a)}); }
inline plan::ExprPtr call(plan::Function f, std::vector<plan::ExprPtr> arguments) {
  return node(plan::FunctionCall{f, std::move(arguments)});
}

inline Value ts(std::int64_t us) { return Value::timestamp(event_time_us(us)); }
inline Value dur(std::int64_t us) { return Value::duration(Micros(us)); }

/// The value as its kind and text: `int 3`, `null`.
inline std::string show(const Value& v) {
  if (v.is_null()) return "null";
  std::string out(kind_name(v.kind()));
  out += ' ';
  append_text(out, v);
  return out;
}

/// A type `t` with the fields `x` and `y`, and events of it bound to elements.
struct World {
  FieldPlan fields;
  TypeId type = fields.add_type("t");
  std::uint32_t x = static_cast<std::uint32_t>(fields.add_field(type, FieldPath::of("x")));
  std::uint32_t y = static_cast<std::uint32_t>(fields.add_field(type, FieldPath::of("y")));
  std::vector<EventPtr> events;
  std::vector<Bound> bound;
  EventPtr tested;
  std::vector<Value> key;
  std::vector<NamedValue> emit;
  Arena scratch;
  EvalErrors errors;

  EventPtr event(const Value& vx, const Value& vy = {}, std::int64_t at_us = 0) const {
    EventDraft e;
    e.type = type;
    e.time = event_time_us(at_us);
    e.fields = {vx, vy};
    return e.build();
  }
  void bind(int element, const Value& vx, const Value& vy = {}, std::int64_t at_us = 0) {
    events.push_back(event(vx, vy, at_us));
    bound.push_back({plan::ElementId(element), events.back().get()});
  }

  plan::FieldRef ref(plan::Subject subject, int element = 0, std::int64_t index = 0) const {
    plan::FieldRef r;
    r.subject = subject;
    r.element = plan::ElementId(element);
    r.index = index;
    r.path = FieldPath::of("x");
    r.slots = {{type, x}};
    return r;
  }

  Scope scope() const { return {tested.get(), bound, key, emit, &fields}; }
  Value eval(const plan::ExprPtr& e) { return evaluate(*e, scope(), scratch, errors); }
  std::string text(const plan::ExprPtr& e) { return show(eval(e)); }
  /// Errors counted since the last call.
  std::uint64_t counted() { return std::exchange(errors.count, 0); }
};

}  // namespace cepd::nfa::testing
