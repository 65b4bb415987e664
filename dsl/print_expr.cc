/// Names, literals, paths and expressions as text.

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>

#include "base/path.h"
#include "dsl/keyword.h"
#include "dsl/parse.h"
#include "dsl/print.h"
#include "dsl/print_layout.h"
#include "dsl/print_parts.h"

namespace cepd::dsl {
namespace printing {

std::string any_word(const ast::Name& name) { return quoted_if_needed(name.text); }

std::string name(const ast::Name& name) {
  return is_reserved(name.text) ? "`" + name.text + "`" : quoted_if_needed(name.text);
}

std::string string(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    switch (c) {
      case '\n':
        out += "\\n";
        break;
      case '\t':
        out += "\\t";
        break;
      case '\\':
      case '"':
        out += '\\';
        out += c;
        break;
      default:
        if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F) {
          std::array<char, 16> escape{};
          const int length = std::snprintf(escape.data(), escape.size(), "\\u{%x}", static_cast<unsigned>(c));
          out.append(escape.data(), static_cast<std::size_t>(length));
        } else {
          out += c;
        }
    }
  }
  return out + '"';
}

namespace {

/// Shortest text that reads back, and reads back as a double: `0.1`, `3.0`, `1e300`.
std::string real(double value) {
  std::array<char, 32> buffer{};
  const auto result = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value);
  std::string out(buffer.data(), result.ptr);
  if (out.find_first_of(".e") == std::string::npos) out += ".0";
  if (const std::size_t plus = out.find('+'); plus != std::string::npos) out.erase(plus, 1);
  return out;
}

struct LiteralPrinter {
  std::string operator()(const ast::Null&) const { return "null"; }
  std::string operator()(bool value) const { return value ? "true" : "false"; }
  std::string operator()(std::int64_t value) const { return std::to_string(value); }
  std::string operator()(double value) const { return real(value); }
  std::string operator()(const std::string& value) const { return string(value); }
  std::string operator()(EventTime value) const { return "@\"" + format_rfc3339(value) + "\""; }
  std::string operator()(Micros value) const { return format_duration(value); }
};

}  // namespace

std::string literal(const ast::Literal& literal) { return std::visit(LiteralPrinter{}, literal.value); }

std::string duration(const ast::DurationTerm& term) {
  if (const auto* constant = std::get_if<ast::ConstantRef>(&term.value)) return "$" + constant->name;
  return format_duration(std::get<Micros>(term.value));
}

std::string path(const FieldPath& path, bool quoted) {
  std::string out;
  for (std::size_t i = 0; i < path.steps.size(); ++i) {
    if (const auto* index = std::get_if<std::int64_t>(&path.steps[i])) {
      out += "[" + std::to_string(*index) + "]";
      continue;
    }
    const auto& step = std::get<std::string>(path.steps[i]);
    const bool needed = (i == 0 && syntax::is_reserved_in_condition(step)) || (quoted && i + 1 == path.steps.size());
    if (i > 0) out += '.';
    out += needed ? "`" + step + "`" : quoted_if_needed(step);
  }
  return out;
}

}  // namespace printing

namespace {

using printing::list;

// How tightly a node binds (language-details.md section 4).
enum Level { kOrLevel, kAndLevel, kNotLevel, kComparisonLevel, kSumLevel, kProductLevel, kSignLevel, kValueLevel };

struct Operator {
  const char* text;
  Level level;
};

Operator operator_of(ast::BinaryOp op) {
  switch (op) {
    case ast::BinaryOp::kOr:
      return {"OR", kOrLevel};
    case ast::BinaryOp::kAnd:
      return {"AND", kAndLevel};
    case ast::BinaryOp::kEq:
      return {"=", kComparisonLevel};
    case ast::BinaryOp::kNe:
      return {"!=", kComparisonLevel};
    case ast::BinaryOp::kLt:
      return {"<", kComparisonLevel};
    case ast::BinaryOp::kLe:
      return {"<=", kComparisonLevel};
    case ast::BinaryOp::kGt:
      return {">", kComparisonLevel};
    case ast::BinaryOp::kGe:
      return {">=", kComparisonLevel};
    case ast::BinaryOp::kAdd:
      return {"+", kSumLevel};
    case ast::BinaryOp::kSub:
      return {"-", kSumLevel};
    case ast::BinaryOp::kMul:
      return {"*", kProductLevel};
    case ast::BinaryOp::kDiv:
      return {"/", kProductLevel};
    case ast::BinaryOp::kMod:
      return {"%", kProductLevel};
  }
  return {"?", kValueLevel};
}

struct Printed {
  std::string text;
  Level level;
};
Printed printed(const ast::Expr& expr);

/// In parentheses when it binds less tightly than `level`.
std::string at_level(const ast::ExprPtr& expr, Level level) {
  Printed p = printed(*expr);
  return p.level < level ? "(" + p.text + ")" : p.text;
}

struct ExprPrinter {
  Printed operator()(const ast::Literal& node) const { return {printing::literal(node), kValueLevel}; }
  Printed operator()(const ast::ConstantRef& node) const { return {"$" + node.name, kValueLevel}; }
  Printed operator()(const ast::PathRef& node) const {
    return {(node.from_this ? "this." : "") + printing::path(node.path, node.quoted), kValueLevel};
  }
  Printed operator()(const ast::Unary& node) const {
    if (node.op == ast::UnaryOp::kNot) return {"NOT " + at_level(node.operand, kNotLevel), kNotLevel};
    const std::string operand = at_level(node.operand, kSignLevel);
    return {(operand.front() == '-' ? "- " : "-") + operand, kSignLevel};
  }
  Printed operator()(const ast::Binary& node) const {
    const auto [text, level] = operator_of(node.op);
    // Comparisons do not chain; the others group from the left.
    const Level left = level == kComparisonLevel ? kSumLevel : level;
    return {at_level(node.left, left) + " " + text + " " + at_level(node.right, static_cast<Level>(level + 1)), level};
  }
  Printed operator()(const ast::In& node) const {
    return {test(node.operand, node.negated, "IN (") + list(node.list, [](const auto& e) { return print(*e); }) + ")",
            kComparisonLevel};
  }
  Printed operator()(const ast::Between& node) const {
    return {test(node.operand, node.negated, "BETWEEN ") + at_level(node.low, kSumLevel) + " AND " +
                at_level(node.high, kSumLevel),
            kComparisonLevel};
  }
  Printed operator()(const ast::Matches& node) const {
    return {test(node.operand, node.negated, "MATCHES ") + at_level(node.pattern, kValueLevel), kComparisonLevel};
  }
  Printed operator()(const ast::IsNull& node) const {
    return {at_level(node.operand, kSumLevel) + (node.negated ? " IS NOT NULL" : " IS NULL"), kComparisonLevel};
  }
  Printed operator()(const ast::Call& node) const {
    return {node.function.text + "(" + list(node.arguments, [](const auto& e) { return print(*e); }) + ")",
            kValueLevel};
  }

 private:
  static std::string test(const ast::ExprPtr& operand, bool negated, const char* keyword) {
    return at_level(operand, kSumLevel) + (negated ? " NOT " : " ") + keyword;
  }
};

Printed printed(const ast::Expr& expr) { return std::visit(ExprPrinter{}, expr.node); }

}  // namespace

std::string print(const ast::Expr& expr) { return printed(expr).text; }

namespace printing {

std::vector<Part> operands(const ast::Expr& expr) {
  // Grouped from the left: the last operand is the right one of the outermost node.
  std::vector<Part> out;
  const ast::Expr* rest = &expr;
  const auto* chain = std::get_if<ast::Binary>(&expr.node);
  const ast::BinaryOp op = chain == nullptr ? ast::BinaryOp::kEq : chain->op;
  if (op == ast::BinaryOp::kAnd || op == ast::BinaryOp::kOr) {
    const auto [text, level] = operator_of(op);
    while (chain != nullptr && chain->op == op) {
      out.push_back(
          {std::string(text) + " " + at_level(chain->right, static_cast<Level>(level + 1)), chain->right->where});
      rest = chain->left.get();
      chain = std::get_if<ast::Binary>(&rest->node);
    }
    const Printed first = printed(*rest);
    out.push_back({first.level < level ? "(" + first.text + ")" : first.text, rest->where});
  } else {
    out.push_back({print(expr), expr.where});
  }
  std::reverse(out.begin(), out.end());
  return out;
}

}  // namespace printing

}  // namespace cepd::dsl
