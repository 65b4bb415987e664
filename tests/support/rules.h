#pragma once
/// Rules from text and events from a few words, for tests of what lies behind the parser.

#include <doctest/doctest.h>

#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "dsl/check.h"
#include "dsl/parse.h"
#include "nfa/network.h"

namespace cepd::test {

/// Compiles rule text; fails the test with the diagnostics when there is an error. Actions: log(message) only.
inline std::shared_ptr<const nfa::Network> network_of(const std::string& text, const FieldPlan* before = nullptr) {
  dsl::Parsed parsed = dsl::parse("test.rules", text);
  std::string messages;
  for (const Diagnostic& each : parsed.diagnostics) messages += format(each);
  dsl::CheckOptions options;
  options.actions = {ActionSchema{"log", {{"message", ArgumentType::kText, true, {}, {}, ""}}, false}};
  const dsl::Checked checked = dsl::check({parsed.file}, options, before);
  for (const Diagnostic& each : checked.diagnostics) messages += format(each);
  // What parses is checked also where something else does not.
  REQUIRE_MESSAGE((checked.rules != nullptr && !has_errors(parsed.diagnostics)), messages);
  return nfa::Network::compile(checked.rules);
}

/// Of no use to a waiting event that was restored with its fields.
inline EventPtr unread(const Event& event, std::string_view /*type*/) { return EventDraft(event).build(); }

using Fields = std::initializer_list<std::pair<const char*, Value>>;

/// An event of `type` at `seconds` after the epoch; `offset` is its position. Fields that no rule reads are left out.
inline EventPtr make_event(const FieldPlan& plan, const std::string& type, double seconds, std::int64_t offset,
                           Fields fields = {}, const char* source = "s") {
  EventDraft event;
  event.type = plan.find(type).value_or(kOtherType);
  if (event.type == kOtherType) event.other_type = type;
  event.time = event_time_us(static_cast<std::int64_t>(seconds * 1e6));
  event.position = {SourceId(source), 0, offset};
  for (const auto& [name, value] : fields) {
    const auto slot = plan.slot(event.type, FieldPath::of(name));
    if (!slot) continue;
    if (event.fields.size() <= *slot) event.fields.resize(*slot + 1);
    event.fields[*slot] = value;
  }
  return event.build();
}

}  // namespace cepd::test
