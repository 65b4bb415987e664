#pragma once
/// What all statements of a set of files share while they are checked. Internal to dsl/check*.cc.

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "dsl/check.h"
#include "dsl/check_kinds.h"
#include "dsl/check_report.h"
#include "dsl/share.h"

namespace cepd::dsl::checking {

struct RuleNote {
  bool disabled = false;
  bool sound = false;  ///< checked without an error: `emitted` holds
  bool has_timeout = false;
  std::vector<std::string> emitted, emitted_on_timeout;  ///< names of items
};

/// A type that rules make (EMIT … INTO), as far as their items tell.
struct MadeType {
  std::map<std::string, Kinds, std::less<>> fields;  ///< emitted items, and the first names of key fields
  bool open = false;                                 ///< a maker has mistakes: it may be meant to have other fields
  bool shadow_only = true;                           ///< all makers are SHADOW rules
};

class SetContext {
 public:
  SetContext(const CheckOptions& check_options, FieldPlan& plan) : options(check_options), fields(&plan) {}

  const CheckOptions& options;
  FieldPlan* fields;      ///< of the set; while DISABLED rules are checked, a copy of it
  bool declared = false;  ///< an EVENT exists: every type must have one
  std::map<std::string, ast::Literal, std::less<>> constants;
  std::map<std::string, RuleNote, std::less<>> rules;
  ast::Unread unread;                                 ///< of all files
  std::uint64_t test_bytes = 0;                       ///< that the events of the TESTs take so far
  std::map<std::string, MadeType, std::less<>> made;  ///< by rules that are loaded; for DISABLED ones also by such
  /// FieldRef::slots of paths that are read from events of any type.
  std::map<FieldPath, List<std::pair<TypeId, std::uint32_t>>> slots_of_any;
  Sharing share;  ///< what is made of the rules goes through it

  /// The literal that `$name` stands for; null, and reported, when there is none (or its CONST could not be read).
  const ast::Literal* constant(const std::string& name, ast::Location where, Reporter& report) const;
  /// Null, and reported, unless `term` is a duration greater than zero. `keyword`: what it was written after.
  std::optional<Micros> duration(const ast::DurationTerm& term, std::string_view keyword, Reporter& report) const;
  /// The same, but zero is allowed.
  std::optional<Micros> duration_or_zero(const ast::DurationTerm& term, std::string_view keyword,
                                         Reporter& report) const;
  /// Reports a type that is neither declared nor made by a rule where all must be.
  bool known_type(const ast::Name& type, Reporter& report) const;
  /// Compiled once for all rules that use it; null, and reported, when it is no regular expression.
  std::shared_ptr<const re2::RE2> regex(const std::string& pattern, ast::Location where, Reporter& report);

 private:
  std::map<std::string, std::shared_ptr<const re2::RE2>, std::less<>> regexes_;
};

/// A literal as the plan keeps it.
plan::Constant constant_of(const ast::Literal& literal);

}  // namespace cepd::dsl::checking
