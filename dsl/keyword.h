#pragma once
/// The one table of keywords: read by the lexer, the grammar, the printer and the messages. Internal to dsl/.

#include <array>
#include <cstdint>
#include <string_view>

namespace cepd::dsl::syntax {

enum class Keyword : std::uint8_t {
  kNone,
  // Reserved as names of types, elements and rules (language-details.md section 1).
  kAnd,
  kOr,
  kNot,
  kThen,
  kNext,
  kAny,
  kWithin,
  kAfter,
  kAs,
  kUntil,
  kUnless,
  kGreedy,
  kConsecutive,
  kCombinations,
  kMatch,
  kWhere,
  kHaving,
  kEmit,
  kInto,
  kLimit,
  kLabels,
  kDo,
  kOn,
  kKey,
  kBy,
  kFrom,
  kWindow,
  kEvent,
  kConst,
  kRule,
  kStream,
  kTable,
  kTest,
  kExpect,
  kGiven,
  kWatermark,
  // Reserved in conditions only.
  kIn,
  kIs,
  kBetween,
  kMatches,
  kNull,
  kTrue,
  kFalse,
  kPast,
  kThis,
  // Never reserved: keywords only where the grammar expects them.
  kDisabled,
  kShadow,
  kPer,
  kTimeout,
  kNo,
  kSkip,
  kConsume,
  kLast,
  kTo,
  kFirst,
  kFor,
  kMax,
  kDelay,
  kTimes,
  kEvery,
  kNothing,
};

struct KeywordInfo {
  Keyword keyword;
  std::string_view text;       ///< upper-case
  bool name = false;           ///< needs back quotes as the name of a type, element or rule
  bool condition = false;      ///< needs back quotes as the first name of a path in a condition
  bool statement = false;      ///< begins a statement
  int clause = 0;              ///< place among the clauses of a rule, from 1; 0: begins none
  std::string_view form = {};  ///< an example of what it begins, where one says more than a description
};

/// In the order of Keyword; the first row stands for words that are none.
extern const std::array<KeywordInfo, 62> kKeywords;

inline const KeywordInfo& info(Keyword keyword) { return kKeywords[static_cast<std::size_t>(keyword)]; }

/// kNone when `word`, in any case, is none.
Keyword find_keyword(std::string_view word);

/// True when `word` must be put in back quotes as the first name of a path in a condition.
bool is_reserved_in_condition(std::string_view word);

}  // namespace cepd::dsl::syntax
