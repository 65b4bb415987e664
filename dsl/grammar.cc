#include "dsl/grammar.h"

#include "dsl/grammar_rule.h"
#include "dsl/grammar_test_block.h"

namespace cepd::dsl::syntax {
namespace {

const x3::rule<struct StatementId, ast::Statement> statement = "statement";
const auto statement_def = rule[take] | test[take] | event_decl[take] | const_decl[take];

BOOST_SPIRIT_DEFINE(statement)

}  // namespace

bool parse_statement(const Token*& at, const Token* end, Progress& progress, ast::Statement& out) {
  return x3::parse(at, end, x3::with<ProgressTag>(progress)[statement], out) && !progress.refused();
}

bool parse_bare_pattern(const Token*& at, const Token* end, Progress& progress, ast::Rule& out) {
  return x3::parse(at, end, x3::with<ProgressTag>(progress)[bare_pattern], out) && !progress.refused();
}

}  // namespace cepd::dsl::syntax
