/// Templates: strings of actions with `{name}` in them.

#include <charconv>

#include "dsl/check_action.h"
#include "dsl/lex_number.h"

namespace cepd::dsl::checking {
namespace {

/// `amount`, `fail.amount`, `` `door/open`.id ``, `n[0].f`; nothing for any other text.
std::optional<ast::PathRef> parse_path(std::string_view text) {
  ast::PathRef out;
  std::size_t at = 0;
  const auto name = [&] {
    std::size_t end = at;
    if (at < text.size() && text[at] == '`') {
      end = text.find('`', at + 1);
      if (end == std::string_view::npos || end == at + 1) return false;
      out.path.steps.emplace_back(std::string(text.substr(at + 1, end - at - 1)));
      out.quoted = true;
      at = end + 1;
      return true;
    }
    if (at >= text.size() || !syntax::is_name_start(text[at])) return false;
    while (end < text.size() && syntax::is_name_part(text[end])) ++end;
    out.path.steps.emplace_back(std::string(text.substr(at, end - at)));
    out.quoted = false;
    at = end;
    return true;
  };
  if (!name()) return std::nullopt;
  while (at < text.size()) {
    if (text[at] == '.') {
      ++at;
      if (!name()) return std::nullopt;
      continue;
    }
    if (text[at] != '[') return std::nullopt;
    std::int64_t index = 0;
    const char* const end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data() + at + 1, end, index);
    if (error != std::errc() || stop == end || *stop != ']') return std::nullopt;
    out.path.steps.emplace_back(index);
    at = static_cast<std::size_t>(stop - text.data()) + 1;
  }
  return out;
}

/// Where `{content}` stands in the string as written; the whole string where escapes hide it.
ast::Location place_of(const Reporter& report, ast::Location where, std::string_view content) {
  const std::string written = "{" + std::string(content) + "}";
  const std::size_t at = report.text_at(where).find(written);
  if (at == std::string_view::npos) return where;
  const auto begin = static_cast<std::uint32_t>(where.begin + at + 1);
  return {begin, static_cast<std::uint32_t>(begin + content.size())};
}

}  // namespace

Built build_template(RuleScope& scope, const ActionNames& names, const std::string& text, ast::Location where) {
  plan::Template out;
  std::string literal;
  bool ok = true;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if ((c == '{' || c == '}') && i + 1 < text.size() && text[i + 1] == c) {
      literal += c;
      ++i;
      continue;
    }
    if (c != '{') {
      literal += c;
      continue;
    }
    const std::size_t end = text.find('}', i);
    if (end == std::string::npos) {
      scope.report.error(where, "a { in the text has no }", "write {{ for a brace");
      return {};
    }
    std::string_view content = std::string_view(text).substr(i + 1, end - i - 1);
    const ast::Location at = place_of(scope.report, where, content);
    i = end;
    while (!content.empty() && content.front() == ' ') content.remove_prefix(1);
    while (!content.empty() && content.back() == ' ') content.remove_suffix(1);
    const auto path = parse_path(content);
    if (!path) {
      scope.report.error(at, "expected a name in { }", "write {{ for a brace");
      ok = false;
      continue;
    }
    ExprBuilder builder(scope, names);
    const Built built = builder.template_name(*path, at);
    if (!built) {
      ok = false;
      continue;
    }
    if (!literal.empty()) out.parts.emplace_back(std::move(literal));
    literal.clear();
    out.parts.emplace_back(built.expr);
  }
  if (!ok) return {};
  if (out.parts.empty()) {
    return {scope.set.share.make(plan::Constant{Kind::kString, literal, {}}), Kind::kString, false};
  }
  if (!literal.empty()) out.parts.emplace_back(std::move(literal));
  return {scope.set.share.make(std::move(out)), Kind::kString, false};
}

}  // namespace cepd::dsl::checking
