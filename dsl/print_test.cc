/// TEST blocks as text.

#include <algorithm>

#include "base/path.h"
#include "dsl/print_parts.h"

namespace cepd::dsl::printing {
namespace {

constexpr std::string_view kIndent = "         ";  // under what follows GIVEN and EXPECT
constexpr std::size_t kWidestType = 24;            // types longer than that do not push the others' times away

std::string value(const ast::TestValue& value);

/// Names that back quotes cannot hold stand in string quotes.
std::string field_name(const ast::Name& name) {
  const bool quotable = !name.text.empty() && std::none_of(name.text.begin(), name.text.end(),
                                                           [](char c) { return c == '`' || c == '\n' || c == '\r'; });
  return quotable ? quoted_if_needed(name.text) : string(name.text);
}

std::string object(const ast::TestObject& object) {
  return "{" +
         list(object.fields, [](const auto& field) { return field_name(field.first) + ": " + value(field.second); }) +
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

std::string type_of(const std::variant<ast::GivenEvent, ast::GivenWatermark>& given) {
  const auto* event = std::get_if<ast::GivenEvent>(&given);
  return event == nullptr ? "WATERMARK" : name(event->type);
}

std::string given(const std::variant<ast::GivenEvent, ast::GivenWatermark>& given, std::size_t width) {
  const std::string type = padded(type_of(given), width);
  if (const auto* watermark = std::get_if<ast::GivenWatermark>(&given)) return type + " " + time(watermark->at);
  const auto& event = std::get<ast::GivenEvent>(given);
  std::string out = type + " " + time(event.at) + " " + object(event.fields);
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

void append_stage(std::string& out, const ast::TestStage& stage) {
  std::size_t width = 0;
  for (const auto& one : stage.given) {
    if (const std::size_t size = type_of(one).size(); size <= kWidestType) width = std::max(width, size);
  }
  for (std::size_t i = 0; i < stage.given.size(); ++i) {
    out += "\n";
    out += i == 0 ? "  GIVEN  " : kIndent;
    out += given(stage.given[i], width);
  }
  if (stage.expected.empty()) out += "\n  EXPECT NOTHING";
  for (std::size_t i = 0; i < stage.expected.size(); ++i) {
    out += "\n";
    out += i == 0 ? "  EXPECT " : kIndent;
    out += expected(stage.expected[i]);
  }
}

}  // namespace

std::string test(const ast::Test& test) {
  std::string out = "TEST " + name(test.name) + " FOR " + name(test.rule);
  if (test.max_delay) out += " MAX DELAY " + duration(*test.max_delay);
  for (const ast::TestStage& stage : test.stages) append_stage(out, stage);
  return out;
}

}  // namespace cepd::dsl::printing
