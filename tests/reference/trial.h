#pragma once
/// One rule file with one input, and what the reference makes of them; subject.h: what the engine does.

#include <optional>

#include "dsl/check.h"
#include "tests/reference/reference.h"

namespace cepd::reference {

/// A field's value as it is written in JSON.
using Scalar = std::variant<std::monostate, bool, std::int64_t, double, std::string>;

/// An event as it arrives.
struct Given {
  std::string type;
  std::int64_t time_us = 0;
  std::map<std::string, Scalar> fields;
  std::string source = "s";
  std::int32_t partition = 0;
  std::int64_t offset = 0;
};

/// What a reload does to one of the rules.
enum class Change : std::uint8_t { kNothing, kCopy, kWithout, kHaving, kEmit, kInto, kLimit, kPolicy, kStatus };
struct Reload {
  std::size_t before = 0;  ///< the place in the input; its end: after the last event
  Change change = Change::kNothing;
  std::size_t rule = 0;  ///< which rule, counted round
};

struct Trial {
  dsl::ast::File rules;                     ///< as parsed; `rules.text` is what both sides read
  std::map<std::string, Micros> max_delay;  ///< by source
  std::vector<Given> input;                 ///< in the order of arrival
  // The reference knows nothing of these.
  std::vector<Reload> reloads;     ///< in the order of their places
  std::optional<std::size_t> cap;  ///< on the partial matches of a rule and key
  std::optional<Micros> state_ttl;
};

using Lines = std::vector<std::string>;

/// Parsed and checked, with what went before them; RuleSet null where they are refused.
dsl::Checked checked(const std::string& rules, const FieldPlan* before);
/// Why the rules are refused; empty if they are not.
std::string refusal(const std::string& rules);

/// Throw TooManyRuns and OutsideSubset.
std::vector<Result> results_of(const Trial& trial);
Lines by_reference(const Trial& trial);

/// For people: the rules and their input as a .test.rules file where one source without delay allows it, otherwise as
/// rules and JSON lines.
std::string printed(const Trial& trial);

/// The events as JSON objects, for the decoder.
std::string json_of(const Given& given, const std::string& type_field, const std::string& time_field);

}  // namespace cepd::reference
