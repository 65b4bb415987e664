#pragma once
/// When checkpoints are made, and how what they hold is handed to the writer beside the events.

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "adapters/dead_letter.h"
#include "app/group_writer.h"
#include "app/measures.h"
#include "app/pump.h"
#include "base/clock.h"

namespace cepd::app {

/// By the pump's thread.
class Checkpointer {
 public:
  /// They outlive it. The writer has started.
  struct Parts {
    Pump& pump;
    GroupWriter& writer;
    adapters::DeadLetterFile &dead_letter, &late;  ///< flushed when a checkpoint begins
    Measures& measures;
  };

  struct Options {
    Micros interval{};       ///< from the beginning of one to that of the next, the first one as long from now
    Micros min_interval{};   ///< from the end of one to the beginning of the next, but where begin() is called
    std::size_t memory = 0;  ///< bytes of partial matches and events in memory; 0: any number
  };
  /// `alive` is called while something waits here.
  /// `stored`: what was taken up to these positions is durable for good.
  Checkpointer(Parts parts, Options options, const Clock& clock, std::function<void()> alive,
               std::function<void(const Positions&)> stored);

  /// The next checkpoint has these rule files.
  void store_rules(std::vector<state::RuleText> files) { unsaved_rules_ = std::move(files); }
  bool has_rules_to_store() const { return unsaved_rules_.has_value(); }

  /// Begins one, unless one is under way; then it is due as soon as that is finished.
  void begin();
  /// Between two batches of messages: hands over a part of the one under way, or begins the one that is due; forgets
  /// keys where they take too much memory.
  void tick();
  /// Before more is taken: where memory is far over the budget, waits until what can be stored and forgotten is. False:
  /// it cannot be stored now.
  bool keep_budget();

  bool under_way() const { return number_.has_value(); }
  /// Not all of the one under way has been given to the writer: tick() has work to do.
  bool handing_over() const { return handing_over_; }
  /// Waits a moment for the one under way, nothing of which is handed over meanwhile.
  void wait_some();
  /// True once none is under way; false when it cannot be written now.
  bool wait_finished();

 private:
  using Time = std::chrono::steady_clock::time_point;

  void hand_over();
  void finished();
  bool may_begin() const { return clock_.steady() - ended_ >= options_.min_interval; }

  Parts to_;
  const Options options_;
  const Clock& clock_;
  std::function<void()> alive_;
  std::function<void(const Positions&)> stored_;
  std::optional<std::vector<state::RuleText>> unsaved_rules_;
  std::optional<std::uint64_t> number_;  // of the one under way
  bool handing_over_ = false;
  bool due_ = false;
  bool warned_ = false;  // of a budget that is too small
  Time last_;            // when the last one began
  Time ended_{};         // when the last one was finished
};

}  // namespace cepd::app
