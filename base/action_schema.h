#pragma once
/// What an action accepts in DO. The rule checker compares calls with it at load; `actions` owns the table of built-in
/// ones.

#include <optional>
#include <string>
#include <vector>

namespace cepd {

enum class ArgumentType : unsigned char {
  kText,  ///< anything, rendered as text; string literals are templates
  kNumber,
  kDuration,
  kUrl,  ///< text that begins with http:// or https://; what a literal begins with is checked at load
  kAny,  ///< kept with its type in JSON
};

struct ActionParameter {
  std::string name;
  ArgumentType type = ArgumentType::kText;
  bool required = false;
  std::optional<double> min, max;  ///< of a number; literals are checked at load, others when the action runs
  std::string help;
};

struct ActionSchema {
  std::string name;
  std::vector<ActionParameter> parameters;  ///< positional arguments fill them in this order
  bool open = false;                        ///< further named arguments of any type are allowed (and sent along)
};

}  // namespace cepd
