#pragma once
/// Patterns (language.md section 3). Only for grammar.cc.

#include "dsl/grammar_expr.h"

namespace cepd::dsl::syntax {

/// Of a repeat; more would only be a slip of the finger.
inline constexpr std::uint64_t kMaxRepeat = 1'000'000;

inline std::optional<std::uint32_t> read_repeat(const Token& token, Progress& progress) {
  if (token.kind != TokenKind::kInt) return std::nullopt;
  auto repeat = std::get<std::uint64_t>(token.value);
  if (repeat > kMaxRepeat) {
    progress.error(token.where, "a repeat counts to 1000000 at most");
    repeat = kMaxRepeat;
  }
  return static_cast<std::uint32_t>(repeat);
}
const auto repeat_count = TokenParser<std::uint32_t>(read_repeat, "a whole number", Show::kAlways);

// ---- event ----

constexpr auto add_by = [](auto& context) { x3::_val(context).by.push_back(std::move(x3::_attr(context).path)); };

constexpr auto more_by = [](auto& context) {
  const std::size_t keys = progress_of(context).key_fields();
  x3::_pass(context) = keys == 0 || x3::_val(context).by.size() < keys;
};

/// `by_comma`: what stands between the fields of BY.
template <class Comma>
constexpr auto event_with(const Comma& by_comma) {
  return named("an event type",
               located((symbol(Symbol::kStar, "*", Show::kHidden) |
                        (type_name[add<&ast::EventPattern::types>] % symbol(Symbol::kPipe, "|", Show::kHidden))) >>
                       -(word(Keyword::kBy, Show::kHidden) >> (key_field[add_by] % by_comma)) >>
                       -(open_bracket >> expr[set_condition<&ast::EventPattern::condition>] >> close_bracket)));
}

const x3::rule<struct EventId, ast::EventPattern> event = "event";
const auto event_def = event_with(comma);

/// In a list of events a comma belongs to BY only until BY has as many fields as KEY.
const x3::rule<struct ListedEventId, ast::EventPattern> listed_event = "event";
const auto listed_event_def = event_with(x3::eps[more_by] >> comma);

// ---- quantifier ----

template <std::uint32_t Min, std::uint32_t Max>
constexpr auto set_range = [](auto& context) {
  ast::Quantifier& quantifier = x3::_val(context);
  quantifier.min = Min;
  if (Max != 0) {
    quantifier.max = Max;
  } else {
    quantifier.max.reset();
  }
};
constexpr auto set_exactly = [](auto& context) {
  ast::Quantifier& quantifier = x3::_val(context);
  quantifier.min = x3::_attr(context);
  quantifier.max = x3::_attr(context);
};
constexpr auto set_unbounded = [](auto& context) { x3::_val(context).max.reset(); };

/// After the count, whose location is set.
constexpr auto check_range = [](auto& context) {
  ast::Quantifier& read = x3::_attr(context);
  Progress& progress = progress_of(context);
  if (read.max && *read.max == 0) {
    progress.error(read.where, "a repeat of at most 0 events is none", "say NOT for an event that must not come");
    read.min = 1;
    read.max = 1;
  } else if (read.max && *read.max < read.min) {
    progress.error(read.where, "this repeat ends before it begins",
                   "write {" + std::to_string(*read.max) + "," + std::to_string(read.min) + "}");
    std::swap(read.min, *read.max);
  }
  x3::_val(context) = std::move(read);
};

const x3::rule<struct RangeId, ast::Quantifier> range = "count";
const auto range_def = located(
    symbol(Symbol::kQuestion, "?", Show::kHidden)[(set_range<0, 1>)] |
    symbol(Symbol::kPlus, "+", Show::kHidden)[(set_range<1, 0>)] |
    symbol(Symbol::kStar, "*", Show::kHidden)[(set_range<0, 0>)] |
    (symbol(Symbol::kOpenBrace, "{", Show::kHidden) >>
     ((repeat_count[set_exactly] >>
       -(symbol(Symbol::kComma, ",")[set_unbounded] >> -repeat_count[set<&ast::Quantifier::max>])) |
      (symbol(Symbol::kComma, ",")[put<&ast::Quantifier::min, 0U>] >> repeat_count[set<&ast::Quantifier::max>])) >>
     close_brace));

/// One modifier of a quantifier, with its place.
struct Modifier {
  Keyword keyword = Keyword::kNone;
  std::optional<ast::EventPattern> until;
  ast::Location where;
};

const x3::rule<struct ModifierId, Modifier> modifier = "modifier";
const auto modifier_def = located(
    word(Keyword::kConsecutive, Show::kHidden)[put<&Modifier::keyword, Keyword::kConsecutive>] |
    word(Keyword::kCombinations, Show::kHidden)[put<&Modifier::keyword, Keyword::kCombinations>] |
    word(Keyword::kGreedy, Show::kHidden)[put<&Modifier::keyword, Keyword::kGreedy>] |
    (word(Keyword::kUntil, Show::kHidden)[put<&Modifier::keyword, Keyword::kUntil>] >> event[set<&Modifier::until>]));

constexpr auto add_modifier = [](auto& context) {
  ast::Quantifier& quantifier = x3::_val(context);
  Modifier& read = x3::_attr(context);
  Progress& progress = progress_of(context);
  bool again = false;
  switch (read.keyword) {
    case Keyword::kConsecutive:
      again = std::exchange(quantifier.consecutive, true);
      break;
    case Keyword::kCombinations:
      again = std::exchange(quantifier.combinations, true);
      break;
    case Keyword::kGreedy:
      again = std::exchange(quantifier.greedy, true);
      break;
    default:
      again = quantifier.until.has_value();
      quantifier.until = std::move(read.until);
      break;
  }
  if (again) {
    progress.error(read.where, std::string(info(read.keyword).text) + " stands here a second time", "leave one out");
  } else if (quantifier.consecutive && quantifier.combinations &&
             (read.keyword == Keyword::kConsecutive || read.keyword == Keyword::kCombinations)) {
    progress.error(read.where, "CONSECUTIVE and COMBINATIONS exclude each other", "leave one out");
  }
  if (quantifier.modifiers_where.end == 0) quantifier.modifiers_where.begin = read.where.begin;
  quantifier.modifiers_where.end = read.where.end;
};

const x3::rule<struct QuantifierId, ast::Quantifier> quantifier = "quantifier";
const auto quantifier_def = range[check_range] >> *modifier[add_modifier];

// ---- link ----

struct LinkBound {
  bool after = false;
  ast::DurationTerm duration;
  ast::Location where;
};
const x3::rule<struct LinkBoundId, LinkBound> link_bound = "bound";
const auto link_bound_def = located(
    (word(Keyword::kWithin, Show::kHidden) | word(Keyword::kAfter, Show::kHidden)[put<&LinkBound::after, true>]) >>
    duration[set<&LinkBound::duration>]);

constexpr auto add_link_bound = [](auto& context) {
  LinkBound& bound = x3::_attr(context);
  auto& target = bound.after ? x3::_val(context).after : x3::_val(context).within;
  if (target) {
    progress_of(context).error(bound.where,
                               std::string(bound.after ? "AFTER" : "WITHIN") + " stands in this link a second time",
                               "leave one out");
  }
  target = std::move(bound.duration);
};

const x3::rule<struct LinkId, ast::Link> link = "link";
const auto link_def = located(
    ((word(Keyword::kThen) >> -word(Keyword::kAny, Show::kHidden)[put<&ast::Link::kind, ast::LinkKind::kThenAny>]) |
     word(Keyword::kNext)[put<&ast::Link::kind, ast::LinkKind::kNext>]) >>
    *link_bound[add_link_bound]);

// ---- element, AND, OR, sequence ----

const x3::rule<struct SequenceId, ast::Sequence> sequence = "sequence";

/// In parentheses: only there a sequence has its own bound.
const x3::rule<struct GroupId, ast::Sequence> group = "group";
const auto group_def = located(open_paren >> sequence[take] >>
                               -(word(Keyword::kWithin) >> duration[set<&ast::Sequence::within>]) >> close_paren);

constexpr auto set_group = [](auto& context) {
  x3::_val(context).item = std::make_shared<const ast::Sequence>(std::move(x3::_attr(context)));
};

const x3::rule<struct ElementId, ast::Element> element = "element";
const auto element_def =
    named("an event type",
          located(-word(Keyword::kNot, Show::kHidden)[put<&ast::Element::negated, true>] >>
                  (event[set<&ast::Element::item>] | group[set_group]) >> -quantifier[set<&ast::Element::quantifier>] >>
                  -(word(Keyword::kAs, Show::kHidden) >> element_name[set<&ast::Element::as>])));

const x3::rule<struct BothId, ast::Both> both = "members of AND";
const auto both_def = located(element[add<&ast::Both::members>] % word(Keyword::kAnd, Show::kHidden));

const x3::rule<struct ChoiceId, ast::Choice> choice = "alternatives";
const auto choice_def = located(both[add<&ast::Choice::alternatives>] % word(Keyword::kOr, Show::kHidden));

constexpr auto add_first_step = [](auto& context) {
  x3::_val(context).steps.push_back({{}, std::move(x3::_attr(context))});
};

const x3::rule<struct StepId, ast::Step> step = "step";
const auto step_def = link[set<&ast::Step::link>] >> choice[set<&ast::Step::choice>];

const auto sequence_def = located(choice[add_first_step] >> *step[add<&ast::Sequence::steps>]);

BOOST_SPIRIT_DEFINE(event, listed_event, range, modifier, quantifier, link_bound, link, sequence, group, element, both,
                    choice, step)

}  // namespace cepd::dsl::syntax
