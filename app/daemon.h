#pragma once
/// `cepd run`: the parts wired together, and the loop that drives them.
///
/// Threads: this one (queue -> decoder -> engine -> outbox, reloads), one that writes to the disk, one for signals, one
/// for each action, and those that the sources bring. The sources and the actions meet this thread only through
/// MessageQueue and Outbox.

#include <atomic>
#include <chrono>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "actions/deliver.h"
#include "adapters/dead_letter.h"
#include "adapters/open.h"
#include "adapters/rate_limit.h"
#include "app/checkpointer.h"
#include "app/control.h"
#include "app/dead_letter_sender.h"
#include "app/group_writer.h"
#include "app/measures.h"
#include "app/metrics.h"
#include "app/notify.h"
#include "app/pump.h"
#include "app/rule_files.h"
#include "app/settings.h"
#include "app/signals.h"
#include "state/mirror.h"

namespace cepd::app {

class Daemon {
 public:
  explicit Daemon(Settings settings, const Clock& clock);
  ~Daemon();

  /// Opens everything. The error is what the operator has to mend.
  Status open();
  /// Runs until a stop is asked for or every source has ended; then drains, saves and stops everything.
  Status run();

 private:
  /// The rules of the directory, with errors for the operator or none; `texts` are those of their files.
  Status load_first_rules(std::vector<state::RuleText>& texts);
  /// Restores what the last run had, as of its end, and puts the rules of the directory in place.
  Status restore(std::vector<state::RuleText> texts);
  Status start_sources();
  void start_dead_letter_sender();
  void reload();
  ReloadOutcome try_reload();
  bool sources_finished() const;
  std::set<SourceId> sources_away() const;
  bool outbox_has_room();
  void take_messages(std::chrono::milliseconds wait);
  void stop_sources();
  Status stop(bool input_ended);
  Status start_metrics();
  std::string status_text() const;

  Settings settings_;
  const Clock& clock_;
  ServiceManager service_;
  std::unique_ptr<RunDirectory> run_directory_;
  std::unique_ptr<state::StateBackend> backend_;
  std::unique_ptr<adapters::DeadLetterFile> dead_letter_, late_;
  std::unique_ptr<DeadLetterSender> dead_letter_sender_;
  std::unique_ptr<Measures> measures_;
  std::shared_ptr<const nfa::Network> network_;
  state::Outbox outbox_;
  std::unique_ptr<state::Mirror> mirror_;  ///< none: the configuration names none
  std::unique_ptr<GroupWriter> writer_;
  std::unique_ptr<actions::Deliverer> deliverer_;
  std::unique_ptr<adapters::MessageQueue> queue_;
  std::vector<std::unique_ptr<adapters::OpenedSource>> sources_;
  std::unique_ptr<Pump> pump_;
  std::unique_ptr<Checkpointer> checkpointer_;
  std::vector<adapters::Message> batch_;
  std::vector<std::string> full_queues_;  ///< as of the last look; actions
  adapters::RateLimit full_log_{std::chrono::seconds(10)};
  bool ready_ = false;  ///< the service manager was told
  std::uint64_t reloads_ = 0;
  RunFigures figures_;
  std::unique_ptr<Metrics> metrics_;
  std::chrono::steady_clock::time_point started_;
  Signals signals_;  // last: its thread, which wakes the queue, ends first
};

}  // namespace cepd::app
