#include "app/stored_rules.h"

#include <utility>

namespace cepd::app {

Result<std::vector<state::RuleText>> read_stored_rules(state::StateBackend& backend) {
  std::vector<state::RuleText> files;
  CEPD_TRY(backend.scan(state::Space::kRules, {}, [&](std::string_view name, std::string_view text) -> Status {
    files.push_back({std::string(name), std::string(text)});
    return {};
  }));
  return files;
}

void put_rules(state::WriteBatch& batch, std::vector<state::RuleText> files) {
  batch.clear(state::Space::kRules);
  for (state::RuleText& file : files) batch.put(state::Space::kRules, std::move(file.name), std::move(file.text));
}

}  // namespace cepd::app
