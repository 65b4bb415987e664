#include "app/daemon.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <thread>

#include "app/commands.h"
#include "app/rule_messages.h"
#include "app/test_runner.h"
#include "base/fault.h"
#include "state/open.h"

namespace cepd::app {
namespace {

constexpr std::size_t kBatch = 512;
constexpr std::chrono::milliseconds kTick{200};
/// Wait before another save after one that failed.
constexpr std::chrono::seconds kSaveAgain{1};

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

engine::EngineOptions engine_options(const Settings& settings) {
  engine::EngineOptions options;
  if (const Micros ttl = settings.engine.duration("state_ttl"); ttl.count() > 0) options.state_ttl = ttl;
  options.max_partial_matches = static_cast<std::size_t>(settings.engine.integer("max_partial_matches"));
  options.lanes = static_cast<std::size_t>(settings.engine.integer("lanes"));
  options.track_changes = true;
  return options;
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
    : settings_(std::move(settings)), clock_(clock), started_(clock.steady()), last_save_(started_) {}

Daemon::~Daemon() = default;

Status Daemon::load_first_rules() {
  const std::string& directory = settings_.rules.text("directory");
  Loaded loaded = load_rules(directory, TestFiles::kLeaveOut, settings_.action_schemas, nullptr);
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

  auto backend = state::open_backend(settings_.state);
  if (!backend) return std::move(backend).error();
  backend_ = std::move(*backend);

  const std::string& late_path = settings_.daemon.text("late");
  for (auto [path, file] :
       {std::pair{&settings_.daemon.text("dead_letter"), &dead_letter_}, std::pair{&late_path, &late_}}) {
    auto opened = adapters::DeadLetterFile::open(*path, clock_);
    if (!opened) return std::move(opened).error();
    *file = std::move(*opened);
  }

  CEPD_TRY(load_first_rules());

  Diagnostics diagnostics;
  sources_ = make_sources(settings_, diagnostics);
  auto actions = actions::open_actions(settings_.root.find("actions"), diagnostics);
  print_diagnostics(diagnostics);
  if (has_errors(diagnostics)) return error(Errc::kInvalidArgument, "the configuration has errors");
  if (sources_.empty())
    return error(Errc::kInvalidArgument, "the configuration names no source: add one under `sources:`");

  std::vector<adapters::SourceSettings> source_settings;
  for (const auto& source : sources_) source_settings.push_back(source->settings);
  Pump::Sinks sinks{dead_letter_.get(), late_path.empty() ? dead_letter_.get() : late_.get(), &outbox_};
  pump_ =
      std::make_unique<Pump>(network_, engine_options(settings_), std::move(source_settings), *backend_, sinks, clock_);
  auto restored = pump_->restore();
  if (!restored) return std::move(restored).error();
  if (restored->keys + restored->dropped + restored->waiting + outbox_.size() > 0) {
    spdlog::info(
        "restored partial matches of {} keys, {} waiting events and {} undelivered actions; {} keys of rules that "
        "changed dropped",
        restored->keys, restored->waiting, outbox_.size(), restored->dropped);
  }

  deliverer_ = std::make_unique<actions::Deliverer>(std::move(actions), outbox_);
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
  return {};
}

Status Daemon::start_sources() {
  for (const auto& source : sources_) {
    if (auto started = source->source->start(*queue_, pump_->position(source->source->id())); !started) {
      return std::move(started).error().within("source " + source->settings.name);
    }
  }
  return {};
}

bool Daemon::sources_finished() const {
  return std::all_of(sources_.begin(), sources_.end(),
                     [](const auto& each) { return each->source->bounded() && each->source->finished(); });
}

void Daemon::take_messages(std::chrono::milliseconds wait) {
  batch_.clear();
  queue_->pop(batch_, kBatch, wait);
  for (const adapters::Message& message : batch_) pump_->take(message);
  // While there is more to take, the lanes need not wait for each other. When there is not, nothing may be held back.
  if (batch_.size() < kBatch) pump_->flush();
}

Status Daemon::run() {
  deliverer_->start();
  if (auto started = start_sources(); !started) {
    stop_sources();
    deliverer_->stop();
    return started;
  }
  service_.ready(status_text());
  spdlog::info("ready: {}", status_text());

  const Micros interval = settings_.state.duration("interval");
  bool input_ended = false;
  while (!signals_.stop_asked()) {
    input_ended = sources_finished();  // asked before the queue is: what was put in by then is taken below
    if (save_failed_) {
      // What cannot be kept is not taken: the queue fills and the sources wait (language-details.md section 3).
      batch_.clear();
      std::this_thread::sleep_for(kTick);
      input_ended = false;
    } else {
      take_messages(input_ended ? std::chrono::milliseconds(0) : kTick);
    }
    if (input_ended && batch_.empty()) break;
    input_ended = false;
    if (signals_.take_reload()) reload();
    pump_->tick();
    const auto now = clock_.steady();
    service_.alive(now);
    if (now - last_save_ >= (save_failed_ ? std::min<Micros>(interval, kSaveAgain) : interval)) save();
  }
  return stop(input_ended);
}

void Daemon::save() {
  last_save_ = clock_.steady();
  dead_letter_->flush();
  late_->flush();
  if (const Status saved = pump_->save(); !saved) {
    spdlog::error("the state was not saved, it will be tried again: {}", saved.error().message);
    if (!save_failed_) spdlog::error("no input is taken until the state can be saved");
    save_failed_ = true;
    return;
  }
  if (save_failed_) spdlog::info("the state was saved, input goes on");
  save_failed_ = false;
}

void Daemon::reload() {
  service_.reloading();
  ReloadOutcome outcome = try_reload();
  outcome.number = ++reloads_;
  log_lines(outcome.good ? spdlog::level::info : spdlog::level::err, outcome.text);
  if (const Status written = run_directory_->write(outcome); !written) spdlog::error("{}", written.error().message);
  service_.ready(status_text());
}

ReloadOutcome Daemon::try_reload() {
  const std::string& directory = settings_.rules.text("directory");
  Loaded loaded = load_rules(directory, TestFiles::kLeaveOut, settings_.action_schemas, &network_->fields());
  if (!loaded.rules) {
    return {0, false, joined(loaded.diagnostics) + "reload refused: the rules that ran before keep running\n"};
  }
  if (settings_.reload.flag("require_tests")) {
    if (const std::string failed = failing_tests(directory, settings_.action_schemas); !failed.empty()) {
      return {0, false, failed + "reload refused, tests fail: the rules that ran before keep running\n"};
    }
  }
  save();
  const std::size_t before = network_->rules().rules.size();
  network_ = nfa::Network::compile(std::move(loaded.rules));
  const std::size_t kept = pump_->swap(network_);
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
    take_messages(std::chrono::milliseconds(0));
  } while (!batch_.empty());
}

Status Daemon::stop(bool input_ended) {
  service_.stopping();
  spdlog::info(input_ended ? "the input has ended" : "stopping: no more input is taken");
  stop_sources();
  if (input_ended) pump_->finish();

  Status saved = pump_->save();
  // Calls of actions that the configuration does not name any more wait for it, not for this.
  outbox_.wait_empty(clock_.steady() + settings_.daemon.duration("stop_timeout"), deliverer_->names());
  deliverer_->stop();
  // Once more for what was delivered meanwhile, so that it is not done again after the next start.
  if (saved) saved = pump_->save();
  dead_letter_->flush();
  late_->flush();
  log_summary();
  return saved;
}

std::string Daemon::status_text() const {
  std::string names;
  for (const auto& source : sources_) names += (names.empty() ? "" : ", ") + source->settings.name;
  return std::to_string(network_->rules().rules.size()) + " rules on " + names;
}

void Daemon::log_summary() const {
  const engine::Engine& engine = pump_->engine();
  const double seconds = std::chrono::duration<double>(clock_.steady() - started_).count();
  spdlog::info("{} messages read, {} events handled in {:.1f} s ({:.0f} events/s), {} waiting", pump_->messages(),
               engine.events(), seconds, static_cast<double>(engine.events()) / std::max(seconds, 1e-3),
               engine.waiting());
  std::size_t quiet = 0;
  for (const engine::RuleCounts& rule : engine.counts()) {
    if (rule.matches + rule.timeouts + rule.by_having + rule.by_policy + rule.partial_matches == 0) {
      ++quiet;
      continue;
    }
    spdlog::info(
        "rule {}: {} matches, {} time-outs, {} suppressed, {} dropped by HAVING, {} by policy; {} partial matches",
        rule.rule, rule.matches, rule.timeouts, rule.suppressed, rule.by_having, rule.by_policy_text(),
        rule.partial_matches);
    if (rule.expression_errors > 0)
      spdlog::warn("rule {}: {} unknown values from unlike types, overflow or division", rule.rule,
                   rule.expression_errors);
    if (rule.over_cap > 0)
      spdlog::warn("rule {}: {} partial matches dropped at the cap of one key", rule.rule, rule.over_cap);
  }
  if (quiet > 0) spdlog::info("{} rules without a match", quiet);
  for (int i = 0; i < kDropReasonCount; ++i) {
    const auto reason = static_cast<DropReason>(i);
    const std::uint64_t count = dead_letter_->count(reason) + late_->count(reason);
    if (count > 0) spdlog::warn("{} events dropped: {}", count, drop_reason_name(reason));
  }
  for (const std::string& action : deliverer_->names()) {
    const actions::ActionCounts counts = deliverer_->counts(action);
    if (counts.delivered + counts.retried + counts.rejected + outbox_.size(action) == 0) continue;
    spdlog::info("action {}: {} delivered, {} retries, {} rejected, {} left for the next start", action,
                 counts.delivered, counts.retried, counts.rejected, outbox_.size(action));
  }
}

int run_command(const std::string& config) {
  Diagnostics diagnostics;
  Settings settings = load_settings(config, diagnostics);
  print_diagnostics(diagnostics);
  if (has_errors(diagnostics)) return kFailed;
  spdlog::set_level(spdlog::level::from_str(settings.daemon.text("log_level")));
  if (const char* faults = std::getenv("CEPD_FAULT")) {
    spdlog::warn("this cepd fails on purpose: CEPD_FAULT={}", faults);
    if (const Status planned = plan_faults(faults); !planned) {
      spdlog::error("CEPD_FAULT: {}", planned.error().message);
      return kWrongUse;
    }
  }

  Daemon daemon(std::move(settings), system_clock());
  if (const Status opened = daemon.open(); !opened) {
    spdlog::error("cannot start: {}", opened.error().message);
    return kFailed;
  }
  if (const Status ran = daemon.run(); !ran) {
    spdlog::error("{}", ran.error().message);
    return kFailed;
  }
  return kGood;
}

}  // namespace cepd::app
