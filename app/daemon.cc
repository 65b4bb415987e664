#include "app/daemon.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <iostream>
#include <thread>

#include "app/mirroring.h"
#include "app/recovery.h"
#include "app/rule_messages.h"
#include "app/stored_rules.h"
#include "app/summary.h"
#include "app/test_runner.h"
#include "base/fault.h"
#include "state/open.h"

namespace cepd::app {
namespace {

constexpr std::size_t kBatch = 512;
using Millis = std::chrono::milliseconds;
constexpr Millis kTick{200};

std::string joined(const Diagnostics& diagnostics) {
  std::string out;
  for (const Diagnostic& diagnostic : diagnostics) out += format(diagnostic);
  return out;
}

void log_lines(spdlog::level::level_enum level, const std::string& text) {
  std::size_t begin = 0;
  while (begin < text.size()) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    spdlog::log(level, "{}", text.substr(begin, end - begin));
    begin = end + 1;
  }
}

engine::EngineOptions engine_options(const Settings& settings, state::StateBackend& backend) {
  engine::EngineOptions options;
  if (const Micros ttl = settings.engine.duration("state_ttl"); ttl.count() > 0) options.state_ttl = ttl;
  options.max_partial_matches = static_cast<std::size_t>(settings.engine.integer("max_partial_matches"));
  options.lanes = static_cast<std::size_t>(settings.engine.integer("lanes"));
  options.track_changes = true;
  if (settings.state.text("backend") == "lmdb") options.stored = &backend;
  return options;
}

GroupWriterOptions writer_options(const Settings& settings) {
  GroupWriterOptions options;
  options.commit.max_wait = settings.journal.duration("max_wait");
  options.checkpoint.keep = static_cast<std::size_t>(settings.state.integer("keep"));
  options.checkpoint.journal_retain = settings.journal.duration("retain");
  options.checkpoint.journal_retain_bytes = static_cast<std::uint64_t>(settings.journal.integer("retain_bytes"));
  if (settings.daemon.text("delivery") == "immediate") options.deliver = state::DeliverWhen::kAtOnce;
  return options;
}

/// The rules of the directory and the texts that they are made of.
Loaded load_directory(const std::string& directory, const std::vector<ActionSchema>& actions, const FieldPlan* before,
                      std::vector<state::RuleText>& texts) {
  Diagnostics unreadable;
  texts = read_rules(directory, TestFiles::kLeaveOut, unreadable);
  // Reads once more, for all that is wrong.
  if (has_errors(unreadable)) return load_rules(directory, TestFiles::kLeaveOut, actions, before);
  return check_rules(directory, texts, actions, before);
}

/// Empty, or the reports of the tests that failed.
std::string failing_tests(const std::string& directory, const std::vector<ActionSchema>& actions) {
  Loaded loaded = load_rules(directory, TestFiles::kInclude, actions, nullptr);
  if (!loaded.rules) return joined(loaded.diagnostics);
  const auto network = nfa::Network::compile(std::move(loaded.rules));
  std::string failed;
  for (const dsl::plan::Test& test : network->rules().tests) {
    const TestOutcome outcome = run_test(network, test);
    if (!outcome.passed)
      failed +=
          "FAIL " + outcome.name + " (" + outcome.file + ":" + std::to_string(outcome.line) + ")\n" + outcome.report;
  }
  return failed;
}

}  // namespace

Daemon::Daemon(Settings settings, const Clock& clock)
    : settings_(std::move(settings)), clock_(clock), started_(clock.steady()) {}

Daemon::~Daemon() = default;

Status Daemon::load_first_rules(std::vector<state::RuleText>& texts) {
  const std::string& directory = settings_.rules.text("directory");
  Loaded loaded = load_directory(directory, settings_.action_schemas, nullptr, texts);
  print_diagnostics(loaded.diagnostics);
  if (!loaded.rules) return error(Errc::kInvalidArgument, "the rules in " + directory + " have errors");
  if (loaded.rules->rules.empty()) spdlog::warn("no rule in {}: events are read and nothing is matched", directory);
  network_ = nfa::Network::compile(std::move(loaded.rules));
  return {};
}

Status Daemon::open() {
  auto run_directory = RunDirectory::take(settings_.daemon.text("run_directory"));
  if (!run_directory) return std::move(run_directory).error();
  run_directory_ = std::make_unique<RunDirectory>(std::move(*run_directory));

  CEPD_TRY(restore_from_mirror(settings_));
  auto backend = state::open_backend(settings_.state);
  if (!backend) return std::move(backend).error();
  backend_ = std::move(*backend);

  const std::string& late_path = settings_.daemon.text("late");
  for (auto [path, file] :
       {std::pair{&settings_.daemon.text("dead_letter"), &dead_letter_}, std::pair{&late_path, &late_}}) {
    auto opened = adapters::DeadLetterFile::open(
        *path, clock_, static_cast<std::size_t>(settings_.daemon.integer("dead_letter_bytes")));
    if (!opened) return std::move(opened).error();
    *file = std::move(*opened);
  }

  std::vector<state::RuleText> texts;
  CEPD_TRY(load_first_rules(texts));

  Diagnostics diagnostics;
  sources_ = make_sources(settings_, diagnostics);
  auto actions = actions::open_actions(settings_.root.find("actions"), diagnostics);
  print_diagnostics(diagnostics);
  if (has_errors(diagnostics)) return error(Errc::kInvalidArgument, "the configuration has errors");
  if (sources_.empty())
    return error(Errc::kInvalidArgument, "the configuration names no source: add one under `sources:`");

  std::vector<std::string> names;
  for (const auto& action : actions) names.push_back(action.name);
  measures_ = std::make_unique<Measures>(names, clock_);

  CEPD_TRY(restore(std::move(texts)));

  deliverer_ = std::make_unique<actions::Deliverer>(std::move(actions), outbox_);
  deliverer_->before_call([this](const state::OutboxRecord& call) { measures_->calling(call); });
  deliverer_->unreadable([](const Error& reason) {
    spdlog::critical("stored action calls cannot be read any more, `cepd state verify` says more: {}", reason.message);
    spdlog::default_logger()->flush();
    std::_Exit(1);
  });
  std::size_t homeless = outbox_.size();
  for (const std::string& action : deliverer_->names()) homeless -= outbox_.size(action);
  if (homeless > 0) {
    spdlog::warn("{} undelivered calls are of actions that the configuration no longer has; they are kept until it has",
                 homeless);
  }
  queue_ =
      std::make_unique<adapters::MessageQueue>(static_cast<std::size_t>(settings_.daemon.integer("queue_messages")),
                                               static_cast<std::size_t>(settings_.daemon.integer("queue_bytes")));
  signals_.start([this] { queue_->wake(); });
  return start_metrics();
}

Status Daemon::restore(std::vector<state::RuleText> texts) {
  auto writer = GroupWriter::open(*backend_, outbox_, writer_options(settings_), *measures_, clock_);
  if (!writer) return std::move(writer).error();
  writer_ = std::move(*writer);
  const auto last = writer_->checkpoint();
  const std::uint64_t behind = last ? last->journal_sequence : 0;
  auto stored = read_stored_rules(*backend_);
  if (!stored) return std::move(stored).error();

  // The state is taken up, and what was done behind the checkpoint is done again, with the rules of then; from them to
  // those of now it is a reload like any other.
  const std::string& directory = settings_.rules.text("directory");
  // Makes `network_` of them. Its field plan grows from the one before it, by which the engine's events are decoded.
  std::vector<state::RuleText> running = texts;
  const auto run_rules = [&](std::vector<state::RuleText> files, const FieldPlan* before) {
    if (files == running) return;
    Loaded loaded = check_rules(directory, files, settings_.action_schemas, before);
    if (!loaded.rules) {
      spdlog::error("the rules that ran before are no longer good: what they left is taken up with those of now\n{}",
                    joined(loaded.diagnostics));
      if (running == texts) return;
      files = texts;
      loaded = check_rules(directory, files, settings_.action_schemas, before);
    }
    running = std::move(files);
    network_ = nfa::Network::compile(std::move(loaded.rules));
  };
  bool as_stored = *stored == texts;
  if (!stored->empty()) run_rules(*std::move(stored), nullptr);

  std::vector<adapters::SourceSettings> source_settings;
  for (const auto& source : sources_) source_settings.push_back(source->settings);
  Pump::Sinks sinks{dead_letter_.get(), settings_.daemon.text("late").empty() ? dead_letter_.get() : late_.get(),
                    &outbox_};
  pump_ = std::make_unique<Pump>(network_, engine_options(settings_, *backend_), std::move(source_settings), *backend_,
                                 sinks, clock_);
  auto restored = pump_->restore(last ? last->outbox_next : 1);
  if (!restored) return std::move(restored).error();

  Diagnostics diagnostics;
  const auto open_again = [&](const SourceId& id) -> std::unique_ptr<adapters::OpenedSource> {
    for (auto& source : make_sources(settings_, diagnostics)) {
      if (source->source->id() == id) return std::move(source);
    }
    return nullptr;
  };
  const auto recovered =
      recover(*backend_, behind, *pump_, open_again, [&](std::vector<state::RuleText> files) -> Status {
        as_stored = false;
        run_rules(std::move(files), &network_->fields());
        pump_->swap(network_);
        return {};
      });
  if (!recovered) return recovered.error();
  if (outbox_.behind()) {
    spdlog::error("the replay of the journal has not made all action calls again that were stored before the crash");
    outbox_.catch_up();
  }
  if (running != texts) {
    run_rules(texts, &network_->fields());
    pump_->swap(network_);
    const auto strangers = pump_->drop_strangers();
    if (!strangers) return strangers.error();
    const std::size_t dropped = pump_->engine().dropped_by_swap() + *strangers;
    restored->keys -= std::min(dropped, restored->keys);
    restored->dropped += dropped;
  }
  if (restored->keys + restored->dropped + restored->waiting + outbox_.size() + recovered->messages > 0) {
    spdlog::info(
        "restored partial matches of {} keys, {} waiting events and {} undelivered actions; {} keys of rules that "
        "changed dropped; {} messages taken once more",
        restored->keys, restored->waiting, outbox_.size(), restored->dropped, recovered->messages);
  }
  figures_.restored = {restored->keys, restored->dropped, restored->waiting, outbox_.size(), recovered->messages};
  auto mirror = start_mirror(settings_, *backend_, last ? last->number : 0);
  if (!mirror) return std::move(mirror).error();
  mirror_ = *std::move(mirror);
  writer_->on_checkpoint([this](std::uint64_t number) {
    if (mirror_) mirror_->checkpoint_finished(number);
  });
  CEPD_TRY(writer_->start());
  pump_->write_to(*writer_);
  const Micros interval = settings_.state.duration("interval");
  Checkpointer::Options when{interval, std::min(interval, settings_.state.duration("min_interval")), 0};
  if (settings_.state.text("backend") == "lmdb")
    when.memory = static_cast<std::size_t>(settings_.state.integer("memory"));
  checkpointer_ = std::make_unique<Checkpointer>(
      Checkpointer::Parts{*pump_, *writer_, *dead_letter_, *late_, *measures_}, when, clock_,
      [this] {
        if (ready_) service_.alive(clock_.steady());
        if (metrics_) metrics_->answer();
      },
      [this](const Positions& taken) {
        for (const auto& source : sources_) source->source->stored(taken);
      });
  if (!as_stored) {
    writer_->reload(texts);
    checkpointer_->store_rules(std::move(texts));
  }
  return {};
}

Status Daemon::start_metrics() {
  const PageSources sources{
      *measures_,
      *backend_,
      clock_,
      saturating_add(clock_.now(), std::chrono::duration_cast<Micros>(started_ - clock_.steady())),
      static_cast<std::size_t>(settings_.daemon.integer("queue_messages")),
      static_cast<std::size_t>(settings_.engine.integer("lanes")),
      settings_.state.text("backend") == "lmdb" ? static_cast<std::size_t>(settings_.state.integer("memory")) : 0};
  metrics_ = std::make_unique<Metrics>(FigureParts{*pump_, *queue_, *dead_letter_, *late_, *deliverer_, outbox_,
                                                   *writer_, figures_, dead_letter_sender_, mirror_.get()},
                                       sources, settings_.metrics.flag("each_rule"));
  const auto wake = [this] { queue_->wake(); };
  if (const Status served = metrics_->serve_status(settings_.daemon.text("run_directory"), wake); !served)
    spdlog::warn("`cepd status` gets no answer: {}", served.error().message);
  return settings_.metrics_listen ? metrics_->serve(*settings_.metrics_listen, wake) : Status();
}

Status Daemon::start_sources() {
  const Positions taken = pump_->positions();
  for (const auto& source : sources_) {
    const std::string origin = pump_->origin(source->source->id());
    if (!origin.empty()) source->source->go_on_in(origin, false);
    if (auto started = source->source->start(*queue_, taken); !started) {
      return std::move(started).error().within("source " + source->settings.name);
    }
  }
  return {};
}

std::set<SourceId> Daemon::sources_away() const {
  std::set<SourceId> away;
  for (const auto& each : sources_) {
    if (each->source->away()) away.insert(each->source->id());
  }
  return away;
}

bool Daemon::sources_finished() const {
  return std::all_of(sources_.begin(), sources_.end(),
                     [](const auto& each) { return each->source->bounded() && each->source->finished(); });
}

/// Waits a moment for it.
bool Daemon::outbox_has_room() {
  const bool room = outbox_.wait_room(clock_.steady() + (checkpointer_->handing_over() ? Millis(0) : kTick));
  const std::vector<std::string> full = room ? std::vector<std::string>() : outbox_.full();
  if (full.empty() == full_queues_.empty()) return room;
  if (!full.empty() && full_log_.pass(clock_.steady())) {
    spdlog::warn("action {}: its queue is full ({} calls, {} bytes): no input is taken until some are delivered",
                 full.front(), outbox_.size(full.front()), outbox_.bytes(full.front()));
  }
  full_queues_ = full;
  return room;
}

void Daemon::take_messages(std::chrono::milliseconds wait) {
  batch_.clear();
  queue_->pop(batch_, kBatch, wait);
  for (const adapters::Message& message : batch_) pump_->take(message);
  // While there is more to take, the lanes need not wait for each other. When there is not, nothing may be held back.
  const bool more = batch_.size() == kBatch;
  if (!more) pump_->flush();
  writer_->commit(more);
}

void Daemon::start_dead_letter_sender() {
  const std::string& name = settings_.daemon.text("dead_letter_action");
  if (name.empty()) return;
  Diagnostics said_before;
  for (auto& action : actions::open_actions(settings_.root.find("actions"), said_before)) {
    if (action.name != name) continue;
    dead_letter_sender_ = std::make_unique<DeadLetterSender>(settings_.daemon.text("dead_letter"), *dead_letter_,
                                                             std::move(action), clock_);
  }
}

Status Daemon::run() {
  deliverer_->start();
  start_dead_letter_sender();
  // Rules that the last checkpoint does not have are stored before they see an event.
  if (checkpointer_->has_rules_to_store()) {
    checkpointer_->begin();
    checkpointer_->wait_finished();
  }
  if (auto started = start_sources(); !started) {
    stop_sources();
    deliverer_->stop();
    return started;
  }
  service_.ready(status_text());
  ready_ = true;
  spdlog::info("ready: {}", status_text());

  bool input_ended = false;
  while (!signals_.stop_asked()) {
    service_.alive(clock_.steady());
    if (metrics_) metrics_->answer();
    // What cannot be kept is not taken: the queue fills and the sources wait (language-details.md section 3).
    const bool failing = writer_->failing().has_value();
    if (failing || !writer_->wait_room(clock_.steady() + kTick)) {
      pump_->rest();
      if (failing && signals_.take_reload()) reload();
      if (checkpointer_->under_way()) {
        checkpointer_->wait_some();
      } else if (failing) {
        writer_->wait_room(clock_.steady() + kTick);
      }
      continue;
    }
    if (!checkpointer_->keep_budget()) continue;
    if (!outbox_has_room()) {
      pump_->rest();
      if (signals_.take_reload()) reload();
      writer_->commit(false);
      checkpointer_->tick();
      continue;
    }
    input_ended = sources_finished();  // asked before the queue is: what was put in by then is taken below
    take_messages(input_ended || checkpointer_->handing_over() ? std::chrono::milliseconds(0) : kTick);
    if (input_ended && batch_.empty()) break;
    input_ended = false;
    if (signals_.take_reload()) reload();
    pump_->tick(sources_away());
    writer_->commit(false);
    checkpointer_->tick();
  }
  return stop(input_ended);
}

void Daemon::reload() {
  service_.reloading();
  ReloadOutcome outcome = try_reload();
  outcome.number = ++reloads_;
  ++(outcome.good ? figures_.reloads : figures_.reloads_refused);
  log_lines(outcome.good ? spdlog::level::info : spdlog::level::err, outcome.text);
  if (const Status written = run_directory_->write(outcome); !written) spdlog::error("{}", written.error().message);
  service_.ready(status_text());
}

ReloadOutcome Daemon::try_reload() {
  if (const auto reason = writer_->failing())
    return {0, false,
            "reload refused: the state cannot be saved: " + reason->message +
                "\nthe rules that ran before keep running; reload again once the state can be saved\n"};
  const std::string& directory = settings_.rules.text("directory");
  std::vector<state::RuleText> texts;
  Loaded loaded = load_directory(directory, settings_.action_schemas, &network_->fields(), texts);
  if (!loaded.rules) {
    return {0, false, joined(loaded.diagnostics) + "reload refused: the rules that ran before keep running\n"};
  }
  if (settings_.reload.flag("require_tests")) {
    if (const std::string failed = failing_tests(directory, settings_.action_schemas); !failed.empty()) {
      return {0, false, failed + "reload refused, tests fail: the rules that ran before keep running\n"};
    }
  }
  const std::size_t before = network_->rules().rules.size();
  network_ = nfa::Network::compile(std::move(loaded.rules));
  const std::size_t kept = pump_->swap(network_);
  fault(FaultPoint::kReload);
  writer_->reload(texts);
  checkpointer_->store_rules(std::move(texts));
  checkpointer_->begin();
  const std::size_t now = network_->rules().rules.size();
  if (now == 0 && before > 0) spdlog::warn("{} holds no rule any more: is it the right directory?", directory);
  return {0, true,
          joined(loaded.diagnostics) + "reloaded: " + std::to_string(now) + " rules, " + std::to_string(kept) +
              " of them unchanged with their partial matches, " + std::to_string(now - kept) + " new or changed, " +
              std::to_string(before - kept) + " gone or replaced\n"};
}

/// Also takes everything that the sources had already put into the queue.
void Daemon::stop_sources() {
  {
    // A producer may be waiting for room: the queue is emptied until every source has stopped.
    std::atomic<bool> stopped = false;
    std::jthread stopper([&] {
      for (const auto& source : sources_) source->source->stop();
      stopped = true;
      queue_->wake();
    });
    while (!stopped) take_messages(kTick);
  }
  do {
    checkpointer_->keep_budget();
    take_messages(std::chrono::milliseconds(0));
  } while (!batch_.empty());
}

Status Daemon::stop(bool input_ended) {
  service_.stopping();
  spdlog::info(input_ended ? "the input has ended" : "stopping: no more input is taken");
  stop_sources();
  if (input_ended) {
    pump_->finish();
    writer_->commit(false);
  }

  bool saved = checkpointer_->wait_finished();
  if (saved) {
    checkpointer_->begin();
    saved = checkpointer_->wait_finished();
  }
  // Calls of actions that the configuration does not name any more wait for it, not for this.
  const Micros stop_timeout = settings_.daemon.duration("stop_timeout");
  outbox_.wait_empty(clock_.steady() + stop_timeout, deliverer_->names());
  deliverer_->stop();
  if (mirror_ && saved) mirror_->wait_copied(writer_->checkpoint()->number, clock_.steady() + stop_timeout);
  const auto reason = writer_->failing();
  Status stopped = writer_->stop();
  if (mirror_) mirror_->stop();
  if (!saved && stopped) stopped = reason ? *reason : error(Errc::kInternal, "the last checkpoint was not finished");
  dead_letter_->flush();
  late_->flush();
  if (dead_letter_sender_) dead_letter_sender_->stop();
  log_summary({*pump_, *dead_letter_, *late_, *deliverer_, outbox_}, clock_.steady() - started_);
  return stopped;
}

std::string Daemon::status_text() const {
  std::string names;
  for (const auto& source : sources_) names += (names.empty() ? "" : ", ") + source->settings.name;
  return std::to_string(network_->rules().rules.size()) + " rules on " + names;
}

}  // namespace cepd::app
