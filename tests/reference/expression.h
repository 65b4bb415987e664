#pragma once
/// Conditions and values (language.md section 4), by walking the syntax tree. Unknown is null.

#include "tests/reference/rule.h"

namespace cepd::reference {

/// One event of a match and the element it plays.
struct Bound {
  std::size_t slot = 0;
  std::size_t place = 0;
  EventPtr event;
};
/// In the order of the events.
using Bindings = std::vector<Bound>;

/// What the names of an expression mean.
struct Scope {
  const Rule& rule;
  const Bindings& bound;                ///< the match so far, without the event being tested
  const Key& key;                       ///< for key fields that stand bare
  const Event* tested = nullptr;        ///< none in HAVING and EMIT
  bool brackets = false;                ///< `[ … ]`: a bare name is a field of the event being tested
  std::optional<std::size_t> own = {};  ///< in a WHERE part: the element that the event being tested would be bound to
};

Value evaluate(const ast::Expr& expr, const Scope& scope, Arena& arena);
/// Only true accepts.
bool holds(const ast::Expr& expr, const Scope& scope);

/// The value of an event's field at a path; `ts` and `type` are fields of every event unless quoted.
Value field_of(const Event& event, const std::vector<FieldPath::Step>& steps, std::size_t from, bool quoted);

}  // namespace cepd::reference
