#pragma once
/// After a crash: does once more what the journal says was done behind the last checkpoint, with the same matches, ids
/// and action calls.

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "adapters/open.h"
#include "app/pump.h"
#include "state/backend.h"
#include "state/journal.h"

namespace cepd::app {

struct Recovered {
  std::uint64_t entries = 0;   ///< of the journal
  std::uint64_t messages = 0;  ///< taken again
  std::uint64_t missing = 0;   ///< messages' runs that their source does not have any more
};

using OpenSource = std::function<std::unique_ptr<adapters::OpenedSource>(const SourceId&)>;

/// Runs the journal's entries behind number `behind` through `pump`, which was restored from the checkpoint. `open`
/// makes a new source as the configuration has it, null where it has none of that name; those that can be read again
/// are started where the pump stands, once more in each file they went on to, and stopped. `reload` puts the rules of a
/// journal entry in place. Errors: kCorrupt; those of the backend; of a source that cannot be started; of `reload`.
Result<Recovered> recover(state::StateBackend& backend, std::uint64_t behind, Pump& pump, const OpenSource& open,
                          const std::function<Status(std::vector<state::RuleText>)>& reload);

}  // namespace cepd::app
