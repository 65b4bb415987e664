#pragma once
/// The figures and measures as Prometheus wants them.

#include <cstddef>
#include <vector>

#include "app/figures.h"
#include "app/measures.h"
#include "base/clock.h"
#include "state/backend.h"

namespace prometheus {
struct MetricFamily;
}

namespace cepd::app {

/// Where the page's content comes from, but for the figures. They outlive who shows it.
struct PageSources {
  const Measures& measures;
  state::StateBackend& backend;
  const Clock& clock;
  EventTime started{};  ///< by the wall clock
  std::size_t queue_limit = 0, lanes = 1;
  /// Of partial matches and events, beyond which keys are only stored; 0: all keys are in memory.
  std::size_t memory_limit = 0;
};

/// One family for each row of the table, in its order. Without figures (null) those that they would fill are empty.
/// Any thread.
std::vector<prometheus::MetricFamily> metrics_page(const Figures* figures, const PageSources& sources);

}  // namespace cepd::app
