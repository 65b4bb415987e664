#include "dsl/check_report.h"

#include <algorithm>

namespace cepd::dsl::checking {

Reporter::Reporter(const ast::File& file, Diagnostics& out) : file_(file), lines_{0}, out_(out) {
  for (std::size_t at = file.text.find('\n'); at != std::string::npos; at = file.text.find('\n', at + 1)) {
    lines_.push_back(at + 1);
  }
}

std::string_view Reporter::text_at(ast::Location where) const {
  const std::size_t begin = std::min<std::size_t>(where.begin, file_.text.size());
  const std::size_t end = std::clamp<std::size_t>(where.end, begin, file_.text.size());
  return std::string_view(file_.text).substr(begin, end - begin);
}

ast::Location Reporter::with_parentheses(ast::Location where) const {
  int open = 0, closed = 0;  // of those whose other half is not within `where`
  for (const char c : text_at(where)) {
    if (c == '(') ++open;
    if (c == ')' && open > 0) {
      --open;
    } else if (c == ')') {
      ++closed;
    }
  }
  for (; closed > 0 && where.begin > 0; --where.begin) {
    const char c = file_.text[where.begin - 1];
    closed += c == ')' ? 1 : c == '(' ? -1 : 0;
  }
  for (; open > 0 && where.end < file_.text.size(); ++where.end) {
    const char c = file_.text[where.end];
    open += c == '(' ? 1 : c == ')' ? -1 : 0;
  }
  return where;
}

std::string Reporter::place(ast::Location where) const {
  const std::size_t at = std::min<std::size_t>(where.begin, file_.text.size());
  const std::size_t number = line_number(at);
  const std::string_view before = std::string_view(file_.text).substr(lines_[number], at - lines_[number]);
  // In code points.
  const auto column = std::count_if(before.begin(), before.end(), [](char c) { return (c & 0xC0) != 0x80; }) + 1;
  return file_.name + ":" + std::to_string(number + 1) + ":" + std::to_string(column);
}

unsigned Reporter::line(ast::Location where) const {
  return static_cast<unsigned>(line_number(std::min<std::size_t>(where.begin, file_.text.size()))) + 1;
}

/// From 0.
std::size_t Reporter::line_number(std::size_t at) const {
  return static_cast<std::size_t>(std::upper_bound(lines_.begin(), lines_.end(), at) - lines_.begin()) - 1;
}

bool Reporter::has_reported_in(ast::Location where) const {
  return std::any_of(places_.begin(), places_.end(),
                     [&](ast::Location each) { return where.begin <= each.begin && each.end <= where.end; });
}

void Reporter::add(Severity severity, ast::Location where, std::string message, std::string suggestion) {
  const bool error = severity == Severity::kError;
  std::size_t& shown = error ? errors_shown_ : warnings_shown_;
  if (shown > kMost) return;
  if (++shown > kMost) {
    message = error ? "too many errors; the others are not shown" : "too many warnings; the others are not shown";
    suggestion.clear();
  }
  places_.push_back(where);
  // From the line on: files that a program wrote are long, and each message would count the lines before it.
  const std::size_t number = line_number(std::min<std::size_t>(where.begin, file_.text.size()));
  const std::size_t line_begin = lines_[number];
  out_.push_back(diagnostic_at(severity, file_.name, std::string_view(file_.text).substr(line_begin),
                               where.begin - line_begin, std::max<std::size_t>(where.end, line_begin) - line_begin,
                               std::move(message), std::move(suggestion)));
  out_.back().line += static_cast<unsigned>(number);
}

}  // namespace cepd::dsl::checking
