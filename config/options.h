#pragma once
/// Option tables: one row for each option, kept beside the code that owns it. Reading, checking, the example file and
/// the reference page all come from the rows.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/time.h"
#include "config/node.h"

namespace cepd::config {

enum class OptionType : unsigned char {
  kBool,
  kInteger,   ///< within [min, max]
  kBytes,     ///< an integer with an optional unit: 4096, 64KiB, 1GiB
  kDuration,  ///< as in rules: 10s, 1h30m; min and max in microseconds
  kString,
  kPath,        ///< relative paths are taken from the configuration file's directory
  kUrl,         ///< http:// or https://
  kChoice,      ///< one of `choices`
  kStringList,  ///< a scalar counts as a list of one
};

struct OptionRow {
  std::string name;
  OptionType type = OptionType::kString;
  std::string default_text;  ///< as it would be written; with `required` it is only the example's value
  std::string help;          ///< one or two sentences, with the unit
  std::int64_t min = 0;
  std::int64_t max = INT64_MAX;
  std::vector<std::string> choices = {};
  bool required = false;
  bool reloadable = false;  ///< a SIGHUP takes the new value
  bool secret = false;      ///< must come from ${env:…} or ${file:…}; never printed
};

struct OptionTable {
  std::string section;  ///< dotted place in the file: "state", "sources.<name> (type: mqtt)"
  std::string help;
  std::vector<OptionRow> rows;
};

/// The values of one table, defaults filled in. Getters CEPD_CHECK that the row exists and has that type.
class Options {
 public:
  bool flag(std::string_view name) const;
  std::int64_t integer(std::string_view name) const;  // kInteger, kBytes
  Micros duration(std::string_view name) const;
  const std::string& text(std::string_view name) const;  // kString, kPath, kUrl, kChoice
  const std::vector<std::string>& list(std::string_view name) const;
  bool given(std::string_view name) const;  ///< written in the file, not a default

 private:
  friend Options read_options(const Node*, const OptionTable&, const std::vector<std::string>&, Diagnostics&);
  struct Value {
    std::string name;
    std::variant<bool, std::int64_t, Micros, std::string, std::vector<std::string>> value;
    bool given = false;
  };
  const Value& at(std::string_view name) const;
  std::vector<Value> values_;
};

/// Reads `node` (null or a map) by `table`. Unknown keys (with a near-miss suggestion), wrong types, values out of
/// range and missing required ones are added to `diagnostics`; the option then has its default. Keys in `also_allowed`
/// are left to the caller.
Options read_options(const Node* node, const OptionTable& table, const std::vector<std::string>& also_allowed,
                     Diagnostics& diagnostics);

/// docs/configuration.md's tables.
std::string print_reference(const std::vector<OptionTable>& tables);

}  // namespace cepd::config
