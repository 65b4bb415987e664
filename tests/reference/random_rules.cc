#include <algorithm>

#include "tests/reference/build_ast.h"
#include "tests/reference/random_rule.h"

namespace cepd::reference {
namespace {

using namespace build;

std::size_t some_count(Random& random) {
  const std::uint64_t kind = random.below(100);
  return kind < 30 ? 1 : kind < 60 ? 2 : kind < 85 ? 3 : 4;
}

ast::RuleStatus some_status(Random& random, bool alone) {
  const std::uint64_t kind = random.below(100);
  if (kind < (alone ? 3 : 12)) return ast::RuleStatus::kShadow;
  return !alone && kind >= 94 ? ast::RuleStatus::kDisabled : ast::RuleStatus::kEnabled;
}

/// Mostly one of its own; sometimes one that others make too, or that comes from sources.
std::string some_made_type(Random& random) {
  return random.one_of(std::vector<std::string>{"M", "M", "M", "N", "N", "N", "O", "O", "O", "D", "X"});
}

/// A rule that begins as `like` does, and otherwise is somewhat as `rule`.
ast::Rule begun_like(const ast::Rule& like, const ast::Rule& rule, Random& random) {
  ast::Rule out = like;
  out.name = rule.name;
  if (random.chance(50)) out.after_match = rule.after_match;
  if (random.chance(50) && rule.within) out.within = rule.within;
  if (random.chance(30)) out.on_timeout = rule.on_timeout;
  if (random.chance(60)) {
    // The names of the other end mean nothing.
    out.having = nullptr;
    out.emit = std::nullopt;
    out.where_condition = nullptr;
    out.after_match = std::nullopt;
    auto& steps = out.pattern.steps;
    steps.resize(1 + random.below(steps.size()));
    steps.push_back(rule.pattern.steps.back());
  }
  return out;
}

}  // namespace

Statements random_rules(Random& random, const Constructs& constructs,
                        const std::function<bool(const Statements&)>& passes) {
  const std::size_t count = some_count(random);
  Statements out;
  Surroundings around;
  if (random.chance(20)) {
    around.few = "few";
    around.gap = "gap";
    out.push_back(ast::ConstDecl{name("few"), number(random.between(0, 3)), {}});
    out.push_back(ast::ConstDecl{name("gap"), duration(std::chrono::seconds(random.between(1, 5))), {}});
  }
  // The order of names is not that of levels.
  std::vector<std::string> names{"p", "q", "r", "s"};
  std::vector<std::string> made;
  for (std::size_t i = 0; i < count; ++i) {
    const auto taken = names.begin() + static_cast<std::ptrdiff_t>(random.below(names.size()));
    around.name = *taken;
    names.erase(taken);
    for (;;) {
      const bool more = i + 1 < count;
      around.made = random.chance(90) ? made : std::vector<std::string>{};
      around.into = around.into_late = std::nullopt;
      if (count > 1 && random.chance(more ? 75 : 10)) around.into = some_made_type(random);
      if (count > 1 && random.chance(more ? 50 : 5)) around.into_late = some_made_type(random);
      ast::Rule rule = random_rule(random, constructs, around);
      if (i > 0 && random.chance(35)) {
        const ast::Statement& other = out[out.size() - 1 - random.below(i)];
        rule = begun_like(std::get<ast::Rule>(other), rule, random);
      }
      rule.status = some_status(random, count == 1);
      out.push_back(std::move(rule));
      if (passes(out)) break;
      out.pop_back();
    }
    const auto& rule = std::get<ast::Rule>(out.back());
    if (rule.emit && rule.emit->into) made.push_back(rule.emit->into->text);
    if (rule.on_timeout && rule.on_timeout->emit && rule.on_timeout->emit->into) {
      made.push_back(rule.on_timeout->emit->into->text);
    }
  }
  return out;
}

}  // namespace cepd::reference
