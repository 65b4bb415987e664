#include "app/metrics_page.h"

#include <prometheus/metric_family.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <string>
#include <utility>

#include "base/block_pool.h"

namespace cepd::app {
namespace {

using prometheus::ClientMetric;
using prometheus::MetricFamily;
using prometheus::MetricType;

MetricType type_of(MetricKind kind) {
  switch (kind) {
    case MetricKind::kCounter:
      return MetricType::Counter;
    case MetricKind::kGauge:
      return MetricType::Gauge;
    case MetricKind::kHistogram:
      return MetricType::Histogram;
  }
  return MetricType::Untyped;
}

double in_seconds(std::chrono::duration<double> time) { return time.count(); }

/// Bytes; 0 where the machine does not say.
double resident_memory() {
  std::ifstream statm("/proc/self/statm");
  double size = 0, resident = 0;
  statm >> size >> resident;
  return resident * static_cast<double>(::sysconf(_SC_PAGESIZE));
}

double processor_time() {
  rusage used{};
  ::getrusage(RUSAGE_SELF, &used);
  const auto of = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
  };
  return of(used.ru_utime) + of(used.ru_stime);
}

class Page {
 public:
  Page() {
    for (const MetricRow& row : metric_table()) {
      families_.push_back({std::string(row.name), std::string(row.help), type_of(row.kind), {}});
    }
  }

  void add(Metric metric, double value, std::string label = {}) {
    const MetricRow& row = metric_row(metric);
    ClientMetric& added = of(metric).metric.emplace_back();
    (row.kind == MetricKind::kCounter ? added.counter.value : added.gauge.value) = value;
    if (!row.label.empty()) added.label.push_back({std::string(row.label), std::move(label)});
  }
  void add(Metric metric, std::uint64_t value, std::string label = {}) {
    add(metric, static_cast<double>(value), std::move(label));
  }
  void add(Metric metric, std::vector<ClientMetric> measured) { of(metric).metric = std::move(measured); }

  std::vector<MetricFamily> take() { return std::move(families_); }

 private:
  MetricFamily& of(Metric metric) { return families_[static_cast<std::size_t>(metric)]; }
  std::vector<MetricFamily> families_;
};

void add_input(Page& page, const Figures& figures, const PageSources& sources) {
  for (const auto& [source, messages] : figures.messages) page.add(Metric::kMessages, messages, source);
  page.add(Metric::kQueueMessages, figures.queued);
  page.add(Metric::kEventsHandled, figures.events);
  page.add(Metric::kEventsWaiting, figures.waiting);
  page.add(Metric::kSeenIds, figures.seen_ids.kept);
  page.add(Metric::kSeenIdsForgotten, figures.seen_ids.forgotten);
  for (int i = 0; i < kDropReasonCount; ++i) {
    page.add(Metric::kEventsDropped, figures.dropped[static_cast<std::size_t>(i)],
             std::string(drop_reason_name(static_cast<DropReason>(i))));
  }
  // Before the first event there is no time, and at the end of bounded input it is at its end.
  if (figures.watermark != kMinTime && figures.watermark != kMaxTime)
    page.add(Metric::kWatermarkLag, in_seconds(sources.clock.now() - figures.watermark));
}

void add_rules(Page& page, const Figures& figures) {
  page.add(Metric::kRules, figures.rules);
  page.add(Metric::kReloads, figures.run.reloads, "done");
  page.add(Metric::kReloads, figures.run.reloads_refused, "refused");
  page.add(Metric::kMatches, figures.all_rules.matches);
  page.add(Metric::kTimeouts, figures.all_rules.timeouts);
  page.add(Metric::kSuppressed, figures.all_rules.suppressed);
  for (const auto& [rule, tallies] : figures.by_rule) {
    const std::pair<Metric, std::uint64_t> of_rule[] = {{Metric::kRuleMatches, tallies.matches},
                                                        {Metric::kRuleTimeouts, tallies.timeouts},
                                                        {Metric::kRuleSuppressed, tallies.suppressed}};
    for (const auto& [metric, count] : of_rule) {
      if (count > 0) page.add(metric, count, rule);
    }
  }
}

void add_engine(Page& page, const EngineFigures& figures, const PageSources& sources) {
  page.add(Metric::kOverCap, figures.over_cap);
  for (const engine::RuleCounts& rule : figures.by_rule) {
    if (rule.over_cap > 0) page.add(Metric::kRuleOverCap, rule.over_cap, rule.rule);
    if (rule.expression_errors > 0) page.add(Metric::kRuleUnknown, rule.expression_errors, rule.rule);
  }
  if (sources.memory_limit == 0) return;
  page.add(Metric::kKeysInMemory, figures.keys.here);
  page.add(Metric::kKeysStored, figures.keys.cold);
  page.add(Metric::kKeysEvicted, figures.keys.evicted);
  page.add(Metric::kKeysLoaded, figures.keys.loaded);
}

void add_actions(Page& page, const Figures& figures) {
  for (const auto& [action, waiting, bytes, limit, counts] : figures.actions) {
    page.add(Metric::kOutboxCalls, waiting, action);
    page.add(Metric::kOutboxBytes, bytes, action);
    page.add(Metric::kOutboxLimit, limit, action);
    page.add(Metric::kOutboxFull, bytes >= limit ? 1.0 : 0.0, action);
    page.add(Metric::kActionDelivered, counts.delivered, action);
    page.add(Metric::kActionRetries, counts.retried, action);
    page.add(Metric::kActionRejected, counts.rejected, action);
    page.add(Metric::kActionFailing, counts.failing ? 1.0 : 0.0, action);
    page.add(Metric::kActionBreaker, static_cast<double>(counts.breaker), action);
    page.add(Metric::kActionBreakerOpened, counts.breaker_opened, action);
  }
}

void add_state(Page& page, const Figures& figures) {
  page.add(Metric::kSavingFails, figures.saving_fails ? 1.0 : 0.0);
  page.add(Metric::kRestoredKeys, figures.run.restored.keys);
  page.add(Metric::kRestoredKeysDropped, figures.run.restored.keys_dropped);
  page.add(Metric::kRestoredEvents, figures.run.restored.events);
  page.add(Metric::kRestoredCalls, figures.run.restored.calls);
  page.add(Metric::kRestoredMessages, figures.run.restored.messages);
}

void add_mirror(Page& page, const state::MirrorStatus& mirror) {
  page.add(Metric::kMirrorCopies, mirror.full_copies, "full");
  page.add(Metric::kMirrorCopies, mirror.copies - mirror.full_copies, "changes");
  page.add(Metric::kMirrorBehind, mirror.wanted - std::min(mirror.copied, mirror.wanted));
  page.add(Metric::kMirrorFailing, mirror.failing ? 1.0 : 0.0);
  page.add(Metric::kMirrorErrors, mirror.failures);
  page.add(Metric::kMirrorBytes, mirror.stored_bytes);
  page.add(Metric::kMirrorTime, in_seconds(mirror.last_duration));
}

void add_stored(Page& page, state::StateBackend& backend) {
  for (int i = 0; i < state::kSpaceCount; ++i) {
    const auto space = static_cast<state::Space>(i);
    // What cannot be read now has no value now.
    const auto size = backend.size(space);
    if (!size) continue;
    page.add(Metric::kStateRecords, size->entries, std::string(state::space_name(space)));
    page.add(Metric::kStateBytes, size->bytes, std::string(state::space_name(space)));
  }
}

}  // namespace

std::vector<MetricFamily> metrics_page(const Figures* figures, const PageSources& sources) {
  Page page;
  if (figures != nullptr) {
    add_input(page, *figures, sources);
    add_rules(page, *figures);
    add_engine(page, figures->engine, sources);
    add_actions(page, *figures);
    add_state(page, *figures);
    add_mirror(page, figures->mirror);
    page.add(Metric::kFiguresAge, in_seconds(sources.clock.steady() - figures->taken));
  }
  for (const Metric metric :
       {Metric::kActionLatency, Metric::kCommits, Metric::kCommitWait, Metric::kCommitBytes, Metric::kCommitErrors,
        Metric::kCheckpoints, Metric::kCheckpointAge, Metric::kCheckpointBytes, Metric::kCheckpointErrors,
        Metric::kCheckpointStalls, Metric::kCheckpointLongestStall, Metric::kCheckpointLongestSlice}) {
    page.add(metric, sources.measures.collect(metric));
  }
  add_stored(page, sources.backend);
  page.add(Metric::kQueueLimit, sources.queue_limit);
  page.add(Metric::kLanes, sources.lanes);
  page.add(Metric::kStateMemory, BlockPool::in_use());
  if (sources.memory_limit > 0) page.add(Metric::kStateMemoryLimit, sources.memory_limit);
  page.add(Metric::kResidentMemory, resident_memory());
  page.add(Metric::kProcessorTime, processor_time());
  page.add(Metric::kStartTime, in_seconds(sources.started.time_since_epoch()));
  return page.take();
}

}  // namespace cepd::app
