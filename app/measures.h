#pragma once
/// What is counted and timed at the place where it happens, by any thread; /metrics shows it.

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "app/metric_table.h"
#include "base/clock.h"
#include "state/checkpoint_records.h"
#include "state/committer.h"
#include "state/outbox.h"

namespace prometheus {
struct ClientMetric;
}

namespace cepd::app {

/// Thread-safe. What reads takes a lock for the time of copying one histogram, and none that matching takes.
class Measures {
 public:
  /// `actions`: the configured names. `clock` outlives it.
  Measures(const std::vector<std::string>& actions, const Clock& clock);
  ~Measures();

  // The writer thread.
  void committed(const state::Commit& commit);
  void commit_failed();
  void checkpoint_finished(const state::CheckpointInfo& info);
  void checkpoint_failed();
  /// The pump's thread: for so long it gave something to a checkpoint and took no event.
  void stalled(std::chrono::steady_clock::duration time);
  /// A delivery worker: the call's first attempt is about to be made.
  void calling(const state::OutboxRecord& call);

  /// What the metric has: one element, or one for each label's value. Requires one that is measured here.
  std::vector<prometheus::ClientMetric> collect(Metric metric) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace cepd::app
