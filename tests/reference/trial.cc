#include "tests/reference/trial.h"

#include "adapters/decoder.h"
#include "base/check.h"
#include "dsl/check.h"
#include "dsl/parse.h"
#include "engine/engine.h"
#include "state/memory_backend.h"

namespace cepd::reference {
namespace {

constexpr std::string_view kTypeField = "\x01type";
constexpr std::string_view kTimeField = "\x01time";

dsl::Checked checked(const std::string& rules) {
  dsl::Parsed parsed = dsl::parse("random.rules", rules);
  dsl::CheckOptions options;
  options.actions = {ActionSchema{"log", {{"message", ArgumentType::kText, true, {}, {}, ""}}, false}};
  dsl::Checked out = dsl::check({parsed.file}, options, nullptr);
  if (!parsed.diagnostics.empty()) out.rules = nullptr;
  out.diagnostics.insert(out.diagnostics.begin(), parsed.diagnostics.begin(), parsed.diagnostics.end());
  return out;
}

void append_scalar(std::string& out, const Scalar& scalar) {
  if (const auto* b = std::get_if<bool>(&scalar)) return append_json(out, Value::boolean(*b));
  if (const auto* i = std::get_if<std::int64_t>(&scalar)) return append_json(out, Value::integer(*i));
  if (const auto* d = std::get_if<double>(&scalar)) return append_json(out, Value::real(*d));
  if (const auto* s = std::get_if<std::string>(&scalar)) return append_json(out, Value::string(*s));
  append_json(out, Value::null());
}

std::string fields_text(const std::map<std::string, Scalar>& fields, bool quoted) {
  std::string out;
  for (const auto& [name, scalar] : fields) {
    out += out.empty() ? "" : ", ";
    if (quoted) {
      append_json_string(out, name);
    } else {
      out += name;
    }
    out += ": ";
    append_scalar(out, scalar);
  }
  return out;
}

/// An engine that can be replaced by one restored from its saved state.
class Subject {
 public:
  Subject(const Trial& trial, const Drive& drive) : trial_(trial), drive_(drive), decoder_(options()) {
    dsl::Checked rules = checked(trial.rules.text);
    CEPD_CHECK(rules.rules != nullptr);
    network_ = nfa::Network::compile(rules.rules);
    make();
  }

  void give(const Given& given) {
    adapters::Message message;
    message.position = {SourceId(given.source), given.partition, given.offset};
    message.bytes = json_of(given, std::string(kTypeField), std::string(kTimeField));
    auto decoded = decoder_.decode(message, network_->fields());
    auto* event = std::get_if<cepd::EventPtr>(&decoded);
    CEPD_CHECK(event != nullptr);
    engine_->push(std::move(*event), message.bytes);
    if (drive_.restored) restore();
  }
  Lines finish() {
    engine_->finish();
    return std::move(lines_);
  }

 private:
  static adapters::DecoderOptions options() {
    adapters::DecoderOptions out;
    out.type_field = FieldPath::of(std::string(kTypeField));
    out.time_field = FieldPath::of(std::string(kTimeField));
    out.time_unit = TimeUnit::kMicros;
    return out;
  }
  void make() {
    engine::EngineOptions engine_options;
    engine_options.track_changes = drive_.restored;
    engine_options.lanes = drive_.lanes;
    engine_ = std::make_unique<engine::Engine>(
        network_, engine_options,
        engine::Engine::Handlers{[this](MatchPtr match) { add(*match); },
                                 [](const cepd::Event&, DropReason, std::string_view) {}});
    for (const auto& [source, delay] : trial_.max_delay) engine_->set_max_delay(SourceId(source), delay);
  }
  void restore() {
    engine_->flush();
    state::WriteBatch batch;
    engine_->save(batch);
    CEPD_CHECK(backend_->commit(batch).has_value());
    make();
    const auto restored = engine_->restore(*backend_, [this](const cepd::Event& event, std::string_view type) {
      return decoder_.decode_again(event, type, network_->fields());
    });
    CEPD_CHECK(restored.has_value());
  }

  void add(const Match& match) {
    Line line;
    line.kind = match.kind == MatchKind::kMatch ? ResultKind::kMatch : ResultKind::kTimeout;
    line.rule = match.rule;
    for (const auto& [path, value] : match.key) {
      line.key.emplace_back(std::get<std::string>(path.steps.back()), value);
    }
    line.time = match.time;
    for (const Binding& binding : match.bindings) {
      auto& places = line.bindings.emplace_back(binding.name, std::vector<std::string>{}).second;
      for (const cepd::EventPtr& event : binding.events) {
        places.push_back(event->maker() != nullptr ? maker_text(*event->maker()) : place_text(event->position));
      }
    }
    for (const NamedValue& item : match.emit) line.emit.emplace_back(item.name, item.value);
    line.suppressed = match.suppressed;
    line.shadow = match.shadow;
    // An id is that of what the match binds; on two branches of an OR the same may complete at two times.
    Line bound = line;
    bound.time = {};
    bound.emit.clear();
    bound.suppressed = false;
    numbers_.emplace(match.id, lines_.size());
    const bool own_id = ids_.emplace(match.id, text_of(bound)).first->second == text_of(bound);
    lines_.push_back(text_of(line) + (own_id ? "" : " with the id of another"));
  }

  std::string maker_text(const MatchId& maker) const {
    const auto number = numbers_.find(maker);
    return number == numbers_.end() ? "an unknown maker" : place_text(number->second);
  }

  const Trial& trial_;
  Drive drive_;
  adapters::JsonDecoder decoder_;
  std::shared_ptr<const nfa::Network> network_;
  std::unique_ptr<state::StateBackend> backend_ = state::memory_backend();
  std::unique_ptr<engine::Engine> engine_;
  Lines lines_;
  std::map<MatchId, std::size_t> numbers_;  ///< of the results by their ids
  std::map<MatchId, std::string> ids_;      ///< what they are the ids of
};

std::shared_ptr<Event> event_of(const Given& given) {
  auto out = std::make_shared<Event>();
  out->type = given.type;
  out->time = event_time_us(given.time_us);
  out->position = {SourceId(given.source), given.partition, given.offset};
  for (const auto& [name, scalar] : given.fields) {
    Value& value = out->fields[name];
    if (const auto* b = std::get_if<bool>(&scalar)) value = Value::boolean(*b);
    if (const auto* i = std::get_if<std::int64_t>(&scalar)) value = Value::integer(*i);
    if (const auto* d = std::get_if<double>(&scalar)) value = Value::real(*d);
    if (const auto* s = std::get_if<std::string>(&scalar)) value = Value::string(out->arena.copy(*s));
  }
  return out;
}

}  // namespace

std::string json_of(const Given& given, const std::string& type_field, const std::string& time_field) {
  std::string out = "{";
  append_json_string(out, type_field);
  out += ": ";
  append_json_string(out, given.type);
  out += ", ";
  append_json_string(out, time_field);
  out += ": " + std::to_string(given.time_us);
  const std::string fields = fields_text(given.fields, true);
  return out + (fields.empty() ? "" : ", ") + fields + "}";
}

std::string refusal(const std::string& rules) {
  const dsl::Checked result = checked(rules);
  if (result.rules != nullptr) return {};
  for (const Diagnostic& diagnostic : result.diagnostics) {
    if (diagnostic.severity == Severity::kError) return diagnostic.message;
  }
  return "refused";
}

Lines by_engine(const Trial& trial, const Drive& drive) {
  Subject subject(trial, drive);
  for (const Given& given : trial.input) subject.give(given);
  return subject.finish();
}

std::vector<Result> results_of(const Trial& trial) {
  const Constants constants = constants_of(trial.rules);
  std::vector<Rule> rules;
  for (const dsl::ast::Statement& statement : trial.rules.statements) {
    if (const auto* rule = std::get_if<dsl::ast::Rule>(&statement)) rules.push_back(make_rule(*rule, constants));
  }
  TotalOrder order;
  for (const auto& [source, delay] : trial.max_delay) order.set_max_delay(SourceId(source), delay);
  for (const Given& given : trial.input) order.arrive(event_of(given));
  order.end();
  return results_of(rules, order.handled(), order.watermark());
}

Lines by_reference(const Trial& trial) {
  Lines lines;
  for (const Result& result : results_of(trial)) lines.push_back(result.text);
  return lines;
}

std::string printed(const Trial& trial) {
  std::string out = trial.rules.text;
  bool as_test = true;
  for (const auto& [source, delay] : trial.max_delay) as_test &= source == "s";
  for (const Given& given : trial.input) as_test &= given.source == "s" && given.partition == 0;
  if (!as_test) {
    out += "# input:\n";
    for (const auto& [source, delay] : trial.max_delay) {
      out += "#   source " + source + ", max_delay " + format_duration(delay) + "\n";
    }
    for (const Given& given : trial.input) {
      out += given.source + "/" + std::to_string(given.partition) + "/" + std::to_string(given.offset) + " " +
             json_of(given, "type", "ts_us") + "\n";
    }
    return out;
  }
  for (const dsl::ast::Statement& statement : trial.rules.statements) {
    const auto* rule = std::get_if<dsl::ast::Rule>(&statement);
    if (rule == nullptr) continue;
    out += "\nTEST case_" + rule->name.text + " FOR " + rule->name.text;
    if (!trial.max_delay.empty()) out += " MAX DELAY " + format_duration(trial.max_delay.begin()->second);
    out += "\n  GIVEN  ";
    for (const Given& given : trial.input) {
      out += given.type + " @" + format_duration(Micros(given.time_us)) + " {" + fields_text(given.fields, false) +
             "}\n         ";
    }
    out += "WATERMARK @1d\n  EXPECT NOTHING\n";
  }
  return out;
}

}  // namespace cepd::reference
