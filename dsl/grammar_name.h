#pragma once
/// Names, literals, durations and paths. Only for grammar.cc.

#include <cstdlib>
#include <limits>

#include "dsl/grammar_core.h"

namespace cepd::dsl::syntax {

// ---- single tokens ----

/// Of a type, element or rule: keywords stand in back quotes.
inline std::optional<ast::Name> read_name(const Token& token, Progress&) {
  if (!is_name(token) || info(token.keyword).name) return std::nullopt;
  return ast::Name{token.text, token.where};
}
/// Where no keyword is expected.
inline std::optional<ast::Name> read_any_word(const Token& token, Progress&) {
  if (!is_name(token)) return std::nullopt;
  return ast::Name{token.text, token.where};
}
/// Before a colon in a test.
inline std::optional<ast::Name> read_field_name(const Token& token, Progress&) {
  if (!is_name(token) && token.kind != TokenKind::kString) return std::nullopt;
  return ast::Name{token.text, token.where};
}
/// Before a parenthesis.
inline std::optional<ast::Name> read_function(const Token& token, Progress&) {
  if (token.kind != TokenKind::kWord || info(token.keyword).condition || (&token)[1].symbol != Symbol::kOpenParen) {
    return std::nullopt;
  }
  return ast::Name{token.text, token.where};
}

inline std::optional<std::string> read_string(const Token& token, Progress&) {
  if (token.kind != TokenKind::kString) return std::nullopt;
  return token.text;
}
inline std::optional<ast::ConstantRef> read_constant(const Token& token, Progress&) {
  if (token.kind != TokenKind::kConstant) return std::nullopt;
  return ast::ConstantRef{token.text};
}

inline std::optional<std::uint64_t> read_count(const Token& token, Progress& progress) {
  if (token.kind != TokenKind::kInt) return std::nullopt;
  const auto count = std::get<std::uint64_t>(token.value);
  if (count == 0) {
    progress.error(token.where, "this number must be at least 1");
    return 1;
  }
  return count;
}

inline std::optional<ast::Literal> read_number(const Token& token, Progress& progress) {
  if (token.kind == TokenKind::kDouble) return ast::Literal{std::get<double>(token.value)};
  if (token.kind != TokenKind::kInt) return std::nullopt;
  const auto number = std::get<std::uint64_t>(token.value);
  if (number > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) {
    progress.error(token.where, "this number does not fit 64 bits", "write it with a point for a double");
    return ast::Literal{std::int64_t{0}};
  }
  return ast::Literal{static_cast<std::int64_t>(number)};
}
/// After a minus sign.
inline std::optional<ast::Literal> read_negative(const Token& token, Progress&) {
  if (token.kind == TokenKind::kDouble) return ast::Literal{-std::get<double>(token.value)};
  if (token.kind != TokenKind::kInt) return std::nullopt;
  return ast::Literal{static_cast<std::int64_t>(0 - std::get<std::uint64_t>(token.value))};
}
inline std::optional<ast::Literal> read_literal(const Token& token, Progress& progress) {
  switch (token.kind) {
    case TokenKind::kInt:
    case TokenKind::kDouble:
      return read_number(token, progress);
    case TokenKind::kString:
      return ast::Literal{token.text};
    case TokenKind::kDuration:
      return ast::Literal{std::get<Micros>(token.value)};
    case TokenKind::kTimestamp:
      return ast::Literal{std::get<EventTime>(token.value)};
    case TokenKind::kWord:
      if (token.keyword == Keyword::kTrue) return ast::Literal{true};
      if (token.keyword == Keyword::kFalse) return ast::Literal{false};
      if (token.keyword == Keyword::kNull) return ast::Literal{ast::Null{}};
      return std::nullopt;
    default:
      return std::nullopt;
  }
}

inline std::optional<Micros> read_duration_or_zero(const Token& token, Progress&) {
  if (token.kind != TokenKind::kDuration) return std::nullopt;
  return std::get<Micros>(token.value);
}
inline std::optional<Micros> read_duration(const Token& token, Progress& progress) {
  if (token.kind != TokenKind::kDuration) return std::nullopt;
  if (std::get<Micros>(token.value) == Micros(0)) {
    progress.error(token.where, "this duration must be greater than zero");
    return Micros(1);
  }
  return std::get<Micros>(token.value);
}

const auto type_name = TokenParser<ast::Name>(read_name, "an event type", Show::kAlways);
const auto element_name = TokenParser<ast::Name>(read_name, "a name", Show::kAlways);
const auto any_word = TokenParser<ast::Name>(read_any_word, "a name", Show::kAlways);
const auto field_name = TokenParser<ast::Name>(read_field_name, "a name", Show::kAlways);
const auto function_name = TokenParser<ast::Name>(read_function, "a function", Show::kHidden);
const auto string_literal = TokenParser<std::string>(read_string, "a string", Show::kAlways);
const auto constant_ref = TokenParser<ast::ConstantRef>(read_constant, "a constant", Show::kHidden);
const auto literal = TokenParser<ast::Literal>(read_literal, "a literal", Show::kAlways);
const auto negative_number = TokenParser<ast::Literal>(read_negative, "a number", Show::kAlways);
const auto count = TokenParser<std::uint64_t>(read_count, "a number", Show::kAlways);

const auto open_paren = symbol(Symbol::kOpenParen, "(");
const auto close_paren = symbol(Symbol::kCloseParen, ")");
const auto open_bracket = symbol(Symbol::kOpenBracket, "[", Show::kHidden);
const auto close_bracket = symbol(Symbol::kCloseBracket, "]");
const auto open_brace = symbol(Symbol::kOpenBrace, "{");
const auto close_brace = symbol(Symbol::kCloseBrace, "}");
const auto colon = symbol(Symbol::kColon, ":");
const auto minus_sign = symbol(Symbol::kMinus, "-", Show::kHidden);

// ---- durations ----

const x3::rule<struct DurationId, ast::DurationTerm> duration = "duration";
const auto duration_def =
    named("a duration such as 5m",
          located(TokenParser<Micros>(read_duration, "", Show::kAlways)[set<&ast::DurationTerm::value>] |
                  constant_ref[set<&ast::DurationTerm::value>]));

const x3::rule<struct DurationOrZeroId, ast::DurationTerm> duration_or_zero = "duration or zero";
const auto duration_or_zero_def =
    named("a duration such as 5m",
          located(TokenParser<Micros>(read_duration_or_zero, "", Show::kAlways)[set<&ast::DurationTerm::value>] |
                  constant_ref[set<&ast::DurationTerm::value>]));

// ---- literals ----

const x3::rule<struct SignedLiteralId, ast::Literal> signed_literal = "literal";
const auto signed_literal_def = literal[take] | minus_sign >> negative_number[take];

// ---- paths ----

struct PathStep {
  FieldPath::Step step;
  bool quoted = false;
  ast::Location where = {};  // of an index
};
/// A payload field that is named like a property of every event.
inline bool hides_property(const Token& token) {
  return token.kind == TokenKind::kQuoted && (token.text == "ts" || token.text == "type");
}
/// `LIMIT 1` on a new line: no field can be followed by a number, string or other name, so a value was left out before.
inline bool begins_clause(const Token& token) {
  const KeywordInfo& keyword = info(token.keyword);
  if (!token.starts_line || (!keyword.statement && keyword.clause == 0)) return false;
  const Token& next = (&token)[1];
  if (next.starts_line) return false;
  switch (next.kind) {
    case TokenKind::kWord:
      return next.keyword == Keyword::kNone;
    case TokenKind::kQuoted:
    case TokenKind::kString:
    case TokenKind::kInt:
    case TokenKind::kDouble:
    case TokenKind::kDuration:
    case TokenKind::kConstant:
      return true;
    default:
      return false;
  }
}
/// First in a path: words that mean something in conditions stand in back quotes.
inline std::optional<PathStep> read_first_step(const Token& token, Progress&) {
  if (!is_name(token) || info(token.keyword).condition || begins_clause(token)) return std::nullopt;
  return PathStep{token.text, hides_property(token)};
}
inline std::optional<PathStep> read_step(const Token& token, Progress&) {
  if (!is_name(token)) return std::nullopt;
  return PathStep{token.text, hides_property(token)};
}
/// The size is checked in add_step: what begins like an index may be a condition.
inline std::optional<PathStep> read_index(const Token& token, Progress&) {
  if (token.kind != TokenKind::kInt) return std::nullopt;
  constexpr std::uint64_t kLargest = std::uint64_t{1} << 62;
  const std::uint64_t index = std::min(std::get<std::uint64_t>(token.value), kLargest);
  return PathStep{static_cast<std::int64_t>(index), false, token.where};
}
inline std::optional<PathStep> read_negative_index(const Token& token, Progress& progress) {
  auto step = read_index(token, progress);
  if (step) step->step = -std::get<std::int64_t>(step->step);
  return step;
}

inline constexpr std::int64_t kLargestIndex = std::numeric_limits<std::int32_t>::max();

constexpr auto add_step = [](auto& context) {
  auto& ref = x3::_val(context);
  PathStep& step = x3::_attr(context);
  if (const auto* i = std::get_if<std::int64_t>(&step.step); i != nullptr && std::abs(*i) > kLargestIndex) {
    progress_of(context).error(step.where, "this index is too large");
  }
  ref.path.steps.push_back(std::move(step.step));
  ref.quoted = step.quoted;
};
const auto first_step = TokenParser<PathStep>(read_first_step, "a field", Show::kAlways);

// A rule of its own: after `BY dst` a bracket may also begin the condition.
const x3::rule<struct IndexId, PathStep> index = "index";
const auto index_def = open_bracket >> (TokenParser<PathStep>(read_index, "a whole number", Show::kAlways)[take] |
                                        (minus_sign >> TokenParser<PathStep>(read_negative_index, "a whole number",
                                                                             Show::kAlways)[take])) >>
                       close_bracket;

const auto next_steps = *(
    (symbol(Symbol::kDot, ".", Show::kHidden) >> TokenParser<PathStep>(read_step, "a field", Show::kAlways)[add_step]) |
    index[add_step]);

const x3::rule<struct PathId, ast::PathRef> path = "path";
const auto path_def =
    -(word(Keyword::kThis, Show::kHidden)[put<&ast::PathRef::from_this, true>] >> symbol(Symbol::kDot, ".")) >>
    first_step[add_step] >> next_steps;

/// Of KEY and BY.
const x3::rule<struct KeyFieldId, ast::KeyField> key_field = "key field";
const auto key_field_def = located(first_step[add_step] >> next_steps);

BOOST_SPIRIT_DEFINE(duration, duration_or_zero, signed_literal, index, path, key_field)

}  // namespace cepd::dsl::syntax
