#pragma once
/// Syntax trees of expressions -> expressions of the plan: names resolved, constants filled in, kinds checked as far as
/// they are known (language.md section 4). Internal to dsl/check*.cc.

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "dsl/check_kinds.h"
#include "dsl/check_set.h"

namespace cepd::dsl::checking {

/// Where an element stands in the pattern.
struct ElementPlace {
  bool starts = false;             ///< a match may begin with it
  bool repeated = false;           ///< it may hold more than one event: repeated itself, or in a repeated group
  bool at_least_two = false;       ///< …and not fewer than two
  bool optional = false;           ///< a match may leave it out
  bool in_group = false;           ///< in a repeated or optional group
  std::optional<std::size_t> all;  ///< number of the AND it is a member of
  /// The ORs around it, outermost first: number of the OR and of the alternative in it.
  std::vector<std::pair<std::size_t, std::size_t>> alternatives;

  /// Both stand in one OR, in different alternatives: no match holds events of both (but for a repeated group).
  bool excludes(const ElementPlace& other) const;
};

/// What an expression of a rule can name. The elements' names, types and counts must be filled in before the first
/// expression is built.
struct RuleScope {
  SetContext& set;
  Reporter& report;
  std::vector<plan::Element> elements;
  std::vector<ElementPlace> places;                       ///< of the elements
  std::map<std::string, std::size_t, std::less<>> names;  ///< of elements that conditions can name
  std::vector<FieldPath> key;
  std::vector<Kinds> key_kinds;

  /// Elements that can be named and hold events (NOT and UNTIL left out).
  std::vector<std::string> bound_names() const;
  bool repeated(std::size_t element) const { return places[element].repeated; }
};

/// Where an expression stands.
enum class Place : std::uint8_t { kElement, kFrom, kUnless, kWhere, kHaving, kEmit, kAction };

/// A checked expression. `expr` is null after a mistake, which has been reported.
struct Built {
  plan::ExprPtr expr;
  Kinds kinds = Kinds::all();
  bool declared = false;  ///< `kinds` rests on an EVENT declaration: what does not fit is an error, else a warning
  explicit operator bool() const { return expr != nullptr; }
};

/// The items that DO may name.
struct ActionNames {
  const std::vector<plan::Item>* emit = nullptr;
  const std::vector<Kinds>* emit_kinds = nullptr;
  const std::vector<plan::Item>* labels = nullptr;  ///< in templates only
};

class ExprBuilder {
 public:
  /// [ ] of element number `own`, or a WHERE part that belongs to it.
  ExprBuilder(RuleScope& scope, Place place, std::size_t own)
      : scope_(scope), place_(place), own_(own), tested_(&scope.elements[own].test.types) {}
  /// The same for one of the alternatives that share a name: the tested event is one of `types`.
  ExprBuilder(RuleScope& scope, Place place, std::size_t own, const plan::Types& types)
      : scope_(scope), place_(place), own_(own), tested_(&types) {}
  /// [ ] in FROM and UNLESS: the tested event is one of `types`.
  ExprBuilder(RuleScope& scope, Place place, const plan::Types& types)
      : scope_(scope), place_(place), tested_(&types) {}
  /// HAVING and EMIT: no event is tested.
  ExprBuilder(RuleScope& scope, Place place) : scope_(scope), place_(place) {}
  /// DO.
  ExprBuilder(RuleScope& scope, ActionNames names) : scope_(scope), place_(Place::kAction), names_(names) {}

  Built build(const ast::Expr& expr);
  /// The same for an expression that must be a bool.
  plan::ExprPtr condition(const ast::Expr& expr);
  /// A name in a template: what DO can name, and labels.
  Built template_name(const ast::PathRef& ref, ast::Location where);

 private:
  Built literal(const ast::Literal& literal);
  Built constant(const ast::ConstantRef& ref, ast::Location where);
  Built unary(const ast::Unary& node, ast::Location where);
  Built binary(const ast::Binary& node, ast::Location where);
  Built in(const ast::In& node, ast::Location where);
  Built between(const ast::Between& node, ast::Location where);
  Built matches(const ast::Matches& node);
  Built is_null(const ast::IsNull& node);

  // check_path.cc
  Built path(const ast::PathRef& ref, ast::Location where);
  Built bare_name(const FieldPath& path, ast::Location where, bool labels);
  Built element_field(std::size_t element, const ast::PathRef& ref, ast::Location where);
  Built field(plan::FieldRef ref, const plan::Types& types, ast::Location where);
  bool may_look_at(std::size_t element, ast::Location where, const FieldPath& field, bool whole);
  Built unknown_name(const FieldPath& path, ast::Location where);

  // check_call.cc
  Built call(const ast::Call& node, ast::Location where);
  bool known_zone(const plan::Expr& zone, ast::Location where);
  Built function(const plan::FunctionInfo& info, const ast::Call& node, ast::Location where);
  Built previous(const ast::Call& node, ast::Location where);
  Built first_or_last(const ast::Call& node, ast::Location where);
  Built aggregate(plan::AggregateKind kind, const ast::Call& node, ast::Location where);
  std::optional<std::size_t> element_argument(const ast::Call& node, ast::Location where, bool field_needed);
  std::optional<double> percentage(const ast::Expr& expr);

  /// Reports kinds that do not go together: an error where declarations say so, else a warning; false for an error.
  bool misfit(bool declared, ast::Location where, const std::string& message, const std::string& suggestion = {});
  bool check_comparison(const Built& a, const Built& b, bool ordered, ast::Location where);
  bool check_condition(const Built& built, ast::Location where);

  RuleScope& scope_;
  Place place_;
  std::optional<std::size_t> own_;
  const plan::Types* tested_ = nullptr;
  ActionNames names_;
};

/// The payload field or property that `path` names, with its slots. `quoted`: a payload field, also when called `ts`.
plan::FieldRef field_ref(SetContext& set, const plan::Types& types, FieldPath path, bool quoted);
/// Kinds of that field in events of `types`, by the declarations; reports one that no type has. Nothing after an error.
std::optional<std::pair<Kinds, bool>> field_kinds(const SetContext& set, const plan::Types& types,
                                                  const plan::FieldRef& ref, ast::Location where, Reporter& report);
/// Calls `visit` with each path in `expr`; `counted`: it stands alone in `count( )`, where an element's name may.
void for_each_path(const ast::Expr& expr, const std::function<void(const ast::PathRef&, bool counted)>& visit);

}  // namespace cepd::dsl::checking
