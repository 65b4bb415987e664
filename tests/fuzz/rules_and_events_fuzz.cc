/// Rules with events, in one text: rule statements, whose TEST blocks give events, then after a line `---` events as
/// JSON lines. The engine reports the same whether its state is saved and restored after every event, or shared by
/// three lanes.
#include "tests/fuzz/fuzz.h"

#include "actions/open.h"
#include "adapters/decoder.h"
#include "base/check.h"
#include "dsl/check.h"
#include "dsl/parse.h"
#include "engine/engine.h"
#include "state/memory_backend.h"

using namespace cepd;

namespace {

constexpr std::size_t kMostRules = 8, kMostEvents = 60, kMostPartialMatches = 300;

std::vector<std::string> events_of(const dsl::RuleSet& rules, std::string_view json_lines) {
  std::vector<std::string> out;
  for (const dsl::plan::Test& test : rules.tests) {
    for (const dsl::plan::Stage& stage : test.stages) {
      for (const dsl::plan::Given& given : stage.given) {
        if (given.watermark || out.size() >= kMostEvents) continue;
        std::string line = given.fields_json;
        line.pop_back();  // the closing brace
        line += std::string(line.size() > 1 ? "," : "") + "\"type\":";
        append_json_string(line, given.type);
        line += ",\"ts\":" + std::to_string(given.at.time_since_epoch().count()) + "}";
        out.push_back(std::move(line));
      }
    }
  }
  while (!json_lines.empty() && out.size() < kMostEvents) {
    const std::size_t end = std::min(json_lines.find('\n'), json_lines.size());
    out.emplace_back(json_lines.substr(0, end));
    json_lines.remove_prefix(std::min(end + 1, json_lines.size()));
  }
  return out;
}

enum class Drive { kPlain, kRestored, kLanes };

std::string reports(const std::shared_ptr<const nfa::Network>& network, const std::vector<std::string>& events,
                    Drive drive) {
  std::string out;
  adapters::DecoderOptions decoding;
  decoding.time_unit = TimeUnit::kMicros;
  adapters::JsonDecoder decoder(decoding);
  const auto backend = state::memory_backend();
  std::unique_ptr<engine::Engine> engine;
  const auto make = [&] {
    engine::EngineOptions options;
    options.max_partial_matches = kMostPartialMatches;
    options.track_changes = drive == Drive::kRestored;
    options.lanes = drive == Drive::kLanes ? 3 : 1;
    engine = std::make_unique<engine::Engine>(
        network, options,
        engine::Engine::Handlers{
            [&](const engine::MatchView& match) { out += to_json(*match.take(), EventsForm::kLines) + "\n"; }, {}});
    engine->set_max_delay(SourceId("fuzz"), std::chrono::seconds(2));
  };
  make();
  std::int64_t offset = 0;
  for (const std::string& line : events) {
    adapters::Message message;
    message.position = {SourceId("fuzz"), 0, offset++};
    message.bytes = line;
    auto decoded = decoder.decode(message, network->fields());
    if (auto* event = std::get_if<EventPtr>(&decoded)) engine->push(std::move(*event), line);
    if (drive != Drive::kRestored) continue;
    state::WriteBatch batch;
    engine->save(batch);
    CEPD_CHECK(backend->commit(batch).has_value());
    make();
    const auto restored = engine->restore(*backend, [&](const Event& event, std::string_view type) {
      return decoder.decode_again(event, type, network->fields());
    });
    CEPD_CHECK(restored.has_value());
  }
  engine->finish();
  return out;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const dsl::CheckOptions options{actions::built_in_schemas()};
  const std::string text = fuzz::text_of(data, size);
  const std::size_t cut = text.find("\n---\n");
  dsl::Parsed parsed = dsl::parse("rules/fuzz.rules", text.substr(0, cut));
  if (has_errors(parsed.diagnostics)) return 0;
  std::vector<dsl::ast::File> files;
  files.push_back(std::move(parsed.file));
  const dsl::Checked checked = dsl::check(files, options, nullptr);
  if (checked.rules == nullptr || checked.rules->rules.size() > kMostRules) return 0;
  const auto network = nfa::Network::compile(checked.rules);
  const std::vector<std::string> events =
      events_of(*checked.rules, cut == std::string::npos ? std::string_view{} : std::string_view(text).substr(cut + 5));
  const std::string plain = reports(network, events, Drive::kPlain);
  fuzz::require(reports(network, events, Drive::kRestored) == plain, "a restore changes nothing");
  fuzz::require(reports(network, events, Drive::kLanes) == plain, "lanes change nothing");
  return 0;
}
