#pragma once
/// Which events concern a rule under a key (language.md section 2).

#include <set>

#include "tests/reference/expression.h"

namespace cepd::reference {

/// The types that the rule reads by name, whether as input or for UNLESS.
std::set<std::string> types_named(const Rule& rule);

/// The values of the rule's KEY in this event, by an element's BY or by KEY itself; none when one is missing.
std::optional<Key> key_of(const Rule& rule, const Event& event, const std::vector<FieldPath>& by);

/// Type and key fit; conditions aside.
bool concerns(const ast::EventPattern& pattern, const Rule& rule, const Event& event, const Key& key);
/// The same with its `[condition]`.
bool accepts(const ast::EventPattern& pattern, const Event& event, const Scope& scope);

/// The keys under which the event is the rule's input: "once for each element or FROM entry whose fields give that
/// key".
std::set<Key, KeyLess> input_keys(const Rule& rule, const Event& event);
/// The keys under which UNLESS may look at it; they are no input by that.
std::set<Key, KeyLess> unless_keys(const Rule& rule, const Event& event);

}  // namespace cepd::reference
