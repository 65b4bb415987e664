#pragma once
/// One option's text as a value, and how types, ranges and defaults are written in messages and in the reference.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "config/options.h"

namespace cepd::config {

using OptionValue = std::variant<bool, std::int64_t, Micros, std::string, std::vector<std::string>>;

/// What was wrong with a value: `message` goes on after the option's name and never has the value in it.
struct ValueProblem {
  std::string message;
  std::string suggestion;
};

/// A scalar by the row's type, range and choices (of a kStringList: one item). Paths stay as they are. Nothing with a
/// mistake, which `problem` tells then.
std::optional<OptionValue> parse_value(const OptionRow& row, std::string_view text, ValueProblem& problem);

/// The default of a row; with an empty default text false, 0, "" or no items.
OptionValue default_value(const OptionRow& row);

/// "64KiB": bytes with the largest unit that divides them.
std::string format_bytes(std::int64_t bytes);

std::string type_name(OptionType type);

/// "1 to 100", "at least 64KiB", or empty when the row allows everything of its type.
std::string format_range(const OptionRow& row);

}  // namespace cepd::config
