#pragma once
/// Gives dead letters to an action as well, such as one that puts them into a Kafka topic.
///
/// The file comes first: what is in it is sent in its order, over restarts, and <file>.sent says how far that is. A
/// service that is away holds up nothing. After a crash some are sent again, with the same idempotency key.

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>

#include "actions/deliver.h"
#include "actions/open.h"
#include "adapters/dead_letter.h"
#include "base/clock.h"
#include "config/node.h"
#include "state/outbox.h"

namespace cepd::app {

/// Empty, or why the action `name` cannot take dead letters.
std::string dead_letter_action_mistake(const std::vector<ActionSchema>& actions, const std::string& name);

/// A thread of its own beside that of the action.
class DeadLetterSender {
 public:
  /// `action`: its own, opened for this alone. `file` and `clock` outlive it.
  DeadLetterSender(std::string path, adapters::DeadLetterFile& file, actions::OpenedAction action, const Clock& clock);
  ~DeadLetterSender();
  DeadLetterSender(const DeadLetterSender&) = delete;
  DeadLetterSender& operator=(const DeadLetterSender&) = delete;

  /// Ends soon. What is not sent is after the next start.
  void stop();
  const std::string& action() const { return name_; }
  /// In the file and not sent. Any thread.
  std::uint64_t waiting() const;
  actions::ActionCounts counts() const { return deliverer_.counts(name_); }

 private:
  void run(const std::stop_token& stop);
  void note_sent(std::uint64_t number);

  const std::string path_, name_;
  adapters::DeadLetterFile& file_;
  state::Outbox outbox_;  // of one batch, in memory
  actions::Deliverer deliverer_;
  std::atomic<std::uint64_t> sent_;  // the last one
  std::jthread thread_;              // last: it uses the others
};

}  // namespace cepd::app
