#pragma once
/// How a statement is laid out on lines: shared by the printer of trees and the formatter of files. Internal to dsl/.

#include <optional>
#include <string>
#include <vector>

#include "dsl/ast.h"

namespace cepd::dsl::printing {

/// The widest line that is not broken, in characters.
inline constexpr std::size_t kWidth = 110;

/// What is never broken: an element with its link, a condition between two ANDs, an item of a list with its comma.
struct Part {
  std::string text;
  ast::Location where;  ///< of what it was printed from
  bool glued = false;   ///< no blank before it
};

enum class Break : unsigned char {
  kFill,    ///< too long for a line: as many parts on each as fit
  kEach,    ///< too long for a line: each part on its own
  kAlways,  ///< each part on its own
};

struct Clause {
  std::string prefix;  ///< indentation and keyword
  std::vector<Part> parts;
  Break mode = Break::kFill;
  std::size_t indent = 0;                       ///< of the lines that go on
  std::optional<std::size_t> last_indent = {};  ///< of the last part on a line of its own, where it is another
  bool first_breaks = false;                    ///< when broken, the first part does not stand beside the prefix
};
using Layout = std::vector<Clause>;

Layout layout(const ast::Statement& statement);
Layout layout(const ast::Rule& rule);
Layout layout(const ast::Test& test);

/// The parts of an AND or OR, each but the first with the operator before it; one part for any other expression.
std::vector<Part> operands(const ast::Expr& expr);
/// The first choice, then each link with its choice.
std::vector<Part> steps(const ast::Sequence& sequence);

/// Comments by the part that they stand at.
struct PartComments {
  std::vector<std::string> before;  ///< each on a line of its own
  std::string after;                ///< at the end of its line
};

struct Line {
  std::string text;
  std::string comment = {};  ///< at its end
};

/// `comments`: of the parts in their order, or empty.
void append_lines(const Clause& clause, const std::vector<PartComments>& comments, std::vector<Line>& lines);

/// Declarations, which stand together where they are of one kind.
inline bool one_line(const ast::Statement& statement) {
  return std::holds_alternative<ast::EventDecl>(statement) || std::holds_alternative<ast::ConstDecl>(statement);
}

}  // namespace cepd::dsl::printing
