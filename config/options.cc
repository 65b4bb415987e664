#include "config/options.h"

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <optional>
#include <utility>

#include "base/check.h"
#include "config/option_value.h"

namespace cepd::config {
namespace {

/// More mistakes of one kind in one map only fill the screen.
constexpr std::size_t kMaxUnknownKeys = 20;

std::string dotted(const OptionTable& table, const std::string& name) {
  return table.section.empty() ? name : table.section + "." + name;
}

/// Keys that read_options knows.
std::vector<std::string> known_keys(const OptionTable& table, const std::vector<std::string>& also_allowed) {
  std::vector<std::string> keys = also_allowed;
  for (const OptionRow& row : table.rows) keys.push_back(row.name);
  return keys;
}

void report_unknown_keys(const Node& node, const OptionTable& table, const std::vector<std::string>& also_allowed,
                         Diagnostics& diagnostics) {
  const std::vector<std::string> known = known_keys(table, also_allowed);
  std::size_t reported = 0;
  for (const auto& [key, value] : node.fields) {
    if (std::ranges::find(known, key) != known.end()) continue;
    if (reported++ == kMaxUnknownKeys) return;
    std::string suggestion = did_you_mean(key, known);
    if (suggestion.empty()) {
      for (const std::string& name : known) suggestion += (suggestion.empty() ? "known here: " : ", ") + name;
    }
    diagnostics.push_back(value.problem(Severity::kError,
                                        "unknown option " + key + (table.section.empty() ? "" : " in " + table.section),
                                        std::move(suggestion)));
  }
}

/// Reads the values of one table.
class Reader {
 public:
  Reader(const OptionTable& table, Diagnostics& diagnostics) : table_(table), diagnostics_(diagnostics) {}

  /// Nothing after a mistake, which is reported.
  std::optional<OptionValue> read(const OptionRow& row, const Node& node) {
    if (row.type != OptionType::kStringList) return read_scalar(row, node);
    if (node.kind != Node::Kind::kSequence) return read_scalar(row, node);
    std::vector<std::string> list;
    for (const Node& item : node.items) {
      auto value = read_scalar(row, item);
      if (!value) return std::nullopt;
      list.push_back(std::move(std::get<std::vector<std::string>>(*value).front()));
    }
    if (row.required && list.empty()) {
      report(row, node, "must not be empty");
      return std::nullopt;
    }
    return list;
  }

 private:
  void report(const OptionRow& row, const Node& node, const std::string& message, std::string suggestion = {}) {
    diagnostics_.push_back(
        node.value_problem(Severity::kError, dotted(table_, row.name) + " " + message, std::move(suggestion)));
  }

  std::optional<OptionValue> read_scalar(const OptionRow& row, const Node& node) {
    if (node.kind == Node::Kind::kNull) {
      report(row, node, "has no value", row.default_text.empty() ? "" : "leave it out for " + row.default_text);
      return std::nullopt;
    }
    if (node.kind != Node::Kind::kScalar) {
      const std::string what = row.type == OptionType::kStringList ? "expects strings" : "expects one value";
      report(row, node, what + (node.kind == Node::Kind::kMap ? ", this is a map" : ", this is a list"));
      return std::nullopt;
    }
    if (row.secret && !node.from_secret) {
      Diagnostic problem =
          node.problem(Severity::kError, dotted(table_, row.name) + " is a secret and cannot stand in this file",
                       "write ${env:NAME} or ${file:/path}, quoted inside of [ ] or { }");
      problem.source_line.clear();  // the secret stands in it
      diagnostics_.push_back(std::move(problem));
      return std::nullopt;
    }
    ValueProblem problem;
    auto value = parse_value(row, node.scalar, problem);
    if (!value) {
      // A suggestion may repeat part of the value.
      report(row, node, problem.message, node.from_secret ? std::string() : std::move(problem.suggestion));
      return std::nullopt;
    }
    if (row.required && node.scalar.empty()) {
      report(row, node, "must not be empty");
      return std::nullopt;
    }
    if (row.type == OptionType::kPath) resolve(std::get<std::string>(*value), node);
    return value;
  }

  /// An empty path stays empty: it stands for "none".
  static void resolve(std::string& path, const Node& node) {
    if (path.empty() || !node.origin) return;
    const auto directory = std::filesystem::path(node.origin->file).parent_path();
    path = (directory / path).lexically_normal().string();
  }

  const OptionTable& table_;
  Diagnostics& diagnostics_;
};

void report_missing(const OptionRow& row, const Node* node, const OptionTable& table, Diagnostics& diagnostics) {
  std::string message = "required option " + dotted(table, row.name) + " is missing";
  std::string suggestion = row.default_text.empty() ? "" : "write it like " + row.name + ": " + row.default_text;
  if (node != nullptr) {
    diagnostics.push_back(node->problem(Severity::kError, std::move(message), std::move(suggestion)));
    return;
  }
  Diagnostic problem;
  problem.file = "configuration";
  problem.message = std::move(message);
  problem.suggestion = std::move(suggestion);
  diagnostics.push_back(std::move(problem));
}

}  // namespace

Options read_options(const Node* node, const OptionTable& table, const std::vector<std::string>& also_allowed,
                     Diagnostics& diagnostics) {
  Options options;
  for (const OptionRow& row : table.rows) options.values_.push_back({row.name, default_value(row), false});
  const bool is_map = node != nullptr && node->kind == Node::Kind::kMap;
  if (node != nullptr && !is_map && node->kind != Node::Kind::kNull) {
    diagnostics.push_back(
        node->problem(Severity::kError,
                      "expected a map of options" + (table.section.empty() ? std::string() : " in " + table.section),
                      "write `name: value` lines"));
    return options;
  }

  Diagnostics found;
  if (is_map) report_unknown_keys(*node, table, also_allowed, found);
  Reader reader(table, found);
  for (std::size_t i = 0; i < table.rows.size(); ++i) {
    const OptionRow& row = table.rows[i];
    const Node* field = is_map ? node->find(row.name) : nullptr;
    if (field == nullptr) {
      if (row.required) report_missing(row, node, table, found);
    } else if (auto value = reader.read(row, *field)) {
      options.values_[i].value = *std::move(value);
      options.values_[i].given = true;
    }
  }
  std::ranges::stable_sort(found, {}, [](const Diagnostic& d) { return std::pair(d.line, d.column); });
  std::ranges::move(found, std::back_inserter(diagnostics));
  return options;
}

const Options::Value& Options::at(std::string_view name) const {
  const auto it = std::ranges::find(values_, name, &Value::name);
  CEPD_CHECK(it != values_.end());
  return *it;
}

template <class T>
static const T& checked(const T* value) {
  CEPD_CHECK(value != nullptr);
  return *value;
}

bool Options::flag(std::string_view name) const { return checked(std::get_if<bool>(&at(name).value)); }

std::int64_t Options::integer(std::string_view name) const {
  return checked(std::get_if<std::int64_t>(&at(name).value));
}

Micros Options::duration(std::string_view name) const { return checked(std::get_if<Micros>(&at(name).value)); }

const std::string& Options::text(std::string_view name) const {
  return checked(std::get_if<std::string>(&at(name).value));
}

const std::vector<std::string>& Options::list(std::string_view name) const {
  return checked(std::get_if<std::vector<std::string>>(&at(name).value));
}

bool Options::given(std::string_view name) const { return at(name).given; }

}  // namespace cepd::config
