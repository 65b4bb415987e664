#include <algorithm>
#include <iterator>
#include <utility>

#include "adapters/source.h"

namespace cepd::adapters {
namespace {

std::size_t size_of(const Message& message) { return message.bytes.size() + message.topic.size(); }

std::size_t size_of(const std::vector<Message>& batch) {
  std::size_t bytes = 0;
  for (const Message& message : batch) bytes += size_of(message);
  return bytes;
}

}  // namespace

MessageQueue::MessageQueue(std::size_t max_messages, std::size_t max_bytes)
    : max_messages_(max_messages), max_bytes_(max_bytes) {}

bool MessageQueue::fits(std::size_t messages, std::size_t bytes) const {
  // Without the first case a message over max_bytes_ would wait for ever.
  if (messages_.empty() && messages <= 1) return true;
  return messages <= max_messages_ - std::min(messages_.size(), max_messages_) &&
         bytes <= max_bytes_ - std::min(bytes_, max_bytes_);
}

bool MessageQueue::try_push(Message& message) {
  const std::size_t bytes = size_of(message);
  {
    const std::lock_guard lock(mutex_);
    if (closed_ || !fits(1, bytes)) return false;
    messages_.push_back(std::move(message));
    bytes_ += bytes;
  }
  filled_.notify_one();
  return true;
}

bool MessageQueue::try_push(std::vector<Message>& batch) {
  const std::size_t bytes = size_of(batch);
  {
    const std::lock_guard lock(mutex_);
    if (closed_ || !fits(batch.size(), bytes)) return false;
    std::move(batch.begin(), batch.end(), std::back_inserter(messages_));
    bytes_ += bytes;
  }
  batch.clear();
  filled_.notify_one();
  return true;
}

bool MessageQueue::could_fit(const std::vector<Message>& batch) const {
  return batch.size() <= 1 || (batch.size() <= max_messages_ && size_of(batch) <= max_bytes_);
}

bool MessageQueue::push(Message message) {
  const std::size_t bytes = size_of(message);
  {
    std::unique_lock lock(mutex_);
    room_.wait(lock, [&] { return closed_ || fits(1, bytes); });
    if (closed_) return false;
    messages_.push_back(std::move(message));
    bytes_ += bytes;
  }
  filled_.notify_one();
  return true;
}

std::size_t MessageQueue::push_some(std::span<Message> batch, std::chrono::milliseconds wait) {
  if (batch.empty()) return 0;
  std::size_t count = 0;
  {
    std::unique_lock lock(mutex_);
    room_.wait_for(lock, wait, [&] { return closed_ || fits(1, size_of(batch.front())); });
    if (closed_) return 0;
    for (; count < batch.size() && fits(1, size_of(batch[count])); ++count) {
      bytes_ += size_of(batch[count]);
      messages_.push_back(std::move(batch[count]));
    }
  }
  if (count > 0) filled_.notify_one();
  return count;
}

std::size_t MessageQueue::pop(std::vector<Message>& out, std::size_t max, std::chrono::milliseconds wait) {
  std::size_t count = 0;
  {
    std::unique_lock lock(mutex_);
    filled_.wait_for(lock, wait, [&] { return !messages_.empty() || closed_ || woken_; });
    woken_ = false;
    for (; count < max && !messages_.empty(); ++count) {
      bytes_ -= size_of(messages_.front());
      out.push_back(std::move(messages_.front()));
      messages_.pop_front();
    }
  }
  // All of them: a producer with a small message may have room where one with a large message has none.
  if (count > 0) room_.notify_all();
  return count;
}

void MessageQueue::wake() {
  {
    const std::lock_guard lock(mutex_);
    woken_ = true;
  }
  filled_.notify_one();
}

void MessageQueue::close() {
  {
    const std::lock_guard lock(mutex_);
    closed_ = true;
  }
  room_.notify_all();
  filled_.notify_one();
}

bool MessageQueue::closed() const {
  const std::lock_guard lock(mutex_);
  return closed_;
}

std::size_t MessageQueue::size() const {
  const std::lock_guard lock(mutex_);
  return messages_.size();
}

}  // namespace cepd::adapters
