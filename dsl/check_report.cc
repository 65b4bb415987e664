#include "dsl/check_report.h"

#include <algorithm>

namespace cepd::dsl::checking {

std::string_view Reporter::text_at(ast::Location where) const {
  const std::size_t begin = std::min<std::size_t>(where.begin, file_.text.size());
  const std::size_t end = std::clamp<std::size_t>(where.end, begin, file_.text.size());
  return std::string_view(file_.text).substr(begin, end - begin);
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

void Reporter::add(Severity severity, ast::Location where, std::string message, std::string suggestion) {
  out_.push_back(diagnostic_at(severity, file_.name, file_.text, where.begin, where.end, std::move(message),
                               std::move(suggestion)));
}

}  // namespace cepd::dsl::checking
