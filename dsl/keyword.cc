#include "dsl/keyword.h"

#include <algorithm>
#include <string>
#include <unordered_map>

#include "dsl/parse.h"

namespace cepd::dsl {
namespace syntax {
namespace {

constexpr KeywordInfo plain(Keyword keyword, std::string_view text) { return {keyword, text}; }
constexpr KeywordInfo name(Keyword keyword, std::string_view text, std::string_view form = {}) {
  return {keyword, text, true, false, false, 0, form};
}
constexpr KeywordInfo both(Keyword keyword, std::string_view text) { return {keyword, text, true, true}; }
constexpr KeywordInfo condition(Keyword keyword, std::string_view text) { return {keyword, text, false, true}; }
constexpr KeywordInfo statement(Keyword keyword, std::string_view text, std::string_view form = {}) {
  return {keyword, text, true, false, true, 0, form};
}
constexpr KeywordInfo clause(Keyword keyword, std::string_view text, int place, std::string_view form = {}) {
  return {keyword, text, true, false, false, place, form};
}

}  // namespace

constexpr std::array<KeywordInfo, 62> kKeywords = {{
    plain(Keyword::kNone, ""),
    both(Keyword::kAnd, "AND"),
    both(Keyword::kOr, "OR"),
    both(Keyword::kNot, "NOT"),
    name(Keyword::kThen, "THEN"),
    name(Keyword::kNext, "NEXT"),
    name(Keyword::kAny, "ANY"),
    clause(Keyword::kWithin, "WITHIN", 3),
    clause(Keyword::kAfter, "AFTER", 7, "AFTER MATCH NO SKIP, SKIP PAST LAST, SKIP TO NEXT or SKIP TO FIRST name"),
    name(Keyword::kAs, "AS"),
    name(Keyword::kUntil, "UNTIL"),
    clause(Keyword::kUnless, "UNLESS", 4),
    name(Keyword::kGreedy, "GREEDY"),
    name(Keyword::kConsecutive, "CONSECUTIVE"),
    name(Keyword::kCombinations, "COMBINATIONS"),
    clause(Keyword::kMatch, "MATCH", 2),
    clause(Keyword::kWhere, "WHERE", 5),
    clause(Keyword::kHaving, "HAVING", 6),
    clause(Keyword::kEmit, "EMIT", 8),
    name(Keyword::kInto, "INTO"),
    clause(Keyword::kLimit, "LIMIT", 9, "LIMIT 1 PER 1h"),
    clause(Keyword::kLabels, "LABELS", 10, "LABELS severity: \"warning\", team: \"checkout\""),
    clause(Keyword::kDo, "DO", 11, "DO alert(\"text\"), log(\"text\")"),
    clause(Keyword::kOn, "ON", 12, "ON TIMEOUT EMIT user_id DO alert(\"text\")"),
    clause(Keyword::kKey, "KEY", 1),
    name(Keyword::kBy, "BY"),
    clause(Keyword::kFrom, "FROM", 1),
    clause(Keyword::kWindow, "WINDOW", 2),
    statement(Keyword::kEvent, "EVENT", "EVENT cart_add (user_id string, price double?)"),
    statement(Keyword::kConst, "CONST", "CONST max_gap = 5m"),
    statement(Keyword::kRule, "RULE"),
    statement(Keyword::kStream, "STREAM"),
    statement(Keyword::kTable, "TABLE"),
    statement(Keyword::kTest, "TEST",
              "TEST first_case FOR cart_rescue GIVEN cart_add @0s {user_id: \"u1\"} EXPECT NOTHING"),
    name(Keyword::kExpect, "EXPECT", "EXPECT MATCH {user_id: \"u1\"} @2m, or EXPECT NOTHING"),
    name(Keyword::kGiven, "GIVEN", "GIVEN cart_add @0s {user_id: \"u1\"}"),
    name(Keyword::kWatermark, "WATERMARK"),
    condition(Keyword::kIn, "IN"),
    condition(Keyword::kIs, "IS"),
    condition(Keyword::kBetween, "BETWEEN"),
    condition(Keyword::kMatches, "MATCHES"),
    condition(Keyword::kNull, "NULL"),
    condition(Keyword::kTrue, "TRUE"),
    condition(Keyword::kFalse, "FALSE"),
    condition(Keyword::kPast, "PAST"),
    condition(Keyword::kThis, "THIS"),
    plain(Keyword::kDisabled, "DISABLED"),
    plain(Keyword::kShadow, "SHADOW"),
    plain(Keyword::kPer, "PER"),
    plain(Keyword::kTimeout, "TIMEOUT"),
    plain(Keyword::kNo, "NO"),
    plain(Keyword::kSkip, "SKIP"),
    plain(Keyword::kConsume, "CONSUME"),
    plain(Keyword::kLast, "LAST"),
    plain(Keyword::kTo, "TO"),
    plain(Keyword::kFirst, "FIRST"),
    plain(Keyword::kFor, "FOR"),
    plain(Keyword::kMax, "MAX"),
    plain(Keyword::kDelay, "DELAY"),
    plain(Keyword::kTimes, "TIMES"),
    plain(Keyword::kEvery, "EVERY"),
    plain(Keyword::kNothing, "NOTHING"),
}};

namespace {

constexpr bool in_order() {
  for (std::size_t i = 0; i < kKeywords.size(); ++i) {
    if (static_cast<std::size_t>(kKeywords[i].keyword) != i || (i > 0 && kKeywords[i].text.empty())) return false;
  }
  return true;
}
static_assert(in_order(), "the table is indexed by Keyword");

}  // namespace

Keyword find_keyword(std::string_view word) {
  static const auto* const by_text = [] {
    auto* map = new std::unordered_map<std::string_view, Keyword>;
    for (const KeywordInfo& row : kKeywords) {
      if (row.keyword != Keyword::kNone) map->emplace(row.text, row.keyword);
    }
    return map;
  }();
  constexpr std::size_t kLongest = 12;  // COMBINATIONS
  std::array<char, kLongest> upper{};
  if (word.size() > kLongest) return Keyword::kNone;
  std::transform(word.begin(), word.end(), upper.begin(),
                 [](char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c; });
  const auto found = by_text->find(std::string_view(upper.data(), word.size()));
  return found == by_text->end() ? Keyword::kNone : found->second;
}

bool is_reserved_in_condition(std::string_view word) { return info(find_keyword(word)).condition; }

}  // namespace syntax

const std::vector<std::string>& keywords() {
  static const auto* const all = [] {
    auto* list = new std::vector<std::string>;
    for (const syntax::KeywordInfo& row : syntax::kKeywords) {
      if (row.keyword != syntax::Keyword::kNone) list->emplace_back(row.text);
    }
    return list;
  }();
  return *all;
}

bool is_reserved(std::string_view word) { return syntax::info(syntax::find_keyword(word)).name; }

}  // namespace cepd::dsl
