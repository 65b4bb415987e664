#pragma once
/// One event as the engine sees it: its place in time and in its source, and the fields that rules read.

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/arena.h"
#include "base/ids.h"
#include "base/value.h"

namespace cepd {

struct Event {
  EventTime time{};
  TypeId type = kOtherType;
  std::string other_type;        ///< the type's name when `type` is kOtherType, else empty
  SourcePosition position;       ///< of a derived event: none, `maker` stands for it
  std::optional<MatchId> maker;  ///< the match that made a derived event (EMIT … INTO)
  bool shadow = false;           ///< made by a SHADOW rule or one fed by such: read by SHADOW rules only
  std::uint64_t sequence = 0;    ///< place in the engine's total order, given when the event is handled
  std::vector<Value> fields;     ///< by slot of the FieldPlan's type; missing at the end means null
  Arena arena;                   ///< owns the text of `fields`
  std::string raw;               ///< the bytes it was decoded from; empty for derived events and after a restore

  const Value& field(std::size_t slot) const {
    static const Value kNullValue = Value::null();
    return slot < fields.size() ? fields[slot] : kNullValue;
  }
};

/// Events are shared by the partial matches that hold them and never change once the engine has handled them.
using EventPtr = std::shared_ptr<const Event>;

}  // namespace cepd
