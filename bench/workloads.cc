#include "bench/workloads.h"

namespace cepd::bench {

const std::vector<Workload>& workloads() {
  static const std::vector<Workload> kAll{
      {"w1", "one keyed rule of two steps", run_w1},
      {"w2", "1 to 100,000 rules", run_w2},
      {"w3", "rising runs", run_w3},
      {"w4", "any-match over windows of 100 to 100,000 events", run_w4},
      {"w5", "one key with 100 to 1,000,000 partial matches", run_w5},
      {"w6", "up to 100,000 open orders on one key, each paid by its id", run_w6},
      {"w7", "repeats with aggregates", run_w7},
      {"w8", "latency at half of the top speed", run_w8},
      {"load", "loading and reloading 1,000 to 100,000 rules", run_load},
      {"keys", "memory of a partial match on each of 1,000,000 keys", run_keys},
      {"checkpoint", "what a checkpoint of 1,000,000 keys costs the events that go on", run_checkpoint},
      {"restart", "taking up 1,000,000 keys that are stored", run_restart},
      {"journal", "W1 with each message stored in the journal, and with files that are read again", run_journal},
      {"shares", "the time of W1, W2 and W3 by what it goes into", run_shares},
  };
  return kAll;
}

}  // namespace cepd::bench
