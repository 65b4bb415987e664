#pragma once
/// Most parts that a statement may have. What comes after the parser may be slow in them, but not without end.
/// Internal to dsl/.

#include "dsl/problems.h"

namespace cepd::dsl::syntax {

inline constexpr std::size_t kMaxNameBytes = 255;
inline constexpr std::size_t kMaxKeyFields = 64;
inline constexpr std::size_t kMaxUnless = 64;
inline constexpr std::size_t kMaxListed =
    1000;  ///< events of FROM, items, labels, actions, fields of an EVENT or a test
inline constexpr std::size_t kMaxInValues = 100'000;  ///< values of IN

/// False, and reported, when a list of the statement is longer than that.
bool within_bounds(const ast::Statement& statement, Problems& problems);

}  // namespace cepd::dsl::syntax
