#include "base/diagnostic.h"

#include <algorithm>
#include <boost/algorithm/string/case_conv.hpp>

namespace cepd {
namespace {

/// Code points in valid or invalid UTF-8: every byte that is no continuation byte counts one.
unsigned code_points(std::string_view text) {
  return static_cast<unsigned>(std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xC0) != 0x80; }));
}

/// Messages quote what was written, which may be as long as the file.
std::string shortened(std::string text) {
  constexpr std::size_t kLongest = 500;
  if (text.size() <= kLongest) return text;
  std::size_t end = kLongest;
  while (end > 0 && (text[end] & 0xC0) == 0x80) --end;
  return text.substr(0, end) + "...";
}

/// Optimal string alignment distance (Damerau–Levenshtein without overlapping edits).
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before(b.size() + 1), above(b.size() + 1), row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) above[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      row[j] = std::min({above[j] + 1, row[j - 1] + 1, above[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1)});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) row[j] = std::min(row[j], before[j - 2] + 1);
    }
    before.swap(above);
    above.swap(row);
  }
  return above[b.size()];
}

}  // namespace

std::string format(const Diagnostic& d) {
  std::string out = d.file + ":" + std::to_string(d.line) + ":" + std::to_string(d.column) + ": " +
                    (d.severity == Severity::kError ? "error: " : "warning: ") + d.message + "\n";
  if (!d.source_line.empty()) {
    out += "  " + d.source_line + "\n  ";
    // Tabs are kept so that the caret stands under its place whatever their width.
    unsigned column = 1;
    for (std::size_t i = 0; i < d.source_line.size() && column < d.column; ++i) {
      const char c = d.source_line[i];
      if ((c & 0xC0) == 0x80) continue;
      out += c == '\t' ? '\t' : ' ';
      ++column;
    }
    for (; column < d.column; ++column) out += ' ';
    out += '^';
    out.append(d.length > 1 ? d.length - 1 : 0, '~');
    out += '\n';
  }
  if (!d.suggestion.empty()) out += "  " + d.suggestion + "\n";
  return out;
}

bool has_errors(const Diagnostics& diagnostics) {
  return std::any_of(diagnostics.begin(), diagnostics.end(),
                     [](const Diagnostic& d) { return d.severity == Severity::kError; });
}

Diagnostic diagnostic_at(Severity severity, std::string file, std::string_view text, std::size_t begin, std::size_t end,
                         std::string message, std::string suggestion) {
  // Longer source lines would only fill the screen.
  constexpr std::size_t kLongestLine = 300;
  begin = std::min(begin, text.size());
  end = std::clamp(end, begin, text.size());
  const std::size_t line_begin = begin == 0 ? 0 : text.rfind('\n', begin - 1) + 1;
  const std::size_t line_end = std::min(text.find('\n', begin), text.size());
  std::string_view line = text.substr(line_begin, line_end - line_begin);
  if (!line.empty() && line.back() == '\r') line.remove_suffix(1);

  Diagnostic d;
  d.severity = severity;
  d.file = std::move(file);
  d.line =
      static_cast<unsigned>(std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(line_begin), '\n')) + 1;
  d.column = code_points(text.substr(line_begin, begin - line_begin)) + 1;
  d.length =
      std::max(1U, code_points(text.substr(begin, std::min(end, std::max(begin, line_begin + line.size())) - begin)));
  d.message = shortened(std::move(message));
  d.suggestion = shortened(std::move(suggestion));
  if (line.size() <= kLongestLine) d.source_line = std::string(line);
  return d;
}

std::string nearest(std::string_view word, const std::vector<std::string>& candidates) {
  // Of so many names one is always near, and the search would take longer than the reading.
  constexpr std::size_t kMostCandidates = 10'000;
  if (candidates.size() > kMostCandidates) return {};
  const std::string wanted = boost::algorithm::to_lower_copy(std::string(word.substr(0, 100)));
  const std::size_t allowed = std::max<std::size_t>(1, wanted.size() / 3);
  std::size_t best = allowed + 1;
  std::string found;
  for (const std::string& candidate : candidates) {
    const std::string lower = boost::algorithm::to_lower_copy(candidate);
    if (lower.size() > wanted.size() + allowed || wanted.size() > lower.size() + allowed) continue;
    if (const std::size_t distance = edit_distance(wanted, lower); distance < best && distance < wanted.size()) {
      best = distance;
      found = candidate;
    }
  }
  return found;
}

std::string did_you_mean(std::string_view word, const std::vector<std::string>& candidates) {
  const std::string found = nearest(word, candidates);
  return found.empty() ? std::string{} : "did you mean " + found + "?";
}

}  // namespace cepd
