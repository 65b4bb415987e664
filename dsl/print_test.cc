/// TEST blocks as text.

#include <algorithm>

#include "base/path.h"
#include "dsl/print_layout.h"
#include "dsl/print_parts.h"

namespace cepd::dsl::printing {
namespace {

constexpr std::size_t kIndent = 9;  // under what follows GIVEN and EXPECT
// Longer ones do not push away what follows on the other lines.
constexpr std::size_t kWidestType = 24;
constexpr std::size_t kWidestTime = 12;

std::string value(const ast::TestValue& value);

/// Names that back quotes cannot hold stand in string quotes.
std::string field_name(const ast::Name& name) {
  const bool quotable = !name.text.empty() && std::none_of(name.text.begin(), name.text.end(),
                                                           [](char c) { return c == '`' || c == '\n' || c == '\r'; });
  return quotable ? quoted_if_needed(name.text) : string(name.text);
}

std::string object(const ast::TestObject& object) {
  return "{" +
         list(object.fields, [](const auto& field) { return field_name(field.name) + ": " + value(field.value); }) +
         "}";
}

struct ValuePrinter {
  std::string operator()(const ast::Literal& node) const { return literal(node); }
  std::string operator()(const ast::ConstantRef& node) const { return "$" + node.name; }
  std::string operator()(const ast::TestList& node) const { return "[" + list(node.values, value) + "]"; }
  std::string operator()(const ast::TestObject& node) const { return object(node); }
};

std::string value(const ast::TestValue& value) { return std::visit(ValuePrinter{}, value.node); }

std::string time(const ast::TestTime& time) {
  const Micros since_epoch = time.value.time_since_epoch();
  // Small times are counted from 0, those of our days are dates; beyond year 9999 there are no dates.
  const bool date = since_epoch < Micros(0) || (since_epoch >= std::chrono::days(3650) &&
                                                time.value < std::chrono::sys_days(std::chrono::year(9999) / 12 / 31));
  return date ? "@\"" + format_rfc3339(time.value) + "\"" : "@" + format_duration(since_epoch);
}

std::string padded(std::string text, std::size_t width) {
  if (text.size() < width) text.append(width - text.size(), ' ');
  return text;
}

using Given = std::variant<ast::GivenEvent, ast::GivenWatermark>;

/// Types, times and fields of a stage stand below each other.
struct Columns {
  std::size_t type = 0, time = 0;
};

Columns columns_of(const std::vector<Given>& stage) {
  Columns out;
  for (const Given& one : stage) {
    const auto* event = std::get_if<ast::GivenEvent>(&one);
    if (event == nullptr) continue;
    if (const std::size_t size = name(event->type).size(); size <= kWidestType) out.type = std::max(out.type, size);
    if (const std::size_t size = time(event->at).size(); size <= kWidestTime) out.time = std::max(out.time, size);
  }
  return out;
}

std::string given(const Given& given, Columns columns) {
  if (const auto* watermark = std::get_if<ast::GivenWatermark>(&given)) {
    return padded("WATERMARK", columns.type) + " " + time(watermark->at);
  }
  const auto& event = std::get<ast::GivenEvent>(given);
  std::string out =
      padded(name(event.type), columns.type) + " " + padded(time(event.at), columns.time) + " " + object(event.fields);
  if (event.times != 1 || event.every) out += " TIMES " + std::to_string(event.times);
  if (event.every) out += " EVERY " + duration(*event.every);
  return out;
}

std::string expected(const ast::Expected& expected) {
  std::string out = expected.kind == ast::ExpectKind::kMatch     ? "MATCH"
                    : expected.kind == ast::ExpectKind::kTimeout ? "TIMEOUT"
                                                                 : "WINDOW";
  out += " " + object(expected.fields);
  if (expected.at) out += " " + time(*expected.at);
  return out;
}

void append_stage(Layout& out, const ast::TestStage& stage) {
  const Columns columns = columns_of(stage.given);
  Clause given_clause{"  GIVEN  ", {}, Break::kAlways, kIndent};
  for (const Given& one : stage.given) {
    given_clause.parts.push_back({given(one, columns), std::visit([](const auto& g) { return g.where; }, one)});
  }
  Clause expect_clause{"  EXPECT ", {}, Break::kAlways, kIndent};
  for (const auto& one : stage.expected) expect_clause.parts.push_back({expected(one), one.where});
  if (stage.expected.empty()) {
    constexpr std::string_view kNothing = "NOTHING";
    const auto length = static_cast<std::uint32_t>(kNothing.size());
    expect_clause.parts.push_back({std::string(kNothing), {stage.where.end - length, stage.where.end}});
  }
  out.push_back(std::move(given_clause));
  out.push_back(std::move(expect_clause));
}

}  // namespace

Layout layout(const ast::Test& test) {
  std::string head = "TEST " + name(test.name) + " FOR " + name(test.rule);
  if (test.max_delay) head += " MAX DELAY " + duration(*test.max_delay);
  Layout out;
  out.push_back({"", {{std::move(head), {test.where.begin, test.rule.where.end}}}});
  for (const ast::TestStage& stage : test.stages) append_stage(out, stage);
  return out;
}

}  // namespace cepd::dsl::printing
