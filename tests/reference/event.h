#pragma once
/// The reference's own plain events. Nothing here knows of field plans, slots or networks.

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/arena.h"
#include "base/ids.h"
#include "base/time.h"
#include "base/value.h"

namespace cepd::reference {

struct Event {
  std::string type;
  EventTime time{};
  SourcePosition position;
  std::map<std::string, Value> fields;  ///< null is as good as missing
  std::size_t order = 0;                ///< place in the order in which events are handled, given by TotalOrder
  Arena arena;                          ///< owns the text of `fields`

  Value field(const std::string& name) const {
    const auto it = fields.find(name);
    return it == fields.end() ? Value::null() : it->second;
  }
};
using EventPtr = std::shared_ptr<const Event>;

/// A place on the line of results: "first all events of an instant, then what falls due at that instant" (section 2).
struct Point {
  EventTime time{};
  bool due = false;       ///< a deadline, behind all events of its instant
  std::size_t order = 0;  ///< of the event; 0 for a deadline

  static Point at(const Event& event) { return {event.time, false, event.order}; }
  static Point deadline(EventTime time) { return {time, true, 0}; }
  auto operator<=>(const Point&) const = default;
};

/// The values of KEY.
using Key = std::vector<Value>;
struct KeyLess {
  bool operator()(const Key& a, const Key& b) const {
    for (std::size_t i = 0; i < a.size() && i < b.size(); ++i) {
      if (const int order = key_order(a[i], b[i]); order != 0) return order < 0;
    }
    return a.size() < b.size();
  }
};

/// Thrown where a rule or an event uses something that the reference does not know (a function, a nested field, …).
struct OutsideSubset {
  std::string what;
};

}  // namespace cepd::reference
