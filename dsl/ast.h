#pragma once
/// The syntax tree of rule files: what was written, not yet what it means. Made by parse.h, printed by print.h, checked
/// by check.h. Trees are immutable once parsed; copies are cheap where nodes are shared pointers.

#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "base/path.h"
#include "base/time.h"

namespace cepd::dsl::ast {

/// Byte offsets [begin, end) into the file's text.
struct Location {
  std::uint32_t begin = 0;
  std::uint32_t end = 0;
};

struct Name {
  std::string text;
  Location where;
};

// ---- expressions (language.md section 4) ----

struct Expr;
using ExprPtr = std::shared_ptr<const Expr>;

struct Null {};
struct Literal {
  std::variant<Null, bool, std::int64_t, double, std::string, EventTime, Micros> value;
};
/// `$max_amount`
struct ConstantRef {
  std::string name;
};
/// `price`, `cart.price`, `this.cart.price`, `n[-1].f`, `tags[0]`
struct PathRef {
  bool from_this = false;
  FieldPath path;
  bool quoted = false;  // the last name stands in back quotes: `ts` and `type` are then payload fields
};
enum class UnaryOp : std::uint8_t { kNot, kNegate };
struct Unary {
  UnaryOp op;
  ExprPtr operand;
};
enum class BinaryOp : std::uint8_t { kOr, kAnd, kEq, kNe, kLt, kLe, kGt, kGe, kAdd, kSub, kMul, kDiv, kMod };
struct Binary {
  BinaryOp op;
  ExprPtr left, right;
};
struct In {
  ExprPtr operand;
  std::vector<ExprPtr> list;
  bool negated = false;
};
struct Between {
  ExprPtr operand, low, high;
  bool negated = false;
};
struct Matches {
  ExprPtr operand;
  ExprPtr pattern;  // a string literal or a constant
  bool negated = false;
};
struct IsNull {
  ExprPtr operand;
  bool negated = false;
};
/// `count(n)`, `prev(price)`, `lower(item)`
struct Call {
  Name function;
  std::vector<ExprPtr> arguments;
};

struct Expr {
  std::variant<Literal, ConstantRef, PathRef, Unary, Binary, In, Between, Matches, IsNull, Call> node;
  Location where;
};

// ---- patterns (section 3) ----

/// `5m` or `$max_gap`
struct DurationTerm {
  std::variant<Micros, ConstantRef> value;
  Location where;
};

struct EventPattern {
  std::vector<Name> types;  // empty: `*`
  std::vector<FieldPath> by;
  ExprPtr condition;  // null: none
  Location where;
};

struct Quantifier {
  std::uint32_t min = 1;
  std::optional<std::uint32_t> max;  // none: unbounded
  bool consecutive = false;
  bool combinations = false;
  bool greedy = false;
  std::optional<EventPattern> until;
  Location where;            // of the count: `{2,3}`
  Location modifiers_where;  // of the modifiers, where there are any
};

enum class LinkKind : std::uint8_t { kThen, kThenAny, kNext };
struct Link {
  LinkKind kind = LinkKind::kThen;
  std::optional<DurationTerm> within, after;
  Location where;
};

struct Sequence;
struct Element {
  bool negated = false;
  std::variant<EventPattern, std::shared_ptr<const Sequence>> item;  // a type, or a group in parentheses
  std::optional<Quantifier> quantifier;
  std::optional<Name> as;
  Location where;
};
/// One element, or several joined by AND.
struct Both {
  std::vector<Element> members;
  Location where;
};
/// One alternative, or several joined by OR.
struct Choice {
  std::vector<Both> alternatives;
  Location where;
};
struct Step {
  Link link;  // the one written before the choice; meaningless for the first
  Choice choice;
};
struct Sequence {
  std::vector<Step> steps;
  std::optional<DurationTerm> within;  // of a group: `( … WITHIN 5s )`; never set on a rule's own sequence
  Location where;
};

// ---- statements (sections 1, 5, 8) ----

struct KeyField {
  FieldPath path;
  Location where;
  bool quoted = false;  // as of PathRef
};
struct Item {  // of EMIT
  ExprPtr value;
  std::optional<Name> as;
  Location where;
};
struct Emit {
  std::vector<Item> items;
  std::optional<Name> into;
  Location where;
};
struct Label {
  Name name;
  ExprPtr value;
};
struct Argument {  // `percent: 10` or a bare positional one
  std::optional<Name> name;
  ExprPtr value;
};
struct Action {
  Name name;
  std::vector<Argument> arguments;
  Location where;
};
enum class Policy : std::uint8_t { kConsume, kNoSkip, kSkipPastLast, kSkipToNext, kSkipToFirst, kSkipToLast };
struct AfterMatch {
  Policy policy = Policy::kConsume;
  std::optional<Name> element;  // of SKIP TO FIRST / LAST
  Location where;
};
struct Limit {
  std::uint64_t count = 1;
  DurationTerm per;
  Location where;
};
struct OnTimeout {
  std::optional<Emit> emit;
  std::vector<Action> actions;
  Location where;
};
struct From {
  bool any = false;  // FROM *
  std::vector<EventPattern> inputs;
  Location where;
};

enum class RuleStatus : std::uint8_t { kEnabled, kDisabled, kShadow };
struct Rule {
  Name name;
  bool bare = false;  // a bare pattern named after its file
  RuleStatus status = RuleStatus::kEnabled;
  std::optional<std::string> description;
  std::optional<From> from;
  std::vector<KeyField> key;
  Sequence pattern;
  std::optional<DurationTerm> within;
  std::vector<EventPattern> unless;
  ExprPtr where_condition;
  ExprPtr having;
  std::optional<AfterMatch> after_match;
  std::optional<Emit> emit;
  std::optional<Limit> limit;
  std::vector<Label> labels;
  std::vector<Action> actions;
  std::optional<OnTimeout> on_timeout;
  Location where;
};

struct FieldDecl {
  Name name;
  Name type;  // checked later, so that a near miss gets its suggestion
  bool nullable = false;
};
struct EventDecl {
  Name name;
  std::vector<FieldDecl> fields;
  Location where;
};
struct ConstDecl {
  Name name;
  ExprPtr value;  // a literal
  Location where;
};

/// A JSON-like value in a TEST: literal, list or object. Names before a colon need no quotes.
struct TestValue;
struct TestList {
  std::vector<TestValue> values;
};
struct TestField;
struct TestObject {
  std::vector<TestField> fields;
};
struct TestValue {
  std::variant<Literal, ConstantRef, TestList, TestObject> node;
  Location where;
};
struct TestField {
  Name name;
  TestValue value;
};
struct TestTime {  // `@2m` after the epoch, or `@"2026-01-05T22:00:00Z"`
  EventTime value;
  Location where;
};
struct GivenEvent {
  Name type;
  TestTime at;
  TestObject fields;
  std::uint64_t times = 1;            // TIMES n
  std::optional<DurationTerm> every;  // EVERY d
  Location where;
};
struct GivenWatermark {
  TestTime at;
  Location where;
};
enum class ExpectKind : std::uint8_t { kMatch, kTimeout, kWindow };
struct Expected {
  ExpectKind kind = ExpectKind::kMatch;
  TestObject fields;
  std::optional<TestTime> at;
  Location where;
};
/// GIVEN … EXPECT …; EXPECT NOTHING has no expected lines.
struct TestStage {
  std::vector<std::variant<GivenEvent, GivenWatermark>> given;
  std::vector<Expected> expected;
  Location where;
};
struct Test {
  Name name;
  Name rule;
  std::optional<DurationTerm> max_delay;
  std::vector<TestStage> stages;
  Location where;
};

using Statement = std::variant<EventDecl, ConstDecl, Rule, Test>;

/// What statements that could not be read would have declared, as far as their beginnings tell: naming it is no
/// mistake.
struct Unread {
  std::set<std::string, std::less<>> types, constants, rules;
  bool more_types = false, more_constants = false, more_rules = false;  // whose names are not known
};

struct File {
  std::string name;  // as given to parse()
  std::string text;  // what was parsed; Locations point into it
  std::vector<Statement> statements;
  Unread unread;
};

}  // namespace cepd::dsl::ast
