#pragma once
/// RULE (language.md sections 1 and 5). Only for grammar.cc.

#include "dsl/grammar_pattern.h"

namespace cepd::dsl::syntax {

// ---- input ----

const x3::rule<struct FromId, ast::From> from = "FROM";
const auto from_def = located(clause(Keyword::kFrom) >> (listed_event[add<&ast::From::inputs>] % comma));

constexpr auto set_from = [](auto& context) {
  ast::From& read = x3::_attr(context);
  // `FROM *` alone is the whole stream; `*` with a condition is an input like others.
  const ast::EventPattern& first = read.inputs.front();
  if (read.inputs.size() == 1 && first.types.empty() && first.by.empty() && !first.condition) {
    read.any = true;
    read.inputs.clear();
  }
  x3::_val(context).from = std::move(read);
};

// ---- output ----

const x3::rule<struct ItemId, ast::Item> item = "item";
const auto item_def = located(expr[set_condition<&ast::Item::value>] >>
                              -(word(Keyword::kAs, Show::kHidden) >> any_word[set<&ast::Item::as>]));

const x3::rule<struct EmitId, ast::Emit> emit = "EMIT";
const auto emit_def = located(clause(Keyword::kEmit) >> (item[add<&ast::Emit::items>] % comma) >>
                              -(word(Keyword::kInto, Show::kClause) >> type_name[set<&ast::Emit::into>]));

const x3::rule<struct LimitId, ast::Limit> limit = "LIMIT";
const auto limit_def = located(clause(Keyword::kLimit) >> count[set<&ast::Limit::count>] >> word(Keyword::kPer) >>
                               duration[set<&ast::Limit::per>]);

const x3::rule<struct LabelId, ast::Label> label = "label";
const auto label_def = any_word[set<&ast::Label::name>] >> colon >> expr[set_condition<&ast::Label::value>];

// A rule of its own: only with the colon it is a name.
const x3::rule<struct ArgumentNameId, ast::Name> argument_name = "argument name";
const auto argument_name_def = any_word[take] >> symbol(Symbol::kColon, ":", Show::kHidden);

const x3::rule<struct ArgumentId, ast::Argument> argument = "argument";
const auto argument_def = -argument_name[set<&ast::Argument::name>] >> expr[set_condition<&ast::Argument::value>];

const x3::rule<struct ActionId, ast::Action> action = "action";
const auto action_def =
    located(TokenParser<ast::Name>(read_any_word, "an action", Show::kAlways)[set<&ast::Action::name>] >> open_paren >>
            -(argument[add<&ast::Action::arguments>] % comma) >> close_paren);

// ---- AFTER MATCH ----

constexpr auto policy = [](Keyword keyword) { return word(keyword); };
template <ast::Policy Policy>
constexpr auto set_policy = put<&ast::AfterMatch::policy, Policy>;

const x3::rule<struct AfterMatchId, ast::AfterMatch> after_match = "AFTER MATCH";
const auto after_match_def = located(
    clause(Keyword::kAfter) >> word(Keyword::kMatch) >>
    (word(Keyword::kConsume)[set_policy<ast::Policy::kConsume>] |
     (word(Keyword::kNo) >> word(Keyword::kSkip)[set_policy<ast::Policy::kNoSkip>]) |
     (word(Keyword::kSkip) >> ((word(Keyword::kPast) >> word(Keyword::kLast)[set_policy<ast::Policy::kSkipPastLast>]) |
                               (word(Keyword::kTo) >> (word(Keyword::kNext)[set_policy<ast::Policy::kSkipToNext>] |
                                                       (word(Keyword::kFirst)[set_policy<ast::Policy::kSkipToFirst>] >>
                                                        element_name[set<&ast::AfterMatch::element>]) |
                                                       (word(Keyword::kLast)[set_policy<ast::Policy::kSkipToLast>] >>
                                                        element_name[set<&ast::AfterMatch::element>])))))));

// ---- ON TIMEOUT ----

const x3::rule<struct OnTimeoutId, ast::OnTimeout> on_timeout = "ON TIMEOUT";
const auto on_timeout_def =
    located(clause(Keyword::kOn) >> word(Keyword::kTimeout) >> -emit[set<&ast::OnTimeout::emit>] >>
            -(clause(Keyword::kDo) >> (action[add<&ast::OnTimeout::actions>] % comma)));

// ---- the whole ----

const x3::rule<struct HeadId, ast::Rule> head = "RULE";
const auto head_def = word(Keyword::kRule) >>
                      TokenParser<ast::Name>(read_name, "the name of the rule", Show::kAlways)[set<&ast::Rule::name>] >>
                      -(word(Keyword::kDisabled, Show::kHidden)[put<&ast::Rule::status, ast::RuleStatus::kDisabled>] |
                        word(Keyword::kShadow, Show::kHidden)[put<&ast::Rule::status, ast::RuleStatus::kShadow>]) >>
                      -TokenParser<std::string>(read_string, "a description",
                                                Show::kHidden)[set<&ast::Rule::description>];

const x3::rule<struct InputId, ast::Rule> input = "input";  // goes on with a rule that has a head
const auto key_fields = clause(Keyword::kKey) >> (key_field[add<&ast::Rule::key>] % comma);
const auto input_def = head[take] >> -((from[set_from] >> -key_fields) | (key_fields >> -from[set_from]));

const x3::rule<struct MatchId, ast::Rule> match = "match";
const auto match_def = input[take] >> clause(Keyword::kMatch) >> sequence[set<&ast::Rule::pattern>] >>
                       -(clause(Keyword::kWithin) >> duration[set<&ast::Rule::within>]) >>
                       -(clause(Keyword::kUnless) >> (listed_event[add<&ast::Rule::unless>] % comma)) >>
                       -(clause(Keyword::kWhere) >> expr[set_condition<&ast::Rule::where_condition>]) >>
                       -(clause(Keyword::kHaving) >> expr[set_condition<&ast::Rule::having>]);

const x3::rule<struct RuleId, ast::Rule> rule = "rule";
const auto rule_def = located(
    match[take] >> -after_match[set<&ast::Rule::after_match>] >> -emit[set<&ast::Rule::emit>] >>
    -limit[set<&ast::Rule::limit>] >> -(clause(Keyword::kLabels) >> (label[add<&ast::Rule::labels>] % comma)) >>
    -(clause(Keyword::kDo) >> (action[add<&ast::Rule::actions>] % comma)) >> -on_timeout[set<&ast::Rule::on_timeout>]);

const x3::rule<struct BarePatternId, ast::Rule> bare_pattern = "pattern";
const auto bare_pattern_def =
    located(sequence[set<&ast::Rule::pattern>] >> -(clause(Keyword::kWithin) >> duration[set<&ast::Rule::within>]));

BOOST_SPIRIT_DEFINE(from, item, emit, limit, label, argument_name, argument, action, after_match, on_timeout, head,
                    input, match, rule, bare_pattern)

}  // namespace cepd::dsl::syntax
