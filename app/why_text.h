#pragma once
/// The story of a rule and key (engine/story.h), told to a person.

#include <functional>
#include <string>

#include "engine/story.h"

namespace cepd::app {

/// How events and times are shown: by line and in RFC 3339 for a file, as in its GIVEN for a test.
struct WhyStyle {
  std::function<std::string(const Event&)> event;
  std::function<std::string(EventTime)> time;
};

class WhyText {
 public:
  WhyText(const nfa::Network& network, std::size_t rule, const WhyStyle& style)
      : network_(network), rule_(network.rules().rules[rule]), automaton_(network.automaton(rule)), style_(style) {}

  /// `2 matches`, then a line for each of the last few.
  std::string reported(const engine::Story::Told& told) const;
  /// The partial match that got furthest: its events, what it waited for, what kept it from going on.
  std::string furthest(const engine::PartialStory& partial) const;
  /// Why no partial match was begun.
  std::string no_start(const engine::Story::Told& told) const;
  /// What was kept from the rule: events without key, and those that FROM leaves out.
  std::string left_out(const engine::Story::Told& told) const;
  /// `furthest` or, without a partial match, `no_start`; then `left_out`.
  std::string failure(const engine::Story::Told& told) const;

 private:
  const dsl::plan::Element& element(dsl::plan::ElementId id) const {
    return rule_.elements[static_cast<std::size_t>(id)];
  }
  std::string types(dsl::plan::ElementId id) const;
  std::string named(dsl::plan::ElementId id) const;
  std::string named(nfa::ElementSet set, const char* between) const;
  std::string bound(const std::vector<engine::Bound>& bound) const;
  std::string events(const std::vector<EventPtr>& events, std::uint64_t count) const;
  std::string waits_for(const engine::Run& run) const;
  std::string failed(const std::string& head, std::span<const dsl::plan::ExprPtr> conditions,
                     const nfa::Scope& scope) const;
  std::string tried(const engine::TriedList& list, const std::vector<engine::Bound>& bound) const;
  std::string tried(const engine::Tried& one, const std::vector<engine::Bound>& bound) const;
  std::size_t failures(const engine::Tried& one, const std::vector<engine::Bound>& bound) const;
  std::string end(const engine::PartialStory& partial) const;
  std::string end_of_time(const engine::PartialStory& partial) const;
  std::string next_missed(const engine::PartialStory& partial) const;
  std::string closed(const engine::Bound& by) const;
  std::vector<Value> key_of(const engine::Bound& first) const;

  const nfa::Network& network_;
  const dsl::plan::Rule& rule_;
  const nfa::Automaton& automaton_;
  const WhyStyle& style_;
};

}  // namespace cepd::app
