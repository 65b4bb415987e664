#pragma once
/// EMIT … INTO: makes events out of a rule's matches.

#include <memory>
#include <optional>
#include <vector>

#include "base/event.h"
#include "base/match.h"
#include "nfa/network.h"

namespace cepd::engine {

/// Of one rule. Any thread.
class EventMaker {
 public:
  EventMaker(const nfa::Network& network, const dsl::plan::Rule& rule);

  /// The event that `match` makes, with the emitted items and the key fields as its fields, as far as rules read them.
  /// Null when its rule makes none or no rule reads it.
  EventPtr make(const Match& match) const;

 private:
  /// Where a field of the made event comes from.
  struct Field {
    std::optional<std::size_t> item;  ///< of EMIT; otherwise from the key
    FieldPath path;                   ///< inside the item, or from the top where it is the key's
    std::optional<FieldType> type;    ///< as declared
  };
  struct Plan {
    TypeId type{};
    std::vector<Field> fields;  ///< by slot
  };
  static std::optional<Plan> plan_of(const nfa::Network& network, const std::optional<TypeId>& into,
                                     const List<dsl::plan::Item>& items);

  std::optional<Plan> on_match_, on_timeout_;
};

}  // namespace cepd::engine
