#pragma once
#include <optional>
#include <string>
#include <vector>

#include "dsl/ast.h"
#include "tests/reference/random.h"

namespace cepd::reference {

/// Where a condition in brackets stands.
enum class Place : std::uint8_t {
  kFirst,  ///< nothing may be bound yet
  kLater,
  kOutside,  ///< FROM, UNLESS: no event was bound just before
};

/// Random conditions and values over the fields v and w, for the places of a rule where they may stand.
class RandomCondition {
 public:
  /// `few`: the name of a constant, if there is one.
  RandomCondition(Random& random, std::optional<std::string> few) : random_(random), few_(std::move(few)) {}

  /// `[ … ]`. `names`: elements before; `own`: the repeated element itself.
  dsl::ast::ExprPtr in_brackets(const std::vector<std::string>& names, const std::optional<std::string>& own,
                                Place place);
  /// The same as in the rule's other brackets: a field equals that of an element before. `names`: not empty.
  dsl::ast::ExprPtr correlated(const std::vector<std::string>& names);
  /// A part of WHERE.
  dsl::ast::ExprPtr part(const std::vector<std::string>& names);
  dsl::ast::ExprPtr between(const std::string& one, const std::string& other);
  /// HAVING.
  dsl::ast::ExprPtr of_match(const std::vector<std::string>& names, const std::optional<std::string>& key_field);
  /// Of EMIT.
  dsl::ast::ExprPtr value_of_match(const std::string& name);

 private:
  dsl::ast::ExprPtr simple(const std::vector<std::string>& names, const std::optional<std::string>& own, Place place);
  dsl::ast::ExprPtr aggregate(const std::string& name);
  dsl::ast::BinaryOp comparison();
  std::string some_field();
  dsl::ast::ExprPtr some_number(std::int64_t low, std::int64_t high);

  Random& random_;
  std::optional<std::string> few_;
  std::optional<std::string> equal_;  // field of correlated()
};

}  // namespace cepd::reference
