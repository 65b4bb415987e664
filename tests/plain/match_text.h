#pragma once
/// A match in one line with all that there is to compare: of the engine and of the plain one.

#include <string>

#include "base/match.h"

namespace cepd::plain {

inline std::string text_of(const Match& match) {
  std::string out = to_json(match, EventsForm::kPositions);
  const auto add = [&](const NamedValue& each) {
    out += ' ' + each.name + '=';
    append_json(out, each.value);
  };
  if (match.shadow) out += " shadow";
  for (const NamedValue& label : match.labels) add(label);
  for (const ActionCall& call : match.actions) {
    out += ' ' + call.action + ':';
    for (const NamedValue& argument : call.arguments) add(argument);
  }
  return out;
}

}  // namespace cepd::plain
