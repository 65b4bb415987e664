#include "app/dead_letter_sender.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <cerrno>
#include <condition_variable>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <mutex>
#include <utility>
#include <vector>

#include "adapters/dead_letter_reader.h"

namespace cepd::app {
namespace {

using std::chrono::milliseconds;

/// Between looks at the file.
constexpr milliseconds kTick{200};
/// Sent before <file>.sent is written: so many and a few of the next may be sent again after a crash.
constexpr std::size_t kBatch = 512, kBatchBytes = std::size_t{4} << 20;

std::string sent_file(const std::string& path) { return path + ".sent"; }

std::uint64_t read_sent(const std::string& path) {
  std::uint64_t number = 0;
  std::ifstream(sent_file(path)) >> number;
  return number;
}

state::OutboxRecord call_of(const adapters::DeadLetter& letter, const std::string& action) {
  state::OutboxRecord call;
  call.action = action;
  call.idempotency_key = "dead-letter-" + std::to_string(letter.number);
  call.rule = "dead_letter";
  call.time = parse_rfc3339(letter.time).value_or(EventTime{});
  call.arguments = {{"value", letter.line, letter.line}};
  call.match_json = "null";
  return call;
}

std::vector<actions::OpenedAction> alone(actions::OpenedAction action) {
  std::vector<actions::OpenedAction> one;
  one.push_back(std::move(action));
  return one;
}

}  // namespace

std::string dead_letter_action_mistake(const std::vector<ActionSchema>& actions, const std::string& name) {
  const auto schema = std::ranges::find(actions, name, &ActionSchema::name);
  if (schema == actions.end()) return "there is no action " + name + " under `actions:`";
  const auto asked = std::ranges::find_if(
      schema->parameters, [](const auto& parameter) { return parameter.required && parameter.name != "value"; });
  if (asked != schema->parameters.end())
    return "action " + name + " has to have its `" + asked->name + "` configured, as no rule gives it";
  const bool takes_value = schema->open || std::ranges::any_of(schema->parameters, [](const auto& parameter) {
                             return parameter.name == "value";
                           });
  return takes_value ? "" : "action " + name + " takes no value; take one of type kafka, mqtt, redis, webhook or file";
}

DeadLetterSender::DeadLetterSender(std::string path, adapters::DeadLetterFile& file, actions::OpenedAction action,
                                   const Clock& clock)
    : path_(std::move(path)),
      name_(action.name),
      file_(file),
      deliverer_(alone(std::move(action)), outbox_, clock),
      // Files that were removed begin again.
      sent_(std::min(read_sent(path_), file.last_number())) {
  deliverer_.start();
  thread_ = std::jthread([this](const std::stop_token& stop) { run(stop); });
}

DeadLetterSender::~DeadLetterSender() { stop(); }

void DeadLetterSender::stop() {
  thread_.request_stop();
  if (thread_.joinable()) thread_.join();
  deliverer_.stop();
}

std::uint64_t DeadLetterSender::waiting() const {
  const std::uint64_t last = file_.last_number(), sent = sent_;
  return last > sent ? last - sent : 0;
}

void DeadLetterSender::note_sent(std::uint64_t number) {
  const std::string file = sent_file(path_), fresh = file + ".new";
  bool written = false;
  {
    std::ofstream out(fresh, std::ios::trunc);
    out << number << "\n";
    written = static_cast<bool>(out.flush());
  }
  if (!written || std::rename(fresh.c_str(), file.c_str()) != 0)
    spdlog::warn("{} cannot be written, a restart will send dead letters again: {}", file, std::strerror(errno));
  sent_ = number;
}

void DeadLetterSender::run(const std::stop_token& stop) {
  adapters::DeadLetterReader reader(path_, sent_);
  std::mutex mutex;
  std::condition_variable_any never;
  while (!stop.stop_requested()) {
    file_.flush();
    std::uint64_t last = sent_;
    std::size_t count = 0, bytes = 0;
    while (count < kBatch && bytes < kBatchBytes) {
      const auto letter = reader.next();
      if (!letter) break;
      if (letter->number > last + 1)
        spdlog::error("{} dead letters were gone from {} before action {} had got them", letter->number - last - 1,
                      path_, name_);
      last = letter->number;
      ++count;
      bytes += letter->line.size();
      outbox_.add(call_of(*letter, name_));
    }
    if (count == 0) {
      std::unique_lock lock(mutex);
      never.wait_for(lock, stop, kTick, [] { return false; });
      continue;
    }
    while (!stop.stop_requested() && !outbox_.wait_empty(std::chrono::steady_clock::now() + kTick)) {
    }
    if (outbox_.size() == 0) note_sent(last);
  }
}

}  // namespace cepd::app
