#pragma once
/// What the parts of the printer share. Internal to dsl/print*.cc.

#include <string>
#include <string_view>

#include "dsl/ast.h"

namespace cepd::dsl::printing {

/// Of a type, element, rule or test: keywords get back quotes.
std::string name(const ast::Name& name);
/// Where no keyword can be expected.
std::string any_word(const ast::Name& name);
/// In double quotes.
std::string string(std::string_view text);
std::string literal(const ast::Literal& literal);
std::string duration(const ast::DurationTerm& term);
/// First names that mean something in a condition get back quotes, and so does a last name that was `quoted`.
std::string path(const FieldPath& path, bool quoted);

/// The results of `print`, with a comma between them.
template <class List, class Print>
std::string list(const List& items, Print print) {
  std::string out;
  for (const auto& item : items) {
    if (!out.empty()) out += ", ";
    out += print(item);
  }
  return out;
}

}  // namespace cepd::dsl::printing
