#pragma once
/// What the engine reports: a completed match or a time-out, ready to print, to store and to act on.

#include <memory>
#include <string>
#include <vector>

#include "base/event.h"
#include "base/path.h"

namespace cepd {

enum class MatchKind : std::uint8_t { kMatch, kTimeout, kWindow };
std::string_view match_kind_name(MatchKind kind);  // "match" "timeout" "window"

struct NamedValue {
  std::string name;
  Value value;
};

/// One call of DO with its arguments computed and its templates filled in.
struct ActionCall {
  std::string action;  ///< configured name
  std::vector<NamedValue> arguments;
};

/// The events bound to one element, in order. `name` is the element's, or `A#1` for an element without one.
struct Binding {
  std::string name;
  std::vector<EventPtr> events;
};

struct Match {
  MatchId id;
  MatchKind kind = MatchKind::kMatch;
  std::string rule;
  std::vector<std::pair<FieldPath, Value>> key;  ///< in the order of KEY; values as on the match's first event
  EventTime time{};                              ///< when it was known (language-details.md section 5)
  EventTime first{};                             ///< first event's time
  EventTime last{};                              ///< last event's time
  std::vector<Binding> bindings;                 ///< bound elements only, in pattern order
  std::vector<NamedValue> emit;
  std::vector<NamedValue> labels;
  bool suppressed = false;          ///< over its LIMIT: no action runs
  bool shadow = false;              ///< of a SHADOW rule: no action runs
  std::vector<ActionCall> actions;  ///< empty when suppressed or shadow
  Arena arena;                      ///< owns text of the values above that no event owns
};

using MatchPtr = std::unique_ptr<Match>;

enum class EventsForm : std::uint8_t {
  kLines,      ///< the offset alone: `cepd replay`, one input file
  kFull,       ///< whole events as they came: `cepd replay --events full`
  kPositions,  ///< {"source":…,"partition":…,"offset":…}: what actions get, the same before and after a restart
};

/// The line `cepd replay` prints (language.md section 9), without line end.
/// Derived events stand as their maker's id, whatever the form.
std::string to_json(const Match& match, EventsForm form);

}  // namespace cepd
