// print_reference: the option tables as Markdown.

#include "config/option_value.h"
#include "config/options.h"

namespace cepd::config {
namespace {

/// Text inside of a table cell.
std::string cell(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '|') out += '\\';
    out += c == '\n' ? ' ' : c;
  }
  return out;
}

std::string code(std::string_view text) { return "`" + std::string(text) + "`"; }

std::string default_cell(const OptionRow& row) {
  if (row.required) return row.default_text.empty() ? "required" : "required, e.g. " + code(row.default_text);
  return row.default_text.empty() ? "none" : code(row.default_text);
}

std::string values_cell(const OptionRow& row) {
  if (row.type != OptionType::kChoice) return format_range(row);
  std::string out;
  for (const std::string& choice : row.choices) out += (out.empty() ? "" : ", ") + code(choice);
  return out;
}

std::string type_cell(const OptionRow& row) { return type_name(row.type) + (row.secret ? ", secret" : ""); }

}  // namespace

std::string print_reference(const std::vector<OptionTable>& tables) {
  std::string out;
  for (const OptionTable& table : tables) {
    if (!out.empty()) out += '\n';
    if (!table.section.empty()) out += "## " + code(table.section) + "\n\n";
    if (!table.help.empty()) out += table.help + "\n\n";
    if (table.rows.empty()) {
      out += "No options.\n";
      continue;
    }
    out +=
        "| option | type | default | range or choices | reload | what it is for |\n| --- | --- | --- | --- | --- | --- "
        "|\n";
    for (const OptionRow& row : table.rows) {
      const std::string cells[] = {
          code(row.name), type_cell(row), default_cell(row), values_cell(row), row.reloadable ? "yes" : "no", row.help};
      for (const std::string& text : cells) out += text.empty() ? "| " : "| " + cell(text) + " ";
      out += "|\n";
    }
  }
  return out;
}

}  // namespace cepd::config
