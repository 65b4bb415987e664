#pragma once
/// One rule file with one input, run through the engine and through the reference: the two lists of results.

#include <optional>

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

struct Trial {
  dsl::ast::File rules;                     ///< as parsed; `rules.text` is what both sides read
  std::map<std::string, Micros> max_delay;  ///< by source
  std::vector<Given> input;                 ///< in the order of arrival
};

/// How the engine is driven.
struct Drive {
  std::size_t lanes = 1;
  bool restored = false;  ///< after every event its state is saved, and another engine restored from it

  std::string text() const {
    return "engine" + (lanes > 1 ? " of " + std::to_string(lanes) + " lanes" : "") +
           (restored ? ", restored after every event" : "");
  }
};

using Lines = std::vector<std::string>;

/// Why the rules are refused; empty if they are not.
std::string refusal(const std::string& rules);

/// Requires rules that are not refused.
Lines by_engine(const Trial& trial, const Drive& drive);
/// Throw TooManyRuns and OutsideSubset.
std::vector<Result> results_of(const Trial& trial);
Lines by_reference(const Trial& trial);

/// For people: the rules and their input as a .test.rules file where one source without delay allows it, otherwise as
/// rules and JSON lines.
std::string printed(const Trial& trial);

/// The events as JSON objects, for the decoder.
std::string json_of(const Given& given, const std::string& type_field, const std::string& time_field);

}  // namespace cepd::reference
