#include "app/measures.h"

#include <prometheus/client_metric.h>
#include <prometheus/histogram.h>

#include <algorithm>
#include <atomic>
#include <map>

#include "base/check.h"

namespace cepd::app {
namespace {

using prometheus::ClientMetric;
using prometheus::Histogram;
using Steady = std::chrono::steady_clock;
using Count = std::atomic<std::uint64_t>;

// Upper bounds of buckets, in seconds.
const Histogram::BucketBoundaries kCommitTimes{0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01,
                                               0.025,  0.05,    0.1,    0.25,  0.5,    1,     5};
const Histogram::BucketBoundaries kCheckpointTimes{0.001, 0.005, 0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60};
const Histogram::BucketBoundaries kStallTimes{0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.1, 1};
const Histogram::BucketBoundaries kLatencies{0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025,
                                             0.05,    0.1,    0.25,  0.5,    1,     5,    30};

double seconds(std::chrono::duration<double> time) { return time.count(); }

ClientMetric counter(double value) {
  ClientMetric metric;
  metric.counter.value = value;
  return metric;
}

ClientMetric gauge(double value) {
  ClientMetric metric;
  metric.gauge.value = value;
  return metric;
}

void raise(std::atomic<std::int64_t>& most, std::int64_t value) {
  for (std::int64_t before = most.load(); before < value && !most.compare_exchange_weak(before, value);) {
  }
}

}  // namespace

struct Measures::Impl {
  Impl(const std::vector<std::string>& actions, const Clock& c)
      : clock(c), last_checkpoint(c.steady().time_since_epoch().count()) {
    for (const std::string& action : actions) latencies.try_emplace(action, kLatencies);
  }

  const Clock& clock;
  Histogram commits{kCommitTimes}, commit_waits{kCommitTimes};
  Histogram checkpoints{kCheckpointTimes}, stalls{kStallTimes};
  std::map<std::string, Histogram> latencies;  // by action
  Count commit_bytes{0}, commit_errors{0}, checkpoint_errors{0}, checkpoint_bytes{0};
  std::atomic<Steady::rep> last_checkpoint;  // when it was finished; the start
  std::atomic<std::int64_t> longest_stall_us{0}, longest_slice_us{0};
};

Measures::Measures(const std::vector<std::string>& actions, const Clock& clock)
    : impl_(std::make_unique<Impl>(actions, clock)) {}

Measures::~Measures() = default;

void Measures::committed(const state::Commit& commit) {
  impl_->commits.Observe(seconds(commit.took));
  impl_->commit_waits.Observe(seconds(commit.waited));
  impl_->commit_bytes += commit.bytes;
}

void Measures::commit_failed() { ++impl_->commit_errors; }

void Measures::checkpoint_finished(const state::CheckpointInfo& info) {
  impl_->checkpoints.Observe(seconds(info.duration));
  impl_->checkpoint_bytes = info.bytes;
  impl_->last_checkpoint = impl_->clock.steady().time_since_epoch().count();
  raise(impl_->longest_slice_us, info.longest_slice.count());
}

void Measures::checkpoint_failed() { ++impl_->checkpoint_errors; }

void Measures::stalled(Steady::duration time) {
  impl_->stalls.Observe(seconds(time));
  raise(impl_->longest_stall_us, std::chrono::duration_cast<std::chrono::microseconds>(time).count());
}

void Measures::calling(const state::OutboxRecord& call) {
  if (!call.taken) return;
  const auto latency = impl_->latencies.find(call.action);
  if (latency != impl_->latencies.end()) latency->second.Observe(seconds(impl_->clock.steady() - *call.taken));
}

std::vector<ClientMetric> Measures::collect(Metric metric) const {
  const auto micros = [](const std::atomic<std::int64_t>& time) {
    return gauge(static_cast<double>(time.load()) / 1e6);
  };
  switch (metric) {
    case Metric::kCommits:
      return {impl_->commits.Collect()};
    case Metric::kCommitWait:
      return {impl_->commit_waits.Collect()};
    case Metric::kCommitBytes:
      return {counter(static_cast<double>(impl_->commit_bytes))};
    case Metric::kCommitErrors:
      return {counter(static_cast<double>(impl_->commit_errors))};
    case Metric::kCheckpoints:
      return {impl_->checkpoints.Collect()};
    case Metric::kCheckpointAge:
      return {gauge(seconds(impl_->clock.steady() - Steady::time_point(Steady::duration(impl_->last_checkpoint))))};
    case Metric::kCheckpointBytes:
      return {gauge(static_cast<double>(impl_->checkpoint_bytes))};
    case Metric::kCheckpointErrors:
      return {counter(static_cast<double>(impl_->checkpoint_errors))};
    case Metric::kCheckpointStalls:
      return {impl_->stalls.Collect()};
    case Metric::kCheckpointLongestStall:
      return {micros(impl_->longest_stall_us)};
    case Metric::kCheckpointLongestSlice:
      return {micros(impl_->longest_slice_us)};
    case Metric::kActionLatency: {
      std::vector<ClientMetric> all;
      for (const auto& [action, histogram] : impl_->latencies) {
        all.push_back(histogram.Collect());
        all.back().label.push_back({std::string(metric_row(metric).label), action});
      }
      return all;
    }
    default:
      break;
  }
  CEPD_CHECK(!"a metric that is measured here");
  return {};
}

}  // namespace cepd::app
