#pragma once
/// The metrics there are, with the names under which dashboards and alerts know them: these never change.

#include <cstdint>
#include <span>
#include <string_view>

namespace cepd::app {

enum class Metric : std::uint8_t {
  kMessages,
  kQueueMessages,
  kQueueLimit,
  kEventsHandled,
  kEventsWaiting,
  kSeenIds,
  kSeenIdsForgotten,
  kEventsDropped,
  kWatermarkLag,
  kRules,
  kLanes,
  kReloads,
  kMatches,
  kTimeouts,
  kSuppressed,
  kRuleMatches,
  kRuleTimeouts,
  kRuleSuppressed,
  kOverCap,
  kRuleOverCap,
  kRuleUnknown,
  kStateMemory,
  kStateMemoryLimit,
  kKeysInMemory,
  kKeysStored,
  kKeysEvicted,
  kKeysLoaded,
  kOutboxCalls,
  kOutboxBytes,
  kOutboxLimit,
  kOutboxFull,
  kActionDelivered,
  kActionRetries,
  kActionRejected,
  kActionFailing,
  kActionBreaker,
  kActionBreakerOpened,
  kActionLatency,
  kCommits,
  kCommitWait,
  kCommitBytes,
  kCommitErrors,
  kSavingFails,
  kCheckpoints,
  kCheckpointAge,
  kCheckpointBytes,
  kCheckpointErrors,
  kCheckpointStalls,
  kCheckpointLongestStall,
  kCheckpointLongestSlice,
  kStateRecords,
  kStateBytes,
  kMirrorCopies,
  kMirrorBehind,
  kMirrorFailing,
  kMirrorErrors,
  kMirrorBytes,
  kMirrorTime,
  kRestoredKeys,
  kRestoredKeysDropped,
  kRestoredEvents,
  kRestoredCalls,
  kRestoredMessages,
  kFiguresAge,
  kResidentMemory,
  kProcessorTime,
  kStartTime,
};

enum class MetricKind : std::uint8_t { kCounter, kGauge, kHistogram };

struct MetricRow {
  Metric metric;
  MetricKind kind;
  std::string_view name;
  std::string_view label;  ///< empty: it has one value
  std::string_view help;
};

/// All rows, in the order of the enumerators.
std::span<const MetricRow> metric_table();
const MetricRow& metric_row(Metric metric);

}  // namespace cepd::app
