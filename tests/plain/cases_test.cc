/// The data cases of the language through the engine and the plain one: match for match the same.
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "actions/open.h"
#include "adapters/decoder.h"
#include "app/rule_files.h"
#include "base/check.h"
#include "engine/engine.h"
#include "tests/plain/match_text.h"
#include "tests/plain/plain.h"
#include "tests/support/case_files.h"

using namespace cepd;
using cepd::test::case_files;

namespace {

constexpr std::string_view kTypeField = "\x01type";
constexpr std::string_view kTimeField = "\x01time";

adapters::DecoderOptions decoder_options() {
  adapters::DecoderOptions options;
  options.type_field = FieldPath::of(std::string(kTypeField));
  options.time_field = FieldPath::of(std::string(kTimeField));
  options.time_unit = TimeUnit::kMicros;
  return options;
}

std::string bytes_of(const dsl::plan::Given& given) {
  std::string out = "{";
  append_json_string(out, kTypeField);
  out += ':';
  append_json_string(out, given.type);
  out += ',';
  append_json_string(out, kTimeField);
  out += ':' + std::to_string(to_us(given.at));
  const std::string fields = given.fields_json.substr(1);  // without its brace
  return out + (fields == "}" ? "" : ",") + fields;
}

/// Gives the events of one TEST to `subject`, which reports to `lines`; a line "--" goes behind each of its stages.
template <class Subject>
void run(const dsl::plan::Test& test, const nfa::Network& network, Subject& subject, std::vector<std::string>& lines) {
  adapters::JsonDecoder decoder(decoder_options());
  const SourceId source("test");
  subject.set_max_delay(source, test.max_delay);
  std::int64_t offset = 0;
  for (const dsl::plan::Stage& stage : test.stages) {
    for (const dsl::plan::Given& given : stage.given) {
      if (given.watermark) {
        subject.advance(saturating_add(given.at, Micros(1)));
        continue;
      }
      adapters::Message message;
      message.position = {source, 0, offset++};
      message.bytes = bytes_of(given);
      auto decoded = decoder.decode(message, network.fields());
      auto* event = std::get_if<EventPtr>(&decoded);
      REQUIRE(event != nullptr);
      subject.push(std::move(*event));
    }
    lines.emplace_back("--");
  }
  subject.finish();
}

std::vector<std::string> by_engine(const dsl::plan::Test& test, const std::shared_ptr<const nfa::Network>& network,
                                   std::size_t index_from) {
  std::vector<std::string> lines;
  engine::EngineOptions options;
  options.index_runs_from = index_from;
  engine::Engine subject(network, options,
                         {[&](const engine::MatchView& match) { lines.push_back(plain::text_of(*match.take())); },
                          [](const Event&, DropReason, std::string_view) {}});
  run(test, *network, subject, lines);
  return lines;
}

std::vector<std::string> by_plain(const dsl::plan::Test& test, const std::shared_ptr<const nfa::Network>& network) {
  std::vector<std::string> lines;
  plain::Engine subject(network, {}, [&](const Match& match) { lines.push_back(plain::text_of(match)); });
  run(test, *network, subject, lines);
  return lines;
}

std::string joined(const std::vector<std::string>& lines) {
  std::string out;
  for (const std::string& line : lines) out += "  " + line + "\n";
  return out;
}

}  // namespace

TEST_CASE("plain: the engine reports what it does of every case") {
  std::size_t tests = 0, results = 0;
  for (const std::string& file : case_files()) {
    const auto loaded = app::load_rules(file, app::TestFiles::kInclude, actions::built_in_schemas(), nullptr);
    INFO(file);
    REQUIRE(loaded.rules != nullptr);  // tests/app says why not
    const auto network = nfa::Network::compile(loaded.rules);
    for (const dsl::plan::Test& test : network->rules().tests) {
      const auto expected = by_plain(test, network);
      ++tests;
      results += expected.size() - test.stages.size();
      for (const std::size_t index_from : {std::size_t{1}, engine::EngineOptions{}.index_runs_from}) {
        const auto actual = by_engine(test, network, index_from);
        CHECK_MESSAGE(actual == expected, test.name << ", index from " << index_from << ": plain:\n"
                                                    << joined(expected) << "engine:\n"
                                                    << joined(actual));
      }
    }
  }
  CHECK(tests >= 150);
  CHECK(results >= tests);
}
