#pragma once
/// All that a pattern does with the events of one key when nothing is ever taken away by a policy: every partial match
/// (run) with its birth and its end, and every completion. Each run reads the events after its last one by itself;
/// runs do not know of each other.

#include <memory>

#include "tests/reference/input.h"
#include "tests/reference/todo.h"

namespace cepd::reference {

/// Why a run does not go on.
enum class RunEnd : std::uint8_t {
  kAlive,   ///< it still waits
  kMoved,   ///< its next event was taken; its children go on
  kBroken,  ///< by NOT, NEXT, UNTIL or UNLESS
  kBound,   ///< its last open way ran out of a bound: a time-out
  kComplete,
};

struct Run {
  const Run* parent = nullptr;
  Bindings bound;
  Front front;
  bool absence = false;  ///< it only waits for its last NOTs: "a waiting partial match does not move any more"
  Point born;
  std::optional<Point> completes;
  RunEnd end = RunEnd::kAlive;
  Point ended;  ///< unless alive

  const Event& first() const { return *bound.front().event; }
  const Event& last() const { return *bound.back().event; }
};

/// An event of the key, with what it is to the rule: input, or only something for UNLESS to look at.
struct KeyEvent {
  EventPtr event;
  bool input = true;
};

/// More runs than this are not worth reading; thrown.
struct TooManyRuns {};
inline constexpr std::size_t kMaxRuns = 20'000;

/// `events` in the order in which they are handled. What falls due at t happens when `watermark` is later than t.
/// Parents stand before their children.
std::vector<std::unique_ptr<Run>> all_runs(const Rule& rule, const Key& key, const std::vector<KeyEvent>& events,
                                           EventTime watermark);

/// "earlier first event, then more events, then the order of their events' positions, then (same events under other
/// names), at the first event where they differ, the one that binds it to the element written earlier" (section 5).
int match_order(const Bindings& a, const Bindings& b);

}  // namespace cepd::reference
