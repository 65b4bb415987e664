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

RecordPtr decode(std::string_view key, std::string_view value) {
  if (key.size() != 8) return nullptr;
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
  if (!reader.at_end()) return nullptr;
  return std::make_shared<const OutboxRecord>(std::move(record));
}

Error unreadable() { return error(Errc::kCorrupt, "a stored action call does not read back"); }

}  // namespace

void Outbox::set_limits(const std::string& action, QueueLimits limits) {
  const std::lock_guard lock(mutex_);
  queues_[action].limits = limits;
  changed_.notify_all();
}

Status Outbox::load(StateBackend& backend, std::uint64_t next) {
  const std::lock_guard lock(mutex_);
  CEPD_CHECK(next_sequence_ == 1);
  backend_ = &backend;
  CEPD_TRY(backend.scan(Space::kOutbox, {}, [this](std::string_view key, std::string_view value) -> Status {
    RecordPtr record = decode(key, value);
    if (!record) return unreadable();
    const std::uint64_t sequence = record->sequence;
    stored_below_ = sequence + 1;
    Queue& queue = queues_[record->action];
    queue.bytes += value.size();
    place(queue, sequence, {std::move(record), value.size()});
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

/// Of a call that is durable, behind all that are not fresh.
void Outbox::place(Queue& queue, std::uint64_t sequence, Call call) {
  if (call.record && (backend_ == nullptr || (queue.stored.empty() && queue.waiting_bytes < kCallsInMemory))) {
    queue.waiting_bytes += call.bytes;
    queue.waiting.emplace_hint(queue.waiting.end(), sequence, std::move(call));
  } else {
    queue.stored.push_back({sequence, call.bytes});
  }
}

Outbox::FreshCall Outbox::take_fresh(Queue& queue) {
  FreshCall fresh = std::move(queue.fresh.front());
  queue.fresh.pop_front();
  if (fresh.call.record) queue.fresh_bytes -= fresh.call.bytes;
  return fresh;
}

void Outbox::add(OutboxRecord record) {
  const std::lock_guard lock(mutex_);
  record.sequence = next_sequence_++;
  if (record.sequence < stored_below_) return;
  Queue& queue = queues_[record.action];
  std::string encoded = encode(record);
  const std::uint64_t sequence = record.sequence;
  FreshCall fresh{sequence, {nullptr, encoded.size()}};
  queue.bytes += encoded.size();
  new_.emplace_back(sequence, std::move(encoded));
  // Where those before it fill the memory already it is read when it is its turn.
  const bool fits = queue.stored.empty() && (queue.fresh.empty() || queue.fresh.back().call.record) &&
                    queue.waiting_bytes + queue.fresh_bytes < kCallsInMemory;
  if (fits || when_ == DeliverWhen::kAtOnce || backend_ == nullptr) {
    queue.fresh_bytes += fresh.call.bytes;
    fresh.call.record = std::make_shared<const OutboxRecord>(std::move(record));
  }
  queue.fresh.push_back(std::move(fresh));
  if (when_ == DeliverWhen::kAtOnce) changed_.notify_all();
}

CommitTicket Outbox::hand_over(WriteBatch batch) {
  const std::lock_guard lock(mutex_);
  CEPD_CHECK(committer_ != nullptr);
  for (auto& [sequence, encoded] : new_) {
    if (!encoded.empty()) batch.put(Space::kOutbox, ordered_key(sequence), std::move(encoded));
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
  for (; !marks_.empty() && marks_.front().ticket <= through; marks_.pop_front())
    marks_.front().queue->unmarked -= marks_.front().calls;
  for (auto& [action, queue] : queues_) {
    while (!queue.fresh.empty() && queue.fresh.front().sequence < durable_below_) {
      FreshCall fresh = take_fresh(queue);
      place(queue, fresh.sequence, std::move(fresh.call));
    }
  }
  changed_.notify_all();
}

std::optional<std::uint64_t> Outbox::next_of(const Queue& queue) const {
  if (!queue.waiting.empty()) return queue.waiting.begin()->first;
  if (!queue.stored.empty()) return queue.stored.front().sequence;
  if (!queue.fresh.empty()) return queue.fresh.front().sequence;
  return std::nullopt;
}

bool Outbox::may_take(const Queue& queue) const {
  const auto next = next_of(queue);
  if (!next || queue.unmarked >= queue.limits.unmarked) return false;
  return when_ == DeliverWhen::kAtOnce || *next < durable_below_;
}

/// Moves what may be taken to what is held.
std::vector<std::uint64_t> Outbox::hold(Queue& queue, std::size_t most) {
  std::vector<std::uint64_t> taken;
  most = std::min(most, queue.limits.unmarked - queue.unmarked);
  std::size_t read = 0;  // bytes
  while (taken.size() < most && may_take(queue)) {
    if (!queue.waiting.empty()) {
      queue.waiting_bytes -= queue.waiting.begin()->second.bytes;
      taken.push_back(queue.held.insert(queue.waiting.extract(queue.waiting.begin())).position->first);
    } else if (!queue.stored.empty()) {
      const StoredCall next = queue.stored.front();
      if (read > 0 && read + next.bytes > kCallsInMemory) break;
      read += next.bytes;
      queue.stored.pop_front();
      taken.push_back(queue.held.emplace(next.sequence, Call{nullptr, next.bytes}).first->first);
    } else {
      FreshCall next = take_fresh(queue);
      taken.push_back(queue.held.emplace(next.sequence, std::move(next.call)).first->first);
    }
  }
  return taken;
}

Status Outbox::read_held(Queue& queue, std::span<const std::uint64_t> sequences, std::unique_lock<std::mutex>& lock) {
  for (const std::uint64_t sequence : sequences) {
    Call& call = queue.held.find(sequence)->second;  // only the caller takes it from there
    if (call.record) continue;
    lock.unlock();
    const std::string key = ordered_key(sequence);
    const auto stored = backend_->get(Space::kOutbox, key);
    RecordPtr record = stored && *stored ? decode(key, **stored) : nullptr;
    lock.lock();
    if (!stored) return stored.error();
    if (!record) return unreadable();
    call.record = std::move(record);
  }
  return {};
}

Result<std::vector<RecordPtr>> Outbox::take(const std::string& action, std::size_t most, std::stop_token stop) {
  std::unique_lock lock(mutex_);
  Queue& queue = queues_[action];
  changed_.wait(lock, stop, [&] { return may_take(queue); });
  if (stop.stop_requested()) return std::vector<RecordPtr>();
  const std::vector<std::uint64_t> sequences = hold(queue, most);
  CEPD_TRY(read_held(queue, sequences, lock));
  std::vector<RecordPtr> records;
  records.reserve(sequences.size());
  for (const std::uint64_t sequence : sequences) records.push_back(queue.held.find(sequence)->second.record);
  return records;
}

void Outbox::finish(const std::string& action, std::span<const std::uint64_t> sequences) {
  const std::lock_guard lock(mutex_);
  Queue& queue = queues_[action];
  WriteBatch marks;
  for (const std::uint64_t sequence : sequences) {
    const auto call = queue.held.find(sequence);
    CEPD_CHECK(call != queue.held.end());
    queue.bytes -= call->second.bytes;
    queue.held.erase(call);
    // One that was not handed over never reaches the disk; that its number was reached does.
    const auto unstored = std::ranges::lower_bound(new_, sequence, {}, &std::pair<std::uint64_t, std::string>::first);
    if (unstored != new_.end() && unstored->first == sequence) {
      unstored->second = {};
      while (!new_.empty() && new_.front().second.empty()) new_.pop_front();
    } else {
      marks.erase(Space::kOutbox, ordered_key(sequence));
    }
  }
  if (!marks.empty() && committer_ != nullptr) {
    const std::size_t calls = marks.changes().size();
    queue.unmarked += calls;
    marks_.push_back({committer_->add(std::move(marks)), &queue, calls});
  }
  changed_.notify_all();
}

void Outbox::put_back(const std::string& action, std::span<const std::uint64_t> sequences) {
  const std::lock_guard lock(mutex_);
  Queue& queue = queues_[action];
  for (const std::uint64_t sequence : sequences) {
    auto call = queue.held.extract(sequence);
    CEPD_CHECK(!call.empty());
    queue.waiting_bytes += call.mapped().bytes;
    queue.waiting.insert(std::move(call));
  }
  changed_.notify_all();
}

bool Outbox::wait_room(std::chrono::steady_clock::time_point deadline) {
  std::unique_lock lock(mutex_);
  return changed_.wait_until(lock, deadline, [this] {
    return std::ranges::none_of(queues_, [](const auto& named) { return named.second.full(); });
  });
}

std::vector<std::string> Outbox::full() const {
  const std::lock_guard lock(mutex_);
  std::vector<std::string> names;
  for (const auto& [action, queue] : queues_) {
    if (queue.full()) names.push_back(action);
  }
  return names;
}

const Outbox::Queue* Outbox::find(const std::string& action) const {
  const auto it = queues_.find(action);
  return it == queues_.end() ? nullptr : &it->second;
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
  const Queue* queue = find(action);
  return queue == nullptr ? 0 : queue->size();
}

std::size_t Outbox::bytes(const std::string& action) const {
  const std::lock_guard lock(mutex_);
  const Queue* queue = find(action);
  return queue == nullptr ? 0 : queue->bytes;
}

std::size_t Outbox::limit(const std::string& action) const {
  const std::lock_guard lock(mutex_);
  const Queue* queue = find(action);
  return queue == nullptr ? QueueLimits().bytes : queue->limits.bytes;
}

bool Outbox::wait_empty(std::chrono::steady_clock::time_point deadline) {
  std::unique_lock lock(mutex_);
  return changed_.wait_until(lock, deadline, [this] { return size_locked() == 0; });
}

bool Outbox::wait_empty(std::chrono::steady_clock::time_point deadline, const std::vector<std::string>& actions) {
  std::unique_lock lock(mutex_);
  return changed_.wait_until(lock, deadline, [&] {
    return std::ranges::all_of(actions, [this](const std::string& action) {
      const Queue* queue = find(action);
      return queue == nullptr || queue->size() == 0;
    });
  });
}

}  // namespace cepd::state
