#pragma once
/// What the pump's thread knows and /metrics shows, and how it gets from the one to the other: the reader asks, the
/// main loop answers between two batches of messages, so that it never waits for a reader and nothing is collected
/// where nobody reads.

#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "actions/deliver.h"
#include "adapters/dead_letter.h"
#include "adapters/source.h"
#include "app/dead_letter_sender.h"
#include "app/group_writer.h"
#include "app/pump.h"
#include "app/rule_tally.h"
#include "base/drop_reason.h"
#include "engine/engine.h"
#include "state/mirror.h"
#include "state/outbox.h"

namespace cepd::app {

/// What the daemon itself has to say of its run.
struct RunFigures {
  std::uint64_t reloads = 0, reloads_refused = 0;
  struct {
    std::uint64_t keys = 0, keys_dropped = 0, events = 0, calls = 0, messages = 0;
  } restored;  ///< what the start took up of the last run
};

/// What is counted in the lanes of the engine.
struct EngineFigures {
  std::chrono::steady_clock::time_point taken;
  engine::Engine::KeyCounts keys;
  std::uint64_t over_cap = 0;
  std::vector<engine::RuleCounts> by_rule;  ///< of rules with drops at the cap or unknown values
};

/// As of one moment.
struct Figures {
  std::chrono::steady_clock::time_point taken;
  std::vector<std::pair<std::string, std::uint64_t>> messages;  ///< by source
  std::array<std::uint64_t, kDropReasonCount> dropped{};        ///< by DropReason
  std::size_t queued = 0;
  std::uint64_t events = 0;
  std::size_t waiting = 0;
  engine::Engine::SeenIdCounts seen_ids;
  EventTime watermark = kMinTime;
  std::size_t rules = 0;
  RuleTallies all_rules;
  std::vector<RuleTally::OfRule> by_rule;  ///< none where they are not wanted
  struct OfAction {
    std::string name;
    std::size_t waiting = 0;  ///< calls
    std::size_t bytes = 0;    ///< of them, as stored
    std::size_t limit = 0;    ///< of these
    actions::ActionCounts counts;
  };
  std::vector<OfAction> actions;
  bool saving_fails = false;
  state::MirrorStatus mirror;  ///< without one nothing but zeros
  RunFigures run;
  EngineFigures engine;
};

/// Whose counts they are made of. By the pump's thread.
struct FigureParts {
  const Pump& pump;
  const adapters::MessageQueue& queue;
  const adapters::DeadLetterFile &dead_letter, &late;
  const actions::Deliverer& deliverer;
  const state::Outbox& outbox;
  const GroupWriter& writer;
  const RunFigures& run;
  const std::unique_ptr<DeadLetterSender>& dead_letter_sender;  ///< may hold none
  const state::Mirror* mirror;                                  ///< null: there is none
};
/// All but those of the engine's lanes. `each_rule`: with those of single rules.
Figures take_figures(const FigureParts& of, bool each_rule, const Clock& clock);
/// Waits for the lanes.
EngineFigures take_engine_figures(const engine::Engine& engine, bool each_rule, const Clock& clock);

/// Any number of readers, one that answers.
class FigureBox {
 public:
  /// Asks for figures and waits for them until `deadline`; then those of before. Null: there were none yet.
  /// `wake` makes the main loop look for who asks.
  std::shared_ptr<const Figures> get(std::chrono::steady_clock::time_point deadline, const std::function<void()>& wake);

  /// Whether somebody has asked since this was last called. The main loop's; costs one look.
  bool take_request() { return asked_.load(std::memory_order_relaxed) && asked_.exchange(false); }
  void put(Figures figures);
  /// Nobody answers any more: readers do not wait.
  void close();

 private:
  std::atomic<bool> asked_ = false;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::shared_ptr<const Figures> figures_;  // under mutex_
  bool closed_ = false;                     // likewise
};

}  // namespace cepd::app
