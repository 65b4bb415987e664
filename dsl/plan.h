#pragma once
/// What a set of rule files means, checked: names resolved, constants filled in, conditions given to the elements they
/// belong to. Made by check.h, compiled by nfa/compile.h. Immutable; safe to share between threads.
///
/// Rules that a program wrote are many and alike. What is equal in them is one object in memory (dsl/share.h):
/// expressions, so that equal conditions have equal pointers, and lists. `==` of what holds an expression compares the
/// pointer.

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "base/action_schema.h"
#include "base/field_plan.h"
#include "base/ids.h"
#include "base/list.h"
#include "base/match.h"
#include "base/value.h"

namespace re2 {
class RE2;
}

namespace cepd::dsl::plan {

// ---- expressions, ready to evaluate (nfa/eval.h) ----

struct Expr;
using ExprPtr = std::shared_ptr<const Expr>;

/// Index into Rule::elements.
enum class ElementId : std::uint16_t {};

/// The event a field is read from.
enum class Subject : std::uint8_t {
  kTested,    ///< the event under test; in HAVING, EMIT and DO there is none (null)
  kPrevious,  ///< the event bound just before the tested one in the same match, whatever its element: prev(f)
  kFirst,     ///< first event bound to `element`
  kLast,      ///< last event bound to `element`: `n.f`
  kIndex,     ///< n[i].f, negative from the end
};

/// What of the event: a payload field, its event time (`ts`), its type name (`type`) or whether a rule has made it.
enum class Property : std::uint8_t { kField, kTime, kType, kMade };

struct FieldRef {
  Subject subject = Subject::kTested;
  ElementId element{};     ///< of kFirst, kLast, kIndex
  std::int64_t index = 0;  ///< of kIndex
  Property property = Property::kField;
  FieldPath path;  ///< of kField
  /// Where the field stands by event type, sorted by type; a type that is not in it has no such field (null).
  /// kOtherType stands for all types that are not in the list.
  List<std::pair<TypeId, std::uint32_t>> slots;

  bool operator==(const FieldRef&) const = default;
};

/// The value of the rule's KEY field number `index`.
struct KeyRef {
  std::size_t index = 0;
  bool operator==(const KeyRef&) const = default;
};
/// The value of EMIT item number `index` (in DO).
struct EmitRef {
  std::size_t index = 0;
  bool operator==(const EmitRef&) const = default;
};
/// A literal; owns its text.
struct Constant {
  Kind kind = Kind::kNull;
  std::string text;  // of kString
  Value scalar;      // of all other kinds
  Value value() const { return kind == Kind::kString ? Value::string(text) : scalar; }
  bool operator==(const Constant& other) const;  ///< not 1 and 1.0, nor 0.0 and -0.0
};

enum class AggregateKind : std::uint8_t { kCount, kSum, kAvg, kMin, kMax, kStddev, kPercentile, kDistinct, kCollect };
/// Over the events bound to `element` (in its own [ ]: those it took so far, without the tested one).
struct Aggregate {
  AggregateKind kind = AggregateKind::kCount;
  ElementId element{};
  std::optional<FieldRef> field;  ///< its subject is not used; none only for count(n)
  double percentile = 0;          ///< of kPercentile, 0..100
  bool operator==(const Aggregate&) const = default;
};

enum class UnaryOp : std::uint8_t { kNot, kNegate };
struct Unary {
  UnaryOp op;
  ExprPtr operand;
  bool operator==(const Unary&) const = default;
};
enum class BinaryOp : std::uint8_t { kOr, kAnd, kEq, kNe, kLt, kLe, kGt, kGe, kAdd, kSub, kMul, kDiv, kMod };
struct Binary {
  BinaryOp op;
  ExprPtr left, right;
  bool operator==(const Binary&) const = default;
};
struct In {
  ExprPtr operand;
  std::vector<ExprPtr> list;
  bool negated = false;
  bool operator==(const In&) const = default;
};
struct Between {
  ExprPtr operand, low, high;
  bool negated = false;
  bool operator==(const Between&) const = default;
};
struct Matches {
  ExprPtr operand;
  std::shared_ptr<const re2::RE2> pattern;
  bool negated = false;
  bool operator==(const Matches&) const = default;
};
struct IsNull {
  ExprPtr operand;
  bool negated = false;
  bool operator==(const IsNull&) const = default;
};

enum class Function : std::uint8_t {
  kAbs,
  kRound,
  kFloor,
  kCeil,
  kSqrt,
  kPow,
  kLn,
  kExp,
  kLeast,
  kGreatest,
  kCoalesce,
  kIf,
  kLower,
  kUpper,
  kTrim,
  kLength,
  kSubstr,
  kConcat,
  kContains,
  kStartsWith,
  kEndsWith,
  kSplitPart,
  kHour,
  kMinute,
  kDayOfWeek,
  kDate,
  kHaversineKm,
  kHash,
};
struct FunctionCall {
  Function function;
  std::vector<ExprPtr> arguments;
  bool operator==(const FunctionCall&) const = default;
};
/// A string with `{name}` filled in: literal parts and expressions rendered by append_text, in order. Gives a string.
struct Template {
  std::vector<std::variant<std::string, ExprPtr>> parts;
  bool operator==(const Template&) const = default;
};

struct Expr {
  std::variant<Constant, FieldRef, KeyRef, EmitRef, Aggregate, Unary, Binary, In, Between, Matches, IsNull,
               FunctionCall, Template>
      node;
};

/// The function table: also for suggestions and editor support.
struct FunctionInfo {
  std::string_view name;
  Function function;
  unsigned min_arguments, max_arguments;
  std::optional<Kind> result;  ///< when it does not depend on the arguments
};
const std::vector<FunctionInfo>& functions();

// ---- rules ----

enum class Contiguity : std::uint8_t { kSkipTillNext, kSkipTillAny, kStrict };  // THEN, THEN ANY, NEXT

inline constexpr std::uint32_t kUnbounded = UINT32_MAX;
/// Most elements a rule may have, NOTs and UNTILs included.
inline constexpr std::size_t kMaxElements = 64;
/// Most groups, and most ways to go on from one place that exclude each other (Rule::pattern).
inline constexpr std::size_t kMaxGroups = 32;
inline constexpr std::size_t kMaxBranches = 64;

/// A set of elements of one rule, one bit each.
using ElementSet = std::uint64_t;
constexpr ElementSet element_bit(ElementId id) { return ElementSet{1} << static_cast<unsigned>(id); }

/// Which events, before any condition is looked at.
struct Types {
  bool any = false;  ///< `*`: all that come from sources
  List<TypeId> ids;  ///< sorted; beside `any` those that rules make
  bool operator==(const Types&) const = default;
};

/// Type, key and condition of an event in a pattern, in FROM or in UNLESS.
struct EventTest {
  Types types;
  List<FieldRef> key;        ///< one for each KEY field: from BY, else KEY itself
  List<ExprPtr> conditions;  ///< all must be true: of [ ] first, then the WHERE parts that belong here
  bool operator==(const EventTest&) const = default;
};

/// What the events that an element accepts do.
enum class Role : std::uint8_t {
  kTake,   ///< they are bound to it
  kNot,    ///< none of them may come
  kUntil,  ///< they end the repeat that the UNTIL belongs to
};

/// A WHERE part over several members of one AND: tested when the last of them comes.
struct JointCondition {
  ExprPtr condition;
  ElementSet others = 0;  ///< the other members it names: not tested before all of them are bound
  bool operator==(const JointCondition&) const = default;
};

struct Element {
  std::string name;  ///< in output: its AS name, its type, or `A#1`; of NOT and UNTIL for explain only
  EventTest test;
  Role role = Role::kTake;
  List<JointCondition> joint;
};

// ---- the pattern: a tree whose leaves are slots and NOTs ----

/// How an event is reached from the one bound before it.
struct Link {
  Contiguity contiguity = Contiguity::kSkipTillNext;
  std::optional<Micros> within;  ///< at most this long after it
  Micros after{0};               ///< at least this long after it; what comes earlier is skipped
  bool operator==(const Link&) const = default;
};

/// Index into Rule::slots.
enum class SlotId : std::uint16_t {};

/// A place where events are taken: an element, an OR of single elements, or an AND of these.
struct Slot {
  /// One event is taken for each member, in any order (several: AND). A member lists its alternatives; an event goes to
  /// the first of them, in pattern order, that accepts it.
  std::vector<ElementSet> members;
  std::uint32_t min = 1, max = 1;                ///< repeats (kUnbounded); of an AND 1 and 1
  Contiguity again = Contiguity::kSkipTillNext;  ///< how repeats, or members, follow one another
  bool greedy = false;                           ///< what follows never gets an event that it could take
  std::optional<ElementId> until;
  bool operator==(const Slot&) const = default;
};

struct Step;
/// Steps in their order; a `NOT` counts as one.
struct Sequence {
  List<Step> steps;
  bool operator==(const Sequence&) const;
};
/// NOTs between two links: `NOT (a OR b)` is several.
struct NotStep {
  ElementId element{};
  bool operator==(const NotStep&) const = default;
};
/// Parentheses that matter: repeated, or with a bound of their own.
struct Group {
  Sequence body;
  std::uint32_t min = 1, max = 1;
  Contiguity again = Contiguity::kSkipTillNext;  ///< from the last event of a repeat to the first of the next
  std::optional<Micros> within;                  ///< from the first to the last event of each repeat

  /// False: it only brackets, for its bound's sake.
  bool repeats() const { return min != 1 || max != 1; }
  bool operator==(const Group&) const = default;
};
/// An OR whose alternatives are not all single elements: one is chosen before its first event.
struct Alternatives {
  std::vector<Sequence> branches;
  bool operator==(const Alternatives&) const = default;
};
struct Step {
  Link link;  ///< the one written before it; in a group or branch that of its first step is the one written before that
  std::variant<SlotId, NotStep, Group, Alternatives> item;
  bool operator==(const Step&) const = default;
};

/// True when no event need be bound to it.
bool nullable(const Step& step, std::span<const Slot> slots);
bool nullable(const Sequence& sequence, std::span<const Slot> slots);

enum class Policy : std::uint8_t { kConsume, kNoSkip, kSkipPastLast, kSkipToNext, kSkipToFirst, kSkipToLast };

struct Item {
  std::string name;
  ExprPtr value;
  bool operator==(const Item&) const = default;
};
struct ActionArgument {
  std::string name;
  ArgumentType type = ArgumentType::kAny;
  ExprPtr value;
  bool operator==(const ActionArgument&) const = default;
};
struct Action {
  std::string name;
  List<ActionArgument> arguments;
  bool operator==(const Action&) const = default;
};
struct Limit {
  std::uint64_t count = 0;
  Micros per{0};
};
struct OnTimeout {
  List<Item> emit;             ///< the key fields where none is written
  std::optional<TypeId> into;  ///< the type of event that each time-out makes
  List<Action> actions;        ///< log where neither DO nor INTO is written
};

enum class Status : std::uint8_t { kEnabled, kShadow };

struct Rule {
  std::string name;
  std::uint32_t file = 0;  ///< where it was read: index into RuleSet::files
  Status status = Status::kEnabled;
  List<FieldPath> key;
  std::optional<List<EventTest>> from;  ///< none: the types that the pattern names
  List<Element> elements;               ///< in pattern order, NOTs and UNTILs among them
  List<Slot> slots;                     ///< in pattern order
  Sequence pattern;
  std::optional<Micros> within;
  bool bounded = false;  ///< WITHIN, or the bounds of links and groups, limit the time from first to last event
  List<EventTest> unless;
  List<ExprPtr> having;  ///< empty or one
  Policy policy = Policy::kConsume;
  ElementId policy_element{};  ///< of kSkipToFirst, kSkipToLast
  List<Item> emit;             ///< the key fields where none is written
  std::optional<TypeId> into;  ///< the type of event that each match makes
  std::uint32_t level = 1;     ///< of the chain: above the makers of all types that it reads
  std::optional<Limit> limit;
  List<Item> labels;     ///< values are constants
  List<Action> actions;  ///< log where neither DO nor INTO is written
  std::optional<OnTimeout> on_timeout;

  /// Equal in two sets exactly when partial matches of the one may go on under the other: a hash of its meaning()
  /// (plan_print.h).
  MatchId fingerprint;
};

// ---- tests (language.md section 8) ----

/// A value to compare an emitted one with.
struct Expected {
  MatchKind kind = MatchKind::kMatch;
  std::vector<std::pair<std::string, std::string>> fields;  ///< name -> canonical JSON text
  std::optional<EventTime> at;
  std::string text;  ///< as written, for the report
};
struct Given {
  bool watermark = false;
  EventTime at{};
  std::string type;
  std::string fields_json;  ///< one JSON object: the payload
};
struct Stage {
  std::vector<Given> given;  ///< TIMES and EVERY already spread out
  std::vector<Expected> expected;
};
struct Test {
  std::string name, rule, file;
  unsigned line = 1;
  Micros max_delay{0};
  std::vector<Stage> stages;
};

}  // namespace cepd::dsl::plan

namespace cepd::dsl {

/// All rules of a directory.
struct RuleSet {
  FieldPlan fields;
  std::vector<plan::Rule> rules;      ///< enabled and shadow ones, sorted by name
  std::vector<std::string> files;     ///< names of those that were read
  std::vector<std::string> disabled;  ///< names of DISABLED rules
  std::vector<std::string> texts;     ///< of `rules`, in canonical form; empty unless CheckOptions ask for it
  std::vector<plan::Test> tests;      ///< in the order of files and lines
};

}  // namespace cepd::dsl
