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

/// A place on the one line of all that happens. "An instant goes: … events in their order, then deadlines. A derived
/// event stands right after the input event … or deadline that set it off, before the next input event; several by
/// level, then maker's name, then the order of section 5" (language-details.md section 2). The deadlines of a level
/// come after the derived events of the levels below it at that instant.
struct Point {
  EventTime time{};
  bool due = false;         ///< a deadline, behind all input events of its instant
  std::size_t order = 0;    ///< of the input event; 0 for a deadline
  std::uint32_t level = 0;  ///< of the rule that has the deadline, or made the event; 0 for the input event itself
  bool made = false;        ///< a derived event
  std::string maker;        ///< the name of the rule that made it
  std::size_t number = 0;   ///< of the result that made it, among its rule's

  static Point input(EventTime time, std::size_t order) { return {time, false, order, 0, false, {}, 0}; }
  static Point deadline(EventTime time, std::uint32_t level) { return {time, true, 0, level, false, {}, 0}; }
  /// Where an event stands that is made here.
  Point derived(std::uint32_t by_level, const std::string& by, std::size_t result) const {
    return {time, due, order, by_level, true, by, result};
  }
  auto operator<=>(const Point&) const = default;
};

struct Event {
  std::string type;
  EventTime time{};
  SourcePosition position;              ///< none where a rule has made it
  std::map<std::string, Value> fields;  ///< null is as good as missing
  Point place;                          ///< of an input event given by TotalOrder, of a derived one by chain.h
  bool shadow = false;                  ///< made by a SHADOW rule: read by such rules only
  Arena arena;                          ///< owns the text of `fields`

  Value field(const std::string& name) const {
    const auto it = fields.find(name);
    return it == fields.end() ? Value::null() : it->second;
  }
};
using EventPtr = std::shared_ptr<const Event>;

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
