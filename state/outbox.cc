#include "state/outbox.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "state/layout.h"

namespace cepd::state {
namespace {

void write(Writer& writer, const std::vector<OutboxArgument>& arguments) {
  writer.number(arguments.size());
  for (const OutboxArgument& argument : arguments) {
    writer.text(argument.name);
    writer.text(argument.text);
    writer.text(argument.json);
  }
}

std::vector<OutboxArgument> read_arguments(Reader& reader) {
  std::vector<OutboxArgument> arguments;
  for (std::size_t left = reader.count(); left > 0 && reader.ok(); --left) {
    OutboxArgument argument;
    argument.name = reader.text();
    argument.text = reader.text();
    argument.json = reader.text();
    arguments.push_back(std::move(argument));
  }
  return arguments;
}

std::string encode(const OutboxRecord& record) {
  Writer writer;
  writer.text(record.action);
  writer.text(record.idempotency_key);
  writer.text(record.rule);
  writer.time(record.time);
  write(writer, record.arguments);
  write(writer, record.labels);
  writer.text(record.match_json);
  return writer.take();
}

std::optional<OutboxRecord> decode(std::string_view key, std::string_view value) {
  if (key.size() != 8) return std::nullopt;
  OutboxRecord record;
  record.sequence = read_ordered(key);
  Reader reader(value);
  record.action = reader.text();
  record.idempotency_key = reader.text();
  record.rule = reader.text();
  record.time = reader.time();
  record.arguments = read_arguments(reader);
  record.labels = read_arguments(reader);
  record.match_json = reader.text();
  if (!reader.at_end()) return std::nullopt;
  return record;
}

std::string key_of(std::uint64_t sequence) {
  std::string key;
  append_ordered(key, sequence);
  return key;
}

}  // namespace

Status Outbox::load(StateBackend& backend) {
  const std::lock_guard lock(mutex_);
  CEPD_CHECK(next_sequence_ == 1);
  CEPD_TRY(backend.scan(Space::kOutbox, {}, [this](std::string_view key, std::string_view value) -> Status {
    std::optional<OutboxRecord> record = decode(key, value);
    if (!record) return error(Errc::kCorrupt, "a stored action call does not read back");
    next_sequence_ = record->sequence + 1;
    queues_[record->action].waiting.emplace(record->sequence, std::move(*record));
    return {};
  }));
  changed_.notify_all();
  return {};
}

void Outbox::add(OutboxRecord record) {
  const std::lock_guard lock(mutex_);
  record.sequence = next_sequence_++;
  Queue& queue = queues_[record.action];
  unsaved_.emplace(record.sequence, &queue);
  queue.waiting.emplace(record.sequence, std::move(record));
  changed_.notify_all();
}

std::optional<OutboxRecord> Outbox::take(const std::string& action, std::stop_token stop) {
  std::unique_lock lock(mutex_);
  Queue& queue = queues_[action];
  changed_.wait(lock, stop, [&queue] { return !queue.waiting.empty(); });
  if (stop.stop_requested()) return std::nullopt;
  const auto held = queue.held.insert(queue.waiting.extract(queue.waiting.begin())).position;
  return held->second;
}

void Outbox::finish(const std::string& action, std::uint64_t sequence) {
  const std::lock_guard lock(mutex_);
  Queue& queue = queues_[action];
  CEPD_CHECK(queue.held.erase(sequence) + queue.waiting.erase(sequence) == 1);
  // Unsaved and in no batch under way: it never reaches the disk. Otherwise it may be there, or come there yet.
  const bool unsaved = unsaved_.erase(sequence) > 0;
  if (!unsaved || sequence < saving_below_) finished_.push_back(sequence);
  changed_.notify_all();
}

void Outbox::put_back(const std::string& action, std::uint64_t sequence) {
  const std::lock_guard lock(mutex_);
  Queue& queue = queues_[action];
  auto record = queue.held.extract(sequence);
  CEPD_CHECK(!record.empty());
  queue.waiting.insert(std::move(record));
  changed_.notify_all();
}

void Outbox::save(WriteBatch& batch) {
  const std::lock_guard lock(mutex_);
  for (const auto& [sequence, queue] : unsaved_) {
    auto record = queue->waiting.find(sequence);
    if (record == queue->waiting.end()) record = queue->held.find(sequence);
    batch.put(Space::kOutbox, key_of(sequence), encode(record->second));
  }
  for (const std::uint64_t sequence : finished_) batch.erase(Space::kOutbox, key_of(sequence));
  saving_below_ = next_sequence_;
  saving_finished_ = finished_.size();
}

void Outbox::saved() {
  const std::lock_guard lock(mutex_);
  unsaved_.erase(unsaved_.begin(), unsaved_.lower_bound(saving_below_));
  finished_.erase(finished_.begin(), finished_.begin() + static_cast<std::ptrdiff_t>(saving_finished_));
  saving_finished_ = 0;
}

std::size_t Outbox::size_locked() const {
  std::size_t sum = 0;
  for (const auto& [action, queue] : queues_) sum += queue.size();
  return sum;
}

std::size_t Outbox::size() const {
  const std::lock_guard lock(mutex_);
  return size_locked();
}

std::size_t Outbox::size(const std::string& action) const {
  const std::lock_guard lock(mutex_);
  const auto it = queues_.find(action);
  return it == queues_.end() ? 0 : it->second.size();
}

bool Outbox::wait_empty(std::chrono::steady_clock::time_point deadline) {
  std::unique_lock lock(mutex_);
  return changed_.wait_until(lock, deadline, [this] { return size_locked() == 0; });
}

bool Outbox::wait_empty(std::chrono::steady_clock::time_point deadline, const std::vector<std::string>& actions) {
  std::unique_lock lock(mutex_);
  return changed_.wait_until(lock, deadline, [&] {
    return std::all_of(actions.begin(), actions.end(), [this](const std::string& action) {
      const auto it = queues_.find(action);
      return it == queues_.end() || it->second.size() == 0;
    });
  });
}

}  // namespace cepd::state
