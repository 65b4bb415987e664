#include "app/metric_table.h"

#include <cstddef>

#include "base/check.h"

namespace cepd::app {
namespace {

using enum Metric;
constexpr auto kCounter = MetricKind::kCounter;
constexpr auto kGauge = MetricKind::kGauge;
constexpr auto kHistogram = MetricKind::kHistogram;

constexpr MetricRow kRows[] = {
    {kMessages, kCounter, "cepd_messages_total", "source", "Messages taken from the source"},
    {kQueueMessages, kGauge, "cepd_queue_messages", "", "Messages that wait between the sources and matching"},
    {kQueueLimit, kGauge, "cepd_queue_messages_limit", "", "Most of them (daemon.queue_messages)"},
    {kEventsHandled, kCounter, "cepd_events_handled_total", "", "Events handled in the order of their times"},
    {kEventsWaiting, kGauge, "cepd_events_waiting", "", "Events that wait for earlier ones (max_delay)"},
    {kSeenIds, kGauge, "cepd_dedup_ids", "", "Ids by which events that come again are known (dedup)"},
    {kSeenIdsForgotten, kCounter, "cepd_dedup_ids_forgotten_total", "", "Ids forgotten early (dedup_most)"},
    {kEventsDropped, kCounter, "cepd_events_dropped_total", "reason", "Messages that were not matched"},
    {kWatermarkLag, kGauge, "cepd_watermark_lag_seconds", "", "How far event time is behind the clock"},
    {kRules, kGauge, "cepd_rules", "", "Rules that run"},
    {kLanes, kGauge, "cepd_lanes", "", "Threads that match (engine.lanes)"},
    {kReloads, kCounter, "cepd_reloads_total", "outcome", "Reloads of the rules, done or refused"},
    {kMatches, kCounter, "cepd_matches_total", "", "Matches of all rules, suppressed ones included"},
    {kTimeouts, kCounter, "cepd_timeouts_total", "", "Time-outs of all rules, suppressed ones included"},
    {kSuppressed, kCounter, "cepd_suppressed_total", "", "Matches and time-outs over their rule's LIMIT"},
    {kRuleMatches, kCounter, "cepd_rule_matches_total", "rule", "Matches of a rule that has any"},
    {kRuleTimeouts, kCounter, "cepd_rule_timeouts_total", "rule", "Time-outs of a rule that has any"},
    {kRuleSuppressed, kCounter, "cepd_rule_suppressed_total", "rule", "Of these, over the rule's LIMIT"},
    {kOverCap, kCounter, "cepd_over_cap_total", "", "Partial matches dropped at the cap of one key, all rules"},
    {kRuleOverCap, kCounter, "cepd_rule_over_cap_total", "rule", "Partial matches dropped at the cap of one key"},
    {kRuleUnknown, kCounter, "cepd_rule_unknown_values_total", "rule",
     "Unknown values from unlike types, overflow or division"},
    {kStateMemory, kGauge, "cepd_state_memory_bytes", "", "Memory of partial matches and events"},
    {kStateMemoryLimit, kGauge, "cepd_state_memory_limit_bytes", "", "How much of it may be in use (state.memory)"},
    {kKeysInMemory, kGauge, "cepd_keys_in_memory", "", "Keys with partial matches that are in memory"},
    {kKeysStored, kGauge, "cepd_keys_stored_only", "", "Keys with partial matches that are only stored"},
    {kKeysEvicted, kCounter, "cepd_key_evictions_total", "", "Keys put out of memory (state.memory)"},
    {kKeysLoaded, kCounter, "cepd_key_loads_total", "", "Keys read again as an event or a deadline touched them"},
    {kOutboxCalls, kGauge, "cepd_outbox_calls", "action", "Calls that wait or are under way"},
    {kOutboxBytes, kGauge, "cepd_outbox_bytes", "action", "Bytes of these calls, as stored"},
    {kOutboxLimit, kGauge, "cepd_outbox_limit_bytes", "action", "Most of them (queue_bytes)"},
    {kOutboxFull, kGauge, "cepd_outbox_full", "action", "1 while they are more and no input is taken for it"},
    {kActionDelivered, kCounter, "cepd_action_delivered_total", "action", "Calls that were carried out"},
    {kActionRetries, kCounter, "cepd_action_retries_total", "action", "Attempts that did not work and are repeated"},
    {kActionRejected, kCounter, "cepd_action_rejected_total", "action", "Calls that were given up"},
    {kActionFailing, kGauge, "cepd_action_failing", "action", "1 while the last attempt did not work"},
    {kActionBreaker, kGauge, "cepd_action_breaker", "action", "Circuit breaker: 0 closed, 1 half-open, 2 open"},
    {kActionBreakerOpened, kCounter, "cepd_action_breaker_opened_total", "action", "Times that it opened"},
    {kActionLatency, kHistogram, "cepd_action_latency_seconds", "action",
     "From taking the event to the first attempt of the call"},
    {kCommits, kHistogram, "cepd_commit_seconds", "", "Group commits, by the time of writing"},
    {kCommitWait, kHistogram, "cepd_commit_wait_seconds", "", "Group commits, by the wait before it"},
    {kCommitBytes, kCounter, "cepd_commit_bytes_total", "", "Keys and values in group commits"},
    {kCommitErrors, kCounter, "cepd_commit_errors_total", "", "Attempts of group commits that failed"},
    {kSavingFails, kGauge, "cepd_saving_fails", "", "1 while the state cannot be saved and no input is taken"},
    {kCheckpoints, kHistogram, "cepd_checkpoint_seconds", "", "Finished checkpoints, by their time"},
    {kCheckpointAge, kGauge, "cepd_checkpoint_age_seconds", "", "Since one was finished last, or since the start"},
    {kCheckpointBytes, kGauge, "cepd_checkpoint_bytes", "", "Keys and values that the last one changed"},
    {kCheckpointErrors, kCounter, "cepd_checkpoint_errors_total", "", "Slices of checkpoints that failed"},
    {kCheckpointStalls, kHistogram, "cepd_checkpoint_stall_seconds", "", "Times for which events waited for one"},
    {kCheckpointLongestStall, kGauge, "cepd_checkpoint_longest_stall_seconds", "", "The longest of these times"},
    {kCheckpointLongestSlice, kGauge, "cepd_checkpoint_longest_slice_seconds", "",
     "The longest time for which a commit may have waited for one"},
    {kStateRecords, kGauge, "cepd_state_records", "space", "Records stored; in space journal its depth"},
    {kStateBytes, kGauge, "cepd_state_bytes", "space", "Bytes of pages that they take (memory: of keys and values)"},
    {kMirrorCopies, kCounter, "cepd_mirror_copies_total", "kind", "Checkpoints copied to the mirror, full or changes"},
    {kMirrorBehind, kGauge, "cepd_mirror_behind_checkpoints", "", "Checkpoints that the mirror is behind"},
    {kMirrorFailing, kGauge, "cepd_mirror_failing", "", "1 while the last attempt to copy did not work"},
    {kMirrorErrors, kCounter, "cepd_mirror_errors_total", "", "Attempts to copy that failed"},
    {kMirrorBytes, kCounter, "cepd_mirror_bytes_total", "", "Bytes sent to the mirror, compressed"},
    {kMirrorTime, kGauge, "cepd_mirror_copy_seconds", "", "Time that the last copy took"},
    {kRestoredKeys, kGauge, "cepd_restored_keys", "", "Keys whose partial matches the start took up"},
    {kRestoredKeysDropped, kGauge, "cepd_restored_keys_dropped", "", "Keys of rules that were changed, not taken up"},
    {kRestoredEvents, kGauge, "cepd_restored_events", "", "Waiting events that the start took up"},
    {kRestoredCalls, kGauge, "cepd_restored_calls", "", "Undelivered action calls that the start took up"},
    {kRestoredMessages, kGauge, "cepd_restored_messages", "", "Messages taken once more after a crash"},
    {kFiguresAge, kGauge, "cepd_figures_age_seconds", "", "Since the main loop last told what this page shows"},
    {kResidentMemory, kGauge, "process_resident_memory_bytes", "", "Memory that the process has in use"},
    {kProcessorTime, kCounter, "process_cpu_seconds_total", "", "Processor time of all threads"},
    {kStartTime, kGauge, "process_start_time_seconds", "", "When the daemon was started, since 1970"},
};

constexpr bool in_order() {
  std::size_t at = 0;
  for (const MetricRow& row : kRows) {
    if (static_cast<std::size_t>(row.metric) != at++) return false;
  }
  return true;
}
static_assert(in_order());

}  // namespace

std::span<const MetricRow> metric_table() { return kRows; }

const MetricRow& metric_row(Metric metric) {
  const auto at = static_cast<std::size_t>(metric);
  CEPD_CHECK(at < std::size(kRows));
  return kRows[at];
}

}  // namespace cepd::app
