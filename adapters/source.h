#pragma once
/// Sources bring bytes in. Library callbacks and reader threads only put bytes and their position into a bounded
/// MessageQueue; decoding, ordering and matching happen behind it, in the pump's thread.

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "adapters/receipt.h"
#include "base/ids.h"
#include "base/result.h"

namespace cepd::adapters {

/// One undecoded event.
struct Message {
  SourcePosition position;
  std::string bytes;
  std::string topic;      ///< MQTT topic; empty elsewhere
  bool too_long = false;  ///< `bytes` is only the beginning: the rest was over the source's limit and was dropped
  std::shared_ptr<Receipt> receipt = nullptr;  ///< its sender waits for it; null: nobody does
  /// With the first message from another file than before: which, for go_on_in(). Null: from the same as before.
  std::shared_ptr<const std::string> origin = nullptr;
};

/// Bounded by messages and bytes. Any number of producers, one consumer.
class MessageQueue {
 public:
  MessageQueue(std::size_t max_messages, std::size_t max_bytes);

  /// False when full (a single message always fits into an empty queue). Never blocks.
  [[nodiscard]] bool try_push(Message& message);  // moved from only when true
  /// All or none of the batch. False when it does not fit now.
  [[nodiscard]] bool try_push(std::vector<Message>& batch);  // emptied when true
  /// False for a batch larger than the whole queue: no waiting will ever help.
  bool could_fit(const std::vector<Message>& batch) const;
  /// Waits for room. False when the queue was closed: the message is then not taken and its position not passed.
  [[nodiscard]] bool push(Message message);

  /// Appends what is there, at most `max` messages; waits up to `wait` for the first. Returns how many.
  std::size_t pop(std::vector<Message>& out, std::size_t max, std::chrono::milliseconds wait);
  /// Wakes the consumer's pop() once, also with nothing there (signals, timers).
  void wake();
  /// Producers get false from now on; what is queued can still be popped.
  void close();

  std::size_t size() const;

 private:
  bool fits(std::size_t messages, std::size_t bytes) const;  // with mutex_ held
  const std::size_t max_messages_, max_bytes_;
  mutable std::mutex mutex_;
  std::condition_variable room_, filled_;
  std::deque<Message> messages_;
  std::size_t bytes_ = 0;
  bool closed_ = false, woken_ = false;
};

/// A source under way. start() and stop() are called by one thread, once each, in this order; the getters by any.
class Source {
 public:
  virtual ~Source() = default;

  /// Begins to put messages into `queue`, from the first one after `resume` where the source can be replayed (else
  /// `resume` only continues the count of offsets). Returns an error only for what retrying cannot mend (a file that is
  /// no file, an address in use); a service that is away is retried for ever with back-off and logged.
  virtual Status start(MessageQueue& queue, std::optional<std::int64_t> resume) = 0;

  /// Before start(), for a source that reads files: which of them `resume` is about, as Message::origin said. `alone`:
  /// the rest of that one is read and nothing else; nothing where it is gone.
  virtual void go_on_in(const std::string& /*origin*/, bool /*alone*/) {}

  /// No message is put into the queue after this returns. Close the queue or keep popping meanwhile: a producer may be
  /// waiting for room.
  virtual void stop() = 0;

  /// True once a bounded source has put its last message into the queue.
  virtual bool finished() const { return false; }
  /// True when start() gives the same messages again that came after `resume`.
  virtual bool replayable() const { return false; }
  /// True for sources that end by themselves (a whole file, standard input).
  virtual bool bounded() const { return false; }
  /// One word for the log and status: "connected", "waiting for broker", "reading", "finished", ...
  virtual std::string status() const = 0;

  virtual SourceId id() const = 0;
};

}  // namespace cepd::adapters
