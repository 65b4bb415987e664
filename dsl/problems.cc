#include "dsl/problems.h"

#include <algorithm>

namespace cepd::dsl::syntax {

void Problems::add(ast::Location where, std::string message, std::string suggestion) {
  if (full()) return;
  const auto same = [&](const Problem& p) { return p.where.begin == where.begin && p.message == message; };
  if (std::any_of(all_.begin(), all_.end(), same)) return;
  all_.push_back({where, std::move(message), std::move(suggestion)});
}

bool Problems::any_in(std::size_t begin, std::size_t end) const {
  return std::any_of(all_.begin(), all_.end(),
                     [&](const Problem& p) { return p.where.begin >= begin && p.where.begin < end; });
}

Diagnostics Problems::diagnostics(const std::string& file, std::string_view text) const {
  std::vector<const Problem*> sorted;
  for (const Problem& p : all_) sorted.push_back(&p);
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const Problem* a, const Problem* b) { return a->where.begin < b->where.begin; });
  Diagnostics out;
  for (const Problem* p : sorted) {
    out.push_back(diagnostic_at(Severity::kError, file, text, p->where.begin, p->where.end, p->message, p->suggestion));
  }
  if (full()) {
    out.push_back(diagnostic_at(Severity::kError, file, text, sorted.back()->where.begin, sorted.back()->where.end,
                                "too many errors; what follows is not shown"));
  }
  return out;
}

}  // namespace cepd::dsl::syntax
