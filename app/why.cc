/// cepd why: what kept a rule from firing for a key.

#include <algorithm>
#include <charconv>
#include <cmath>
#include <iostream>
#include <variant>

#include "adapters/numeric_time.h"
#include "app/commands.h"
#include "app/key_question.h"
#include "app/rule_messages.h"
#include "app/why_text.h"

namespace cepd::app {
namespace {

std::optional<EventTime> time_of(const std::string& text, TimeUnit unit) {
  if (const auto time = parse_rfc3339(text)) return time;
  const char* end = text.data() + text.size();
  std::optional<std::int64_t> us;
  std::int64_t integer = 0;
  double real = 0;
  if (const auto read = std::from_chars(text.data(), end, integer); read.ec == std::errc{} && read.ptr == end) {
    us = adapters::micros_of(integer, unit);
  } else if (const auto fraction = std::from_chars(text.data(), end, real);
             fraction.ec == std::errc{} && fraction.ptr == end && std::isfinite(real)) {
    us = adapters::micros_of(real, unit);
  }
  if (!us) return std::nullopt;
  return event_time_us(*us);
}

std::string event_words(const Event& event) {
  if (event.maker() != nullptr)
    return "the event that match " + to_string(*event.maker()) + " made (" + format_rfc3339(event.time) + ")";
  return "line " + std::to_string(event.position.offset + 1) + " (" + format_rfc3339(event.time) + ")";
}

const WhyStyle& file_style() {
  static const WhyStyle style{event_words, format_rfc3339};
  return style;
}

/// The events of the key asked for that came too late.
class LateEvents {
 public:
  LateEvents(const nfa::Network& network, std::uint32_t rule, KeyQuestion& question)
      : network_(network), rule_(rule), question_(question) {}

  void note(const Event& event, EventTime watermark) {
    for (const nfa::RuleInput& input : network_.inputs(event.type)) {
      if (input.rule != rule_) continue;
      const bool wanted = std::any_of(input.entries.begin(), input.entries.end(), [&](const nfa::Entry& entry) {
        std::vector<Value> key;
        for (const dsl::plan::FieldRef& ref : entry.key) {
          key.push_back(nfa::read_property(ref, event, network_.fields()));
        }
        return question_.wanted(key);
      });
      if (!wanted) continue;
      constexpr std::uint64_t kMostShown = 3;
      if (count_++ < kMostShown) {
        lines_ += "  " + event_words(event) + ": " + format_duration(watermark - event.time) +
                  " behind what had come before\n";
      }
    }
  }
  std::string text() const {
    if (count_ == 0) return {};
    return std::to_string(count_) + (count_ == 1 ? " event" : " events") +
           " of the key came too late and had no part in it (--max-delay or --sort takes such):\n" + lines_;
  }
  bool any() const { return count_ > 0; }

 private:
  const nfa::Network& network_;
  std::uint32_t rule_;
  KeyQuestion& question_;
  std::uint64_t count_ = 0;
  std::string lines_;
};

/// The index of the rule; without one the exit code, with what there is to say said.
std::variant<std::size_t, int> find_rule(const WhyArguments& arguments, const dsl::RuleSet& set) {
  std::vector<std::string> names = set.disabled;
  for (std::size_t i = 0; i < set.rules.size(); ++i) {
    if (set.rules[i].name == arguments.rule) return i;
    names.push_back(set.rules[i].name);
  }
  if (std::find(set.disabled.begin(), set.disabled.end(), arguments.rule) != set.disabled.end()) {
    std::cout << "the rule " << arguments.rule << " is DISABLED: it is checked and not loaded\n";
    return kGood;
  }
  std::cerr << "cepd why: no rule " << arguments.rule << " in " << arguments.rules << "\n";
  if (const std::string hint = did_you_mean(arguments.rule, names); !hint.empty()) std::cerr << "  " << hint << "\n";
  return kWrongUse;
}

}  // namespace

int why_command(const WhyArguments& arguments) {
  const auto options = read_options("why", arguments.events);
  if (!options) return kWrongUse;
  EventTime until = kMaxTime;
  if (!arguments.time.empty()) {
    const auto time = time_of(arguments.time, options->decoding.time_unit);
    if (!time) {
      std::cerr << "cepd why: TIME is like 2026-01-05T22:00:00Z or a number as in the input\n";
      return kWrongUse;
    }
    until = *time;
  }
  const auto network = load_network(arguments.rules, TestFiles::kLeaveOut, arguments.config);
  if (!network) return kFailed;
  const auto found = find_rule(arguments, network->rules());
  if (const int* code = std::get_if<int>(&found)) return *code;
  const std::size_t rule = std::get<std::size_t>(found);
  const dsl::plan::Rule& plan = network->rules().rules[rule];
  auto question = KeyQuestion::parse(arguments.key, plan);
  if (!question) {
    std::cerr << "cepd why: " << question.error().message << "\n";
    return kWrongUse;
  }

  engine::Story story(
      *network, rule, [&](std::span<const Value> key) { return question->wanted(key); }, until);
  LateEvents late(*network, static_cast<std::uint32_t>(rule), *question);
  BadLines bad(arguments.events.input);
  FileRun run(network, *options,
              {[](const MatchPtr&) {},
               [&](const Event& event) { late.note(event, run.engine().watermark()); },
               [&](std::int64_t line, const adapters::DecodeError& error) { bad.note(line, error); },
               {}});
  run.engine().set_trace(plan.name, &story);
  if (!for_each_line("why", arguments.events.input, [&](const auto& message) { run.take(message); })) return kFailed;
  run.finish();

  const engine::Story::Told told = story.tell();
  if (!plan.key.empty() && !told.any_event && !late.any()) {
    std::cerr << "cepd why: no event of the types that " << plan.name << " names";
    std::cerr << " has " << question->words() << "\n  " << question->suggestion() << "\n"
              << WhyText(*network, rule, file_style()).left_out(told);
    return kWrongUse;
  }
  const WhyText text(*network, rule, file_style());
  std::cout << plan.name << (plan.key.empty() ? "" : ", " + question->words())
            << (until == kMaxTime ? "" : ", up to " + format_rfc3339(until)) << ": " << text.reported(told)
            << text.failure(told) << late.text();
  if (bad.count() > 0) {
    std::cout << bad.count()
              << (bad.count() == 1 ? " line of the input is no event" : " lines of the input are no events")
              << " (said above)\n";
  }
  return kGood;
}

}  // namespace cepd::app
