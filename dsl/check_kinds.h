#pragma once
/// What is known about the kind of a value before any event is seen. Internal to dsl/check*.cc.

#include <cstdint>
#include <string>

#include "base/field_plan.h"
#include "base/value.h"
#include "dsl/plan.h"

namespace cepd::dsl::checking {

/// A set of kinds that a value, where it is not null, may have. Empty: it is always null.
class Kinds {
 public:
  constexpr Kinds() = default;
  /// A kind is a set of one, and stands where a set is wanted.
  constexpr Kinds(Kind kind) : bits_(kind == Kind::kNull ? 0 : 1U << static_cast<unsigned>(kind)) {}
  static constexpr Kinds all() { return Kinds(0xFFU & ~1U); }
  static constexpr Kinds number() { return Kinds(Kind::kInt) | Kinds(Kind::kDouble); }
  static constexpr Kinds boolean() { return Kind::kBool; }

  constexpr bool empty() const { return bits_ == 0; }
  constexpr bool is_all() const { return bits_ == all().bits_; }
  constexpr bool overlaps(Kinds other) const { return (bits_ & other.bits_) != 0; }
  constexpr Kinds operator|(Kinds other) const { return Kinds(bits_ | other.bits_); }
  constexpr Kinds operator&(Kinds other) const { return Kinds(bits_ & other.bits_); }
  constexpr bool operator==(const Kinds&) const = default;

 private:
  constexpr explicit Kinds(unsigned bits) : bits_(bits) {}
  unsigned bits_ = 0;
};

/// Kinds of the values that an event of a declared type can have there. An int is read as a double where one is
/// declared.
Kinds kinds_of(FieldType type);

/// "string", "number", "int or string", "null": for messages.
std::string to_string(Kinds kinds);
/// "a string", "an int or string", "null".
std::string with_article(Kinds kinds);

/// Whether some value of `a` and some of `b` can compare other than to unknown; `ordered`: by < and >.
bool comparable(Kinds a, Kinds b, bool ordered);

/// Kinds of `a op b` for + - * / %; empty when it can only be null.
Kinds arithmetic(plan::BinaryOp op, Kinds a, Kinds b);

/// What argument number `index` of a function takes; a value of another kind gives null.
Kinds argument_kinds(plan::Function function, std::size_t index);

}  // namespace cepd::dsl::checking
