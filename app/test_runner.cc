#include "app/test_runner.h"

#include <algorithm>
#include <boost/algorithm/string/replace.hpp>
#include <charconv>
#include <utility>

#include "adapters/decoder.h"
#include "app/why_text.h"
#include "base/check.h"
#include "state/memory_backend.h"

namespace cepd::app {
namespace {

namespace plan = dsl::plan;

// Payload fields may be called anything, also `type` or `ts`: the decoder reads type and time under names no rule can
// want.
constexpr std::string_view kTypeField = "\x01type";
constexpr std::string_view kTimeField = "\x01time";

adapters::DecoderOptions decoder_options() {
  adapters::DecoderOptions options;
  options.type_field = FieldPath::of(std::string(kTypeField));
  options.time_field = FieldPath::of(std::string(kTimeField));
  options.time_unit = TimeUnit::kMicros;
  return options;
}

std::string given_line(const plan::Given& given) {
  CEPD_CHECK(given.fields_json.size() >= 2 && given.fields_json.back() == '}');
  std::string line = given.fields_json.substr(0, given.fields_json.size() - 1);
  if (line.size() > 1) line += ',';
  append_json_string(line, kTypeField);
  line += ':';
  append_json_string(line, given.type);
  line += ',';
  append_json_string(line, kTimeField);
  return line + ":" + std::to_string(to_us(given.at)) + "}";
}

struct ActualField {
  std::string name;
  std::string json;
  Value scalar;  // null for strings, arrays and objects: their JSON says it all
};

/// One reported match in the form an EXPECT is compared with.
struct Actual {
  MatchKind kind;
  EventTime time;
  std::vector<ActualField> fields;

  std::string text() const {
    std::string out = kind == MatchKind::kMatch ? "MATCH {" : kind == MatchKind::kTimeout ? "TIMEOUT {" : "WINDOW {";
    for (std::size_t i = 0; i < fields.size(); ++i)
      out += (i == 0 ? "" : ", ") + fields[i].name + ": " + fields[i].json;
    return out + "} @" + format_duration(time.time_since_epoch());
  }
};

/// An EXPECT's number fits an int or double of that value, its time or duration literal a timestamp or duration.
bool same_value(const std::string& expected_json, const ActualField& actual) {
  if (expected_json == actual.json) return true;
  const std::string_view unquoted = expected_json.size() >= 2 && expected_json.front() == '"'
                                        ? std::string_view(expected_json).substr(1, expected_json.size() - 2)
                                        : std::string_view{};
  switch (actual.scalar.kind()) {
    case Kind::kTimestamp:
      return parse_rfc3339(unquoted) == actual.scalar.as_time();
    case Kind::kDuration:
      return parse_duration(unquoted) == actual.scalar.as_duration();
    case Kind::kInt:
    case Kind::kDouble: {
      double number = 0;
      const char* end = expected_json.data() + expected_json.size();
      const auto parsed = std::from_chars(expected_json.data(), end, number);
      return parsed.ec == std::errc{} && parsed.ptr == end &&
             compare(actual.scalar, Value::real(number)) == Ordering::kEqual;
    }
    default:
      return false;
  }
}

bool fits(const plan::Expected& expected, const Actual& actual) {
  if (expected.kind != actual.kind) return false;
  if (expected.at && *expected.at != actual.time) return false;
  return std::all_of(expected.fields.begin(), expected.fields.end(), [&](const auto& wanted) {
    const auto it = std::find_if(actual.fields.begin(), actual.fields.end(),
                                 [&](const ActualField& f) { return f.name == wanted.first; });
    return it != actual.fields.end() && same_value(wanted.second, *it);
  });
}

/// Requires a rule of that name: a TEST without one is an error of the check.
std::size_t index_of(const nfa::Network& network, const std::string& name) {
  const auto& rules = network.rules().rules;
  const auto found =
      std::find_if(rules.begin(), rules.end(), [&](const plan::Rule& rule) { return rule.name == name; });
  CEPD_CHECK(found != rules.end());
  return static_cast<std::size_t>(found - rules.begin());
}

std::string indented(const std::string& text) {
  return "    " + boost::algorithm::replace_all_copy(text.substr(0, text.size() - 1), "\n", "\n    ") + "\n";
}

/// Feeds one engine, which can be replaced by one restored from its saved state.
class Subject {
 public:
  /// `explained`: the story is kept, from which why() answers.
  Subject(std::shared_ptr<const nfa::Network> network, const plan::Test& test, TestMode mode, bool explained)
      : network_(std::move(network)),
        test_(test),
        mode_(mode),
        explained_(explained),
        rule_(index_of(*network_, test.rule)),
        story_(
            *network_, rule_, [](std::span<const Value>) { return true; }, kMaxTime),
        decoder_(decoder_options()),
        backend_(state::memory_backend()) {
    make_engine();
  }

  /// Empty, or why the given event cannot be one.
  std::string give(const plan::Given& given) {
    if (given.watermark) {
      // "Moves the watermark to just after d": no event at d can come any more.
      engine_->advance(saturating_add(given.at, Micros(1)));
    } else {
      adapters::Message message;
      message.position = {source_, 0, next_offset_++};
      message.bytes = given_line(given);
      auto decoded = decoder_.decode(message, network_->fields());
      if (auto* failed = std::get_if<adapters::DecodeError>(&decoded)) {
        return std::string(drop_reason_name(failed->reason)) + ": " + failed->detail;
      }
      engine_->push(std::move(std::get<EventPtr>(decoded)), message.bytes);
    }
    if (mode_ == TestMode::kRestoreAfterEachEvent) restore_from_save();
    return {};
  }

  std::vector<Actual> take_actual() {
    engine_->flush();
    return std::exchange(actual_, {});
  }
  const std::vector<std::string>& late() const { return late_; }
  /// Why the rule fired no more in this stage.
  std::string why() {
    const WhyStyle style{
        [this](const Event& event) { return event_words(event); },
        [](EventTime time) { return "@" + format_duration(time.time_since_epoch()); },
    };
    return WhyText(*network_, rule_, style).failure(story_.tell());
  }
  void begin_stage() { story_.begin_chapter(); }

 private:
  std::string event_words(const Event& event) const {
    const std::string type =
        event.type == kOtherType ? std::string(event.other_type()) : network_->fields().type(event.type).name;
    return type + " @" + format_duration(event.time.time_since_epoch()) +
           (event.maker() != nullptr ? ", made by a rule" : "");
  }

  void make_engine() {
    engine::EngineOptions options;
    options.track_changes = mode_ == TestMode::kRestoreAfterEachEvent;
    options.lanes = mode_ == TestMode::kFourLanes ? 4 : 1;
    engine_ = std::make_unique<engine::Engine>(
        network_, options,
        engine::Engine::Handlers{[this](const engine::MatchView& match) { note(*match.take()); },
                                 [this](const Event& event, DropReason reason, std::string_view) {
                                   late_.push_back("event @" + format_duration(event.time.time_since_epoch()) +
                                                   " was " + std::string(drop_reason_name(reason)));
                                 }});
    engine_->set_max_delay(source_, test_.max_delay);
    if (explained_) engine_->set_trace(test_.rule, &story_);
  }

  void restore_from_save() {
    state::WriteBatch batch;
    engine_->save(batch);
    CEPD_CHECK(backend_->commit(batch).has_value());
    make_engine();
    const auto restored = engine_->restore(*backend_, [this](const Event& event, std::string_view type) {
      return decoder_.decode_again(event, type, network_->fields());
    });
    CEPD_CHECK(restored.has_value());
  }

  void note(const Match& match) {
    if (match.rule != test_.rule) return;
    Actual actual{match.kind, match.time, {}};
    for (const NamedValue& item : match.emit) {
      std::string json;
      append_json(json, item.value);
      actual.fields.push_back({item.name, std::move(json), item.value.is_text() ? Value::null() : item.value});
    }
    actual_.push_back(std::move(actual));
  }

  std::shared_ptr<const nfa::Network> network_;
  const plan::Test& test_;
  TestMode mode_;
  bool explained_;
  std::size_t rule_;
  engine::Story story_;
  adapters::JsonDecoder decoder_;
  std::unique_ptr<state::StateBackend> backend_;
  std::unique_ptr<engine::Engine> engine_;
  SourceId source_{"test"};
  std::int64_t next_offset_ = 0;
  std::vector<Actual> actual_;
  std::vector<std::string> late_;
};

/// True when something expected did not come, however much else did.
bool some_missing(const plan::Stage& stage, const std::vector<Actual>& actual) {
  return std::any_of(stage.expected.begin(), stage.expected.end(), [&](const plan::Expected& expected) {
    return std::none_of(actual.begin(), actual.end(), [&](const Actual& each) { return fits(expected, each); });
  });
}

std::string side_by_side(const plan::Stage& stage, const std::vector<Actual>& actual) {
  constexpr std::size_t kWidest = 60;
  std::vector<std::string> left, right;
  for (const plan::Expected& expected : stage.expected) left.push_back(expected.text);
  for (const Actual& each : actual) right.push_back(each.text());
  if (left.empty()) left.emplace_back("NOTHING");
  if (right.empty()) right.emplace_back("nothing");
  std::size_t width = std::string_view("expected").size();
  for (const std::string& text : left) width = std::max(width, std::min(text.size(), kWidest));
  const auto row = [&](const std::string& a, const std::string& b, bool same) {
    return "    " + a + std::string(a.size() < width ? width - a.size() : 0, ' ') + (same ? "   " : " | ") + b + "\n";
  };
  std::string out = row("expected", "actual", true);
  for (std::size_t i = 0; i < std::max(left.size(), right.size()); ++i) {
    const bool same = i < stage.expected.size() && i < actual.size() && fits(stage.expected[i], actual[i]);
    out += row(i < left.size() ? left[i] : "-", i < right.size() ? right[i] : "-", same);
  }
  return out;
}

TestOutcome attempt(const std::shared_ptr<const nfa::Network>& network, const plan::Test& test, TestMode mode,
                    bool explained) {
  TestOutcome outcome{test.name, test.rule, test.file, test.line, true, {}};
  Subject subject(network, test, mode, explained);
  for (std::size_t number = 0; number < test.stages.size() && outcome.passed; ++number) {
    const plan::Stage& stage = test.stages[number];
    subject.begin_stage();
    for (const plan::Given& given : stage.given) {
      if (const std::string wrong = subject.give(given); !wrong.empty()) {
        outcome.passed = false;
        outcome.report = "    GIVEN " + given.type + " @" + format_duration(given.at.time_since_epoch()) +
                         " is no event: " + wrong + "\n";
        return outcome;
      }
    }
    const std::vector<Actual> actual = subject.take_actual();
    outcome.passed = actual.size() == stage.expected.size() &&
                     std::equal(stage.expected.begin(), stage.expected.end(), actual.begin(), fits);
    if (!outcome.passed) {
      outcome.report = side_by_side(stage, actual);
      if (explained && some_missing(stage, actual)) outcome.report += indented(subject.why());
      for (const std::string& late : subject.late()) outcome.report += "    " + late + "\n";
    }
  }
  return outcome;
}

}  // namespace

TestOutcome run_test(const std::shared_ptr<const nfa::Network>& network, const plan::Test& test, TestMode mode) {
  TestOutcome outcome = attempt(network, test, mode, false);
  if (outcome.passed || mode != TestMode::kPlain) return outcome;
  // Only a failure needs to be explained, and what is explained is matched more slowly.
  TestOutcome explained = attempt(network, test, mode, true);
  return explained.passed ? outcome : explained;
}

}  // namespace cepd::app
