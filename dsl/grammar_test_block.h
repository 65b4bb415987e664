#pragma once
/// EVENT, CONST and TEST (language.md sections 1, 2 and 8). Only for grammar.cc.

#include "dsl/grammar_expr.h"

namespace cepd::dsl::syntax {

// ---- EVENT, CONST ----

const x3::rule<struct FieldDeclId, ast::FieldDecl> field_decl = "field";
const auto field_decl_def = TokenParser<ast::Name>(read_any_word, "the name of a field",
                                                   Show::kAlways)[set<&ast::FieldDecl::name>] >>
                            TokenParser<ast::Name>(read_any_word,
                                                   "a type: bool, int, double, string, timestamp or duration",
                                                   Show::kAlways)[set<&ast::FieldDecl::type>] >>
                            -symbol(Symbol::kQuestion, "?", Show::kHidden)[put<&ast::FieldDecl::nullable, true>];

const x3::rule<struct EventDeclId, ast::EventDecl> event_decl = "EVENT";
const auto event_decl_def =
    located(word(Keyword::kEvent) >> type_name[set<&ast::EventDecl::name>] >> open_paren >>
            -(field_decl[add<&ast::EventDecl::fields>] % symbol(Symbol::kComma, ",")) >> close_paren);

const x3::rule<struct ConstValueId, Draft> const_value = "literal";
const auto const_value_def = located_at([](Draft& draft) -> ast::Location& { return draft.expr.where; },
                                        named("a literal", signed_literal[set_expr]));

const x3::rule<struct ConstDeclId, ast::ConstDecl> const_decl = "CONST";
const auto const_decl_def =
    located(word(Keyword::kConst) >> TokenParser<ast::Name>(
                                         [](const Token& token, Progress&) -> std::optional<ast::Name> {
                                           if (token.kind != TokenKind::kWord)
                                             return std::nullopt;  // after `$` there are no back quotes
                                           return ast::Name{token.text, token.where};
                                         },
                                         "the name of the constant", Show::kAlways)[set<&ast::ConstDecl::name>] >>
            symbol(Symbol::kEq, "=") >> const_value[set_condition<&ast::ConstDecl::value>]);

// ---- values ----

const x3::rule<struct TestValueId, ast::TestValue> test_value = "value";
const x3::rule<struct TestObjectId, ast::TestObject> test_object = "object";

const x3::rule<struct TestListId, ast::TestList> test_list = "list";
const auto test_list_def = symbol(Symbol::kOpenBracket, "[") >>
                           -(test_value[add<&ast::TestList::values>] % symbol(Symbol::kComma, ",")) >> close_bracket;

const auto test_value_def =
    named("a value", located(signed_literal[set<&ast::TestValue::node>] | constant_ref[set<&ast::TestValue::node>] |
                             test_list[set<&ast::TestValue::node>] | test_object[set<&ast::TestValue::node>]));

const x3::rule<struct TestFieldId, ast::TestField> test_field = "field";
const auto test_field_def = field_name[set<&ast::TestField::name>] >> colon >> test_value[set<&ast::TestField::value>];

const auto test_object_def = open_brace >>
                             -(test_field[add<&ast::TestObject::fields>] % symbol(Symbol::kComma, ",")) >> close_brace;

// ---- GIVEN, EXPECT ----

inline std::optional<EventTime> read_test_time(const Token& token, Progress&) {
  if (token.kind == TokenKind::kTimestamp) return std::get<EventTime>(token.value);
  if (token.kind == TokenKind::kOffset) return EventTime(std::get<Micros>(token.value));
  return std::nullopt;
}
const x3::rule<struct TestTimeId, ast::TestTime> test_time = "time";
const auto test_time_def =
    located(TokenParser<EventTime>(read_test_time, "a time such as @2m", Show::kAlways)[set<&ast::TestTime::value>]);

const x3::rule<struct GivenEventId, ast::GivenEvent> given_event = "event";
const auto given_event_def =
    located(type_name[set<&ast::GivenEvent::type>] >> test_time[set<&ast::GivenEvent::at>] >>
            -test_object[set<&ast::GivenEvent::fields>] >>
            -(word(Keyword::kTimes, Show::kHidden) >> count[set<&ast::GivenEvent::times>] >>
              -(word(Keyword::kEvery, Show::kHidden) >> duration[set<&ast::GivenEvent::every>])));

const x3::rule<struct GivenWatermarkId, ast::GivenWatermark> given_watermark = "WATERMARK";
const auto given_watermark_def = located(word(Keyword::kWatermark) >> test_time[set<&ast::GivenWatermark::at>]);

const x3::rule<struct ExpectedId, ast::Expected> expected = "expectation";
const auto expected_def = located((word(Keyword::kMatch)[put<&ast::Expected::kind, ast::ExpectKind::kMatch>] |
                                   word(Keyword::kTimeout)[put<&ast::Expected::kind, ast::ExpectKind::kTimeout>] |
                                   word(Keyword::kWindow)[put<&ast::Expected::kind, ast::ExpectKind::kWindow>]) >>
                                  -test_object[set<&ast::Expected::fields>] >> -test_time[set<&ast::Expected::at>]);

const x3::rule<struct StageId, ast::TestStage> stage = "GIVEN";
const auto stage_def =
    located(word(Keyword::kGiven) >>
            +(given_watermark[add<&ast::TestStage::given>] | given_event[add<&ast::TestStage::given>]) >>
            word(Keyword::kExpect) >> (word(Keyword::kNothing) | +expected[add<&ast::TestStage::expected>]));

const x3::rule<struct TestId, ast::Test> test = "TEST";
const auto test_def = located(
    word(Keyword::kTest) >>
    TokenParser<ast::Name>(read_name, "the name of the test", Show::kAlways)[set<&ast::Test::name>] >>
    word(Keyword::kFor) >>
    TokenParser<ast::Name>(read_name, "the name of a rule", Show::kAlways)[set<&ast::Test::rule>] >>
    -(word(Keyword::kMax, Show::kHidden) >> word(Keyword::kDelay) >> duration_or_zero[set<&ast::Test::max_delay>]) >>
    +stage[add<&ast::Test::stages>]);

BOOST_SPIRIT_DEFINE(field_decl, event_decl, const_value, const_decl, test_value, test_object, test_list, test_field,
                    test_time, given_event, given_watermark, expected, stage, test)

}  // namespace cepd::dsl::syntax
