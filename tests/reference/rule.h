#pragma once
/// A rule's syntax tree with its meaning spelled out: constants put in, names resolved, parentheses that mean nothing
/// taken away, OR and groups told apart, WHERE split and given to its elements. Still a tree; nothing is compiled.

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "dsl/ast.h"
#include "tests/reference/event.h"

namespace cepd::reference {

namespace ast = dsl::ast;

/// The constants of the files, by name.
using Constants = std::map<std::string, ast::Literal>;

/// One part of WHERE, at an element it belongs to.
struct WherePart {
  ast::ExprPtr condition;
  /// The other members of the same AND that the part names: it is tested when the last of them all comes.
  std::vector<std::size_t> members;
};

/// `type[condition]`: what one event pattern accepts, and the element its events are bound to.
struct Single {
  const ast::EventPattern* event = nullptr;
  std::size_t slot = 0;   ///< into Rule::slots
  std::size_t place = 0;  ///< in pattern order; the members of an AND stand at one place
  std::vector<WherePart> where;
};

struct Link {
  ast::LinkKind kind = ast::LinkKind::kThen;
  std::optional<Micros> within, after;
  bool first_only = false;  ///< it stands before a repeated group: of an AND there it reaches only the first event
};

struct Node;
struct Step {
  Link link;  ///< the one written before it; of the first of all without meaning
  std::shared_ptr<Node> node;
};
using Sequence = std::vector<Step>;

/// A single event, an OR of such, or a repeat of that.
struct Element {
  std::vector<Single> alternatives;  ///< an event goes to the first that accepts it
  std::uint32_t min = 1;
  std::optional<std::uint32_t> max = 1;
  ast::LinkKind between = ast::LinkKind::kThen;  ///< how its repeats follow each other
  bool greedy = false;
  bool last = false;  ///< nothing stands after it in the pattern, with the parentheses taken away
  const ast::EventPattern* until = nullptr;
};
struct Not {
  std::vector<Single> any_of;
};
struct And {
  std::vector<Element> members;
};
/// An OR with alternatives that are not single: a branch each, chosen before its first event.
struct Or {
  std::vector<Sequence> branches;
};
struct Group {
  Sequence body;
  bool repeated = false;  ///< false: parentheses, for their WITHIN
  std::uint32_t min = 1;
  std::optional<std::uint32_t> max = 1;
  ast::LinkKind between = ast::LinkKind::kThen;
  std::optional<Micros> within;
};
struct Node {
  std::variant<Element, Not, And, Or, Group> what;
};

/// Something a match can bind events to.
struct Slot {
  std::string name;    ///< in the output
  bool named = false;  ///< conditions may use the name
};

struct Limit {
  std::uint64_t count = 1;
  Micros per{};
};

struct Rule {
  const ast::Rule* written = nullptr;
  std::string name;
  Constants constants;
  std::vector<FieldPath> key;
  Sequence pattern;
  std::vector<Slot> slots;  ///< in pattern order
  std::optional<Micros> within;
  std::optional<std::size_t> skip_to;  ///< slot of SKIP TO FIRST / LAST
  std::optional<Limit> limit;
  std::uint32_t level = 1;  ///< among the rules it runs with, see chain.h

  /// The slot of a name that conditions may use.
  std::optional<std::size_t> slot(const std::string& word) const;
};

/// `file` must outlive the rule. The rule must have passed the check; what the reference does not know throws
/// OutsideSubset.
Rule make_rule(const ast::Rule& rule, const Constants& constants);
Constants constants_of(const ast::File& file);
Micros duration_of(const ast::DurationTerm& term, const Constants& constants);

/// Whether nothing at all may stand for it.
bool may_be_empty(const Sequence& sequence);

/// Every single event pattern of the pattern, NOTs included, in pattern order.
std::vector<const Single*> singles_of(const Sequence& sequence);

}  // namespace cepd::reference
