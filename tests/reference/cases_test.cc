/// The hand-written expectations of tests/cases, judged by the reference: a second opinion on them. What uses functions
/// or fields beyond the reference's subset is skipped and counted.
#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "dsl/parse.h"
#include "tests/reference/reference.h"
#include "tests/support/case_files.h"

using namespace cepd;
using cepd::test::case_files;
using namespace cepd::reference;

namespace {

std::string read(const std::string& file) {
  std::ostringstream out;
  out << std::ifstream(file, std::ios::binary).rdbuf();
  return out.str();
}

/// A scalar of a TEST; a list as its JSON. Objects are beyond the subset.
std::string json_of(const ast::TestValue& value, const Constants& constants) {
  const ast::Literal* literal = std::get_if<ast::Literal>(&value.node);
  if (const auto* constant = std::get_if<ast::ConstantRef>(&value.node)) literal = &constants.at(constant->name);
  std::string out;
  if (const auto* list = std::get_if<ast::TestList>(&value.node)) {
    for (const ast::TestValue& each : list->values) out += (out.empty() ? "[" : ",") + json_of(each, constants);
    return out.empty() ? "[]" : out + "]";
  }
  if (literal == nullptr) throw OutsideSubset{"an object"};
  if (const auto* b = std::get_if<bool>(&literal->value)) append_json(out, Value::boolean(*b));
  if (const auto* i = std::get_if<std::int64_t>(&literal->value)) append_json(out, Value::integer(*i));
  if (const auto* d = std::get_if<double>(&literal->value)) append_json(out, Value::real(*d));
  if (const auto* s = std::get_if<std::string>(&literal->value)) append_json(out, Value::string(*s));
  if (std::holds_alternative<ast::Null>(literal->value)) out = "null";
  if (out.empty()) throw OutsideSubset{"a time in a TEST"};
  return out;
}

void set_fields(Event& event, const ast::TestObject& fields, const Constants& constants) {
  for (const auto& [name, value] : fields.fields) {
    const ast::Literal* literal = std::get_if<ast::Literal>(&value.node);
    if (const auto* constant = std::get_if<ast::ConstantRef>(&value.node)) literal = &constants.at(constant->name);
    if (literal == nullptr) throw OutsideSubset{"an array or object in an event"};
    Value& field = event.fields[name.text];
    if (const auto* b = std::get_if<bool>(&literal->value)) field = Value::boolean(*b);
    if (const auto* i = std::get_if<std::int64_t>(&literal->value)) field = Value::integer(*i);
    if (const auto* d = std::get_if<double>(&literal->value)) field = Value::real(*d);
    if (const auto* s = std::get_if<std::string>(&literal->value)) field = Value::string(event.arena.copy(*s));
    if (std::holds_alternative<EventTime>(literal->value) || std::holds_alternative<Micros>(literal->value))
      throw OutsideSubset{"a time in an event"};
  }
}

/// `{"a":1,"b":[1,2]}` in the text of a result has the field. Whole numbers may be int or double.
bool has_field(const std::string& text, const std::string& name, const std::string& json) {
  std::string field;
  append_json_string(field, name);
  field += ":" + json;
  for (std::size_t at = text.find(field); at != std::string::npos; at = text.find(field, at + 1)) {
    const std::string_view rest = std::string_view(text).substr(at + field.size());
    if (rest.starts_with(",") || rest.starts_with("}") || rest.starts_with(".0,") || rest.starts_with(".0}"))
      return true;
  }
  return false;
}

bool fits(const ast::Expected& expected, const Result& actual, const Constants& constants) {
  if ((expected.kind == ast::ExpectKind::kMatch) != (actual.kind == ResultKind::kMatch)) return false;
  if (expected.at && expected.at->value != actual.known.time) return false;
  return std::all_of(expected.fields.fields.begin(), expected.fields.fields.end(), [&](const auto& field) {
    return has_field(actual.text, field.name.text, json_of(field.value, constants));
  });
}

/// Runs one TEST; empty if it passes, otherwise what the reference says instead.
std::string run(const ast::Test& test, const std::vector<Rule>& rules, const Constants& constants) {
  TotalOrder order;
  const SourceId source("test");
  if (test.max_delay) order.set_max_delay(source, duration_of(*test.max_delay, constants));
  std::int64_t offset = 0;
  std::size_t seen = 0;
  for (const ast::TestStage& stage : test.stages) {
    for (const auto& given : stage.given) {
      if (const auto* watermark = std::get_if<ast::GivenWatermark>(&given)) {
        order.advance(watermark->at.value + Micros(1));  // "moves the watermark to just after d"
        continue;
      }
      const auto& written = std::get<ast::GivenEvent>(given);
      const Micros every = written.every ? duration_of(*written.every, constants) : Micros(0);
      for (std::uint64_t i = 0; i < written.times; ++i) {
        auto event = std::make_shared<Event>();
        event->type = written.type.text;
        event->time = written.at.value + static_cast<std::int64_t>(i) * every;
        event->position = {source, 0, offset++};
        set_fields(*event, written.fields, constants);
        order.arrive(std::move(event));
      }
    }
    std::vector<Result> results = results_of(rules, order.handled(), order.watermark());
    std::erase_if(results, [&](const Result& result) { return result.rule != test.rule.text; });
    const std::vector<Result> fresh(results.begin() + static_cast<std::ptrdiff_t>(seen), results.end());
    seen = results.size();
    if (!std::equal(stage.expected.begin(), stage.expected.end(), fresh.begin(), fresh.end(),
                    [&](const auto& a, const auto& b) { return fits(a, b, constants); })) {
      std::string text;
      for (const Result& result : fresh) text += "  " + result.text + "\n";
      return text.empty() ? "  nothing\n" : text;
    }
  }
  return {};
}

}  // namespace

TEST_CASE("reference: agrees with the hand-written expectations of tests/cases") {
  std::size_t run_tests = 0, skipped = 0;
  std::map<std::string, std::size_t> reasons;
  for (const std::string& file : case_files()) {
    const dsl::Parsed parsed = dsl::parse(file, read(file));
    if (!parsed.diagnostics.empty()) continue;  // tests/app says so
    const Constants constants = constants_of(parsed.file);
    for (const ast::Statement& statement : parsed.file.statements) {
      const auto* test = std::get_if<ast::Test>(&statement);
      if (test == nullptr) continue;
      try {
        std::vector<Rule> rules;
        for (const ast::Statement& each : parsed.file.statements) {
          if (std::holds_alternative<ast::EventDecl>(each)) throw OutsideSubset{"EVENT"};
          if (const auto* rule = std::get_if<ast::Rule>(&each)) {
            rules.push_back(make_rule(*rule, constants));
          }
        }
        const std::string instead = run(*test, rules, constants);
        ++run_tests;
        CHECK_MESSAGE(instead.empty(), file << ": " << test->name.text << ": the reference says\n" << instead);
      } catch (const OutsideSubset& outside) {
        ++skipped;
        ++reasons[outside.what];
      }
    }
  }
  std::string why;
  for (const auto& [reason, count] : reasons) why += "\n  " + std::to_string(count) + " for " + reason;
  MESSAGE(run_tests << " tests judged, " << skipped << " skipped:" << why);
  CHECK(run_tests > 300);
  CHECK(skipped < run_tests / 3);
}
