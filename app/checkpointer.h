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

  /// One checkpoint each `interval`, the first one an interval from now. `alive` is called while something waits here.
  Checkpointer(Parts parts, Micros interval, const Clock& clock, std::function<void()> alive);

  /// The next checkpoint has these rule files.
  void store_rules(std::vector<state::RuleText> files) { unsaved_rules_ = std::move(files); }
  bool has_rules_to_store() const { return unsaved_rules_.has_value(); }

  /// Begins one, unless one is under way; then it is due as soon as that is finished.
  void begin();
  /// Between two batches of messages: hands over a part of the one under way, or begins the one that is due.
  void tick();

  bool under_way() const { return number_.has_value(); }
  /// Not all of the one under way has been given to the writer: tick() has work to do.
  bool handing_over() const { return handing_over_; }
  /// Waits a moment for the one under way, nothing of which is handed over meanwhile.
  void wait_some();
  /// True once none is under way; false when it cannot be written now.
  bool wait_finished();

 private:
  void hand_over();

  Parts to_;
  const Micros interval_;
  const Clock& clock_;
  std::function<void()> alive_;
  std::optional<std::vector<state::RuleText>> unsaved_rules_;
  std::optional<std::uint64_t> number_;  // of the one under way
  bool handing_over_ = false;
  bool due_ = false;
  std::chrono::steady_clock::time_point last_;  // when the last one began
};

}  // namespace cepd::app
