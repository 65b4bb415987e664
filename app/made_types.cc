#include "app/made_types.h"

namespace cepd::app {

std::optional<std::string> MadeTypes::from_source(const nfa::Network& network, TypeId type) {
  if (network.derived_inputs(type).empty()) return std::nullopt;
  const std::string& name = network.fields().type(type).name;
  if (!noted_.insert(name).second) return std::nullopt;
  const std::uint32_t maker = network.makers(type).front();
  return "events of type " + name + " come from a source, and the rule " + network.rules().rules[maker].name +
         " makes such too: rules that name the type read both";
}

}  // namespace cepd::app
