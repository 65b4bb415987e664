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

/// Runs the journal's entries behind number `behind` through `pump`, which was restored from the checkpoint. `sources`
/// are new ones, of the same configuration; those that can be read again are started where the checkpoint stands and
/// stopped at the end. `reload` puts the rules of a journal entry in place. Errors: kCorrupt; those of the backend; of
/// a source that cannot be started; of `reload`.
Result<Recovered> recover(state::StateBackend& backend, std::uint64_t behind, Pump& pump,
                          std::vector<std::unique_ptr<adapters::OpenedSource>> sources,
                          const std::function<Status(std::vector<state::RuleText>)>& reload);

}  // namespace cepd::app
