#pragma once
/// Action calls between the match and the sink that carries them out. Kept with the state, delivered later, removed
/// when done.

#include <condition_variable>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "base/ids.h"
#include "base/result.h"
#include "base/time.h"
#include "state/backend.h"

namespace cepd::state {

struct OutboxArgument {
  std::string name;
  std::string text;  ///< as a person reads it
  std::string json;  ///< as a JSON value
};

struct OutboxRecord {
  std::uint64_t sequence = 0;  ///< given by add(); order of delivery for one action
  std::string action;          ///< configured name
  /// The match id; a second call of the same action in one rule has "-2" after it, and so on.
  std::string idempotency_key;
  std::string rule;
  EventTime time{};  ///< of the match
  std::vector<OutboxArgument> arguments;
  std::vector<OutboxArgument> labels;
  std::string match_json;  ///< the match as `cepd replay` prints it, events as positions
};

/// Thread-safe. The pump adds and saves; delivery workers take and finish.
class Outbox {
 public:
  /// Reads the undelivered calls of an earlier run. Before the first add(). Errors: kCorrupt, and those of scan().
  Status load(StateBackend& backend);

  void add(OutboxRecord record);

  /// The oldest waiting call of `action` that no worker holds, or none when `stop` was asked for. Blocks until there is
  /// one.
  std::optional<OutboxRecord> take(const std::string& action, std::stop_token stop);
  /// `sequence` was delivered or is given up for good: it will not be saved or taken again.
  void finish(const std::string& action, std::uint64_t sequence);
  /// `sequence` goes back to the front of its action's queue.
  void put_back(const std::string& action, std::uint64_t sequence);

  /// Adds to `batch` what changed since the last save that succeeded; call saved() once the batch is durable.
  void save(WriteBatch& batch);
  void saved();

  std::size_t size() const;  ///< not finished
  std::size_t size(const std::string& action) const;
  /// Waits until nothing is left or `deadline` has passed; true when nothing is left.
  bool wait_empty(std::chrono::steady_clock::time_point deadline);
  /// The same for the calls of `actions` alone.
  bool wait_empty(std::chrono::steady_clock::time_point deadline, const std::vector<std::string>& actions);

 private:
  /// By sequence, so that the first is the oldest.
  struct Queue {
    std::map<std::uint64_t, OutboxRecord> waiting;
    std::map<std::uint64_t, OutboxRecord> held;
    std::size_t size() const { return waiting.size() + held.size(); }
  };
  std::size_t size_locked() const;

  mutable std::mutex mutex_;
  std::condition_variable_any changed_;
  std::map<std::string, Queue, std::less<>> queues_;
  std::uint64_t next_sequence_ = 1;
  std::map<std::uint64_t, const Queue*> unsaved_;  ///< not finished and not known to be durable
  std::uint64_t saving_below_ = 0;                 ///< unsaved ones below this may have become durable
  std::vector<std::uint64_t> finished_;            ///< possibly stored, to be erased
  std::size_t saving_finished_ = 0;                ///< how many of them, from the front, the last save() erases
};

}  // namespace cepd::state
