#include "dsl/check_report.h"

#include <algorithm>

namespace cepd::dsl::checking {

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
  const Diagnostic d = diagnostic_at(Severity::kError, file_.name, file_.text, where.begin, where.end, {});
  return d.file + ":" + std::to_string(d.line) + ":" + std::to_string(d.column);
}

unsigned Reporter::line(ast::Location where) const {
  const std::size_t begin = std::min<std::size_t>(where.begin, file_.text.size());
  return static_cast<unsigned>(
             std::count(file_.text.begin(), file_.text.begin() + static_cast<std::ptrdiff_t>(begin), '\n')) +
         1;
}

bool Reporter::has_reported_in(ast::Location where) const {
  return std::any_of(places_.begin(), places_.end(),
                     [&](ast::Location each) { return where.begin <= each.begin && each.end <= where.end; });
}

void Reporter::add(Severity severity, ast::Location where, std::string message, std::string suggestion) {
  places_.push_back(where);
  out_.push_back(diagnostic_at(severity, file_.name, file_.text, where.begin, where.end, std::move(message),
                               std::move(suggestion)));
}

}  // namespace cepd::dsl::checking
