#include "state/outbox.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "state/layout.h"

namespace cepd::state {
namespace {

/// In Space::kDelivered: the number of the next call, sealed.
constexpr std::string_view kReachedKey = "next";

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

}  // namespace

Status Outbox::load(StateBackend& backend, std::uint64_t next) {
  const std::lock_guard lock(mutex_);
  CEPD_CHECK(next_sequence_ == 1);
  CEPD_TRY(backend.scan(Space::kOutbox, {}, [this](std::string_view key, std::string_view value) -> Status {
    std::optional<OutboxRecord> record = decode(key, value);
    if (!record) return error(Errc::kCorrupt, "a stored action call does not read back");
    stored_below_ = record->sequence + 1;
    queues_[record->action].waiting.emplace(record->sequence, std::move(*record));
    return {};
  }));
  auto reached = backend.get(Space::kDelivered, kReachedKey);
  if (!reached) return std::move(reached).error();
  if (*reached) {
    const auto body = unseal(kReachedKey, **reached);
    Reader in(body ? *body : std::string_view());
    const std::uint64_t number = in.number();
    if (!body || !in.at_end() || number < stored_below_)
      return error(Errc::kCorrupt, "the stored number of the next action call does not read back");
    stored_below_ = number;
  }
  next_sequence_ = next;
  handed_below_ = durable_below_ = std::max(stored_below_, next);
  changed_.notify_all();
  return {};
}

void Outbox::attach(Committer& committer, DeliverWhen when) {
  const std::lock_guard lock(mutex_);
  committer_ = &committer;
  when_ = when;
}

void Outbox::add(OutboxRecord record) {
  const std::lock_guard lock(mutex_);
  record.sequence = next_sequence_++;
  if (record.sequence < stored_below_) return;
  Queue& queue = queues_[record.action];
  new_.emplace(record.sequence, &queue);
  queue.waiting.emplace(record.sequence, std::move(record));
  if (when_ == DeliverWhen::kAtOnce) changed_.notify_all();
}

CommitTicket Outbox::hand_over(WriteBatch batch) {
  const std::lock_guard lock(mutex_);
  CEPD_CHECK(committer_ != nullptr);
  for (const auto& [sequence, queue] : new_) {
    auto record = queue->waiting.find(sequence);
    if (record == queue->waiting.end()) record = queue->held.find(sequence);
    batch.put(Space::kOutbox, ordered_key(sequence), encode(record->second));
  }
  new_.clear();
  const bool more = next_sequence_ > handed_below_;
  if (more) {
    handed_below_ = next_sequence_;
    Writer number;
    number.number(handed_below_);
    batch.put(Space::kDelivered, std::string(kReachedKey), seal(kReachedKey, number.take()));
  }
  // Under the lock: a worker that finishes one of these calls must not be before them.
  const CommitTicket ticket = committer_->add(std::move(batch));
  if (more) handed_over_.emplace_back(ticket, handed_below_);
  return ticket;
}

bool Outbox::has_new() const {
  const std::lock_guard lock(mutex_);
  return next_sequence_ > handed_below_;
}

std::uint64_t Outbox::next_sequence() const {
  const std::lock_guard lock(mutex_);
  return next_sequence_;
}

bool Outbox::behind() const {
  const std::lock_guard lock(mutex_);
  return next_sequence_ < stored_below_;
}

void Outbox::catch_up() {
  const std::lock_guard lock(mutex_);
  next_sequence_ = std::max(next_sequence_, stored_below_);
}

void Outbox::durable(CommitTicket through) {
  const std::lock_guard lock(mutex_);
  for (; !handed_over_.empty() && handed_over_.front().first <= through; handed_over_.pop_front())
    durable_below_ = handed_over_.front().second;
  for (; !marks_.empty() && marks_.front().first <= through; marks_.pop_front()) --marks_.front().second->unmarked;
  changed_.notify_all();
}

bool Outbox::may_take(const Queue& queue) const {
  if (queue.waiting.empty() || queue.unmarked >= kMostUnmarked) return false;
  return when_ == DeliverWhen::kAtOnce || queue.waiting.begin()->first < durable_below_;
}

std::optional<OutboxRecord> Outbox::take(const std::string& action, std::stop_token stop) {
  std::unique_lock lock(mutex_);
  Queue& queue = queues_[action];
  changed_.wait(lock, stop, [&] { return may_take(queue); });
  if (stop.stop_requested()) return std::nullopt;
  const auto held = queue.held.insert(queue.waiting.extract(queue.waiting.begin())).position;
  return held->second;
}

void Outbox::finish(const std::string& action, std::uint64_t sequence) {
  const std::lock_guard lock(mutex_);
  Queue& queue = queues_[action];
  CEPD_CHECK(queue.held.erase(sequence) + queue.waiting.erase(sequence) == 1);
  // One that was not handed over never reaches the disk; that its number was reached does.
  if (new_.erase(sequence) == 0 && committer_ != nullptr) {
    WriteBatch mark;
    mark.erase(Space::kOutbox, ordered_key(sequence));
    ++queue.unmarked;
    marks_.emplace_back(committer_->add(std::move(mark)), &queue);
  }
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
