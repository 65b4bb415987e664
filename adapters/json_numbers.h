#pragma once
/// Numbers of JSON text that the parser alone does not judge as cepd does.

#include <cstddef>
#include <string>
#include <string_view>

namespace cepd::adapters {

/// More digits than this in a number (all before an exponent counted together) are refused.
inline constexpr std::size_t kMaxDigits = 64;

/// True when some number of the text, outside strings, has more than kMaxDigits digits. Looks at one byte in 65 unless
/// there is such a run of digits somewhere. Requires text that parses.
bool has_overlong_number(std::string_view json);

struct NumberScan {
  bool malformed = false;  ///< some number is none by the grammar of JSON
  bool overlong = false;   ///< some number has more than kMaxDigits digits
  bool changed = false;    ///< some integer does not fit 64 bits and was given an exponent in `text`
  std::string text;        ///< the same text, in which integers over 64 bits read as doubles
};

/// Requires that strings are closed.
NumberScan scan_numbers(std::string_view json);

}  // namespace cepd::adapters
