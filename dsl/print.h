#pragma once
/// Syntax tree -> rule text in one canonical form. Parsing the print gives the same tree but for locations, and
/// printing is idempotent. Comments are not part of the tree.

#include <string>

#include "dsl/ast.h"

namespace cepd::dsl {

std::string print(const ast::File& file);
std::string print(const ast::Statement& statement);
std::string print(const ast::Rule& rule);
std::string print(const ast::Sequence& sequence);
std::string print(const ast::EventPattern& event);
std::string print(const ast::Expr& expr);

}  // namespace cepd::dsl
