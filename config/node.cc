#include "config/node.h"

#include <algorithm>
#include <string_view>

namespace cepd::config {
namespace {

/// Byte offset of a line and column (code points), both from 1.
std::size_t offset_of(std::string_view text, unsigned line, unsigned column) {
  std::size_t at = 0;
  for (unsigned i = 1; i < line; ++i) {
    const std::size_t end = text.find('\n', at);
    if (end == std::string_view::npos) return text.size();
    at = end + 1;
  }
  if (at == 0 && text.starts_with("\xEF\xBB\xBF")) at = 3;
  for (unsigned i = 1; i < column && at < text.size() && text[at] != '\n'; ++i) {
    do ++at;
    while (at < text.size() && (text[at] & 0xC0) == 0x80);
  }
  return at;
}

/// Where the key or scalar that starts at `begin` ends on its line; what a caret line underlines. Maps and lists are
/// marked at their first character only.
std::size_t token_end(std::string_view text, std::size_t begin) {
  const std::string_view line = text.substr(begin, std::min(text.find_first_of("\r\n", begin), text.size()) - begin);
  if (line.empty()) return begin;
  const char first = line.front();
  if (first == '"' || first == '\'') {
    for (std::size_t i = 1; i < line.size(); ++i) {
      if (first == '"' && line[i] == '\\') {
        ++i;
      } else if (line[i] == first) {
        return begin + i + 1;
      }
    }
    return begin + line.size();
  }
  if (first == '[' || first == '{' || line.starts_with("- ") || line == "-") return begin + 1;
  int open = 0;  // brackets of ${…}, unlike those of a surrounding [ ] or { }
  std::size_t end = 0;
  for (; end < line.size(); ++end) {
    const char c = line[end];
    const bool last = end + 1 == line.size();
    if (c == '{' || c == '[') ++open;
    if ((c == '}' || c == ']') && --open < 0) break;
    if (c == '#' && end > 0 && (line[end - 1] == ' ' || line[end - 1] == '\t')) break;
    if ((c == ':' || c == ',') && (last || line[end + 1] == ' ')) break;
  }
  const std::size_t last = line.substr(0, end).find_last_not_of(" \t");
  return begin + (last == std::string_view::npos ? 0 : last + 1);
}

Diagnostic problem_at(const Node& node, unsigned line, unsigned column, Severity severity, std::string message,
                      std::string suggestion) {
  static const Origin kNowhere;
  const Origin& origin = node.origin ? *node.origin : kNowhere;
  const std::size_t begin = offset_of(origin.text, line, column);
  return diagnostic_at(severity, origin.file, origin.text, begin, token_end(origin.text, begin), std::move(message),
                       std::move(suggestion));
}

}  // namespace

const Node* Node::find(std::string_view key) const {
  const auto it = std::ranges::find(fields, key, &Node::Field::first);
  return it == fields.end() ? nullptr : &it->second;
}

Diagnostic Node::problem(Severity severity, std::string message, std::string suggestion) const {
  return problem_at(*this, line, column, severity, std::move(message), std::move(suggestion));
}

Diagnostic Node::value_problem(Severity severity, std::string message, std::string suggestion) const {
  return problem_at(*this, value_line, value_column, severity, std::move(message), std::move(suggestion));
}

}  // namespace cepd::config
