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
#include <span>
#include <string>
#include <vector>

#include "adapters/receipt.h"
#include "base/positions.h"
#include "base/result.h"
#include "base/time.h"

namespace cepd::adapters {

/// What a Kafka record brings beside its value, as far as its source is told to look at it.
struct RecordParts {
  std::optional<std::string> type;  ///< the event's type
  std::optional<std::string> time;  ///< its time, as text of a header
  std::optional<EventTime> when;    ///< the record's own timestamp
  std::optional<std::string> key;
  bool no_value = false;  ///< a tombstone: the value is null
};

enum class MessageKind : unsigned char {
  kEvent,
  /// No event: the partition is read from `position` on, for the first time or after a gap, and has messages to come.
  kBegins,
  /// No event: nothing more is to be expected of the partition for now, so that time need not wait for it.
  kQuiet,
};

/// One undecoded event, or word of a partition's fate at its place between the events.
struct Message {
  SourcePosition position;  ///< `source` is the source's id, or for one of several topics part_of() it
  std::string bytes;
  std::string topic;      ///< MQTT topic; empty elsewhere
  bool too_long = false;  ///< `bytes` is only the beginning: the rest was over the source's limit and was dropped
  std::shared_ptr<Receipt> receipt = nullptr;  ///< its sender waits for it; null: nobody does
  /// With the first message from another file than before: which, for go_on_in(). Null: from the same as before.
  std::shared_ptr<const std::string> origin = nullptr;
  std::shared_ptr<const RecordParts> parts = nullptr;  ///< null: all stands in `bytes`
  MessageKind kind = MessageKind::kEvent;
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

  /// The beginning of `batch`, as much as fits; waits up to `wait` for room for one. Returns how many, which are then
  /// moved from; none when the queue was closed.
  [[nodiscard]] std::size_t push_some(std::span<Message> batch, std::chrono::milliseconds wait);

  /// Appends what is there, at most `max` messages; waits up to `wait` for the first. Returns how many.
  std::size_t pop(std::vector<Message>& out, std::size_t max, std::chrono::milliseconds wait);
  /// Wakes the consumer's pop() once, also with nothing there (signals, timers).
  void wake();
  /// Producers get false from now on; what is queued can still be popped.
  void close();
  bool closed() const;

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

/// A source's topic as a source of its own, in positions: `bus/orders`. Topics have no slash in their names, nor have
/// configured sources.
SourceId part_of(const SourceId& source, std::string_view topic);
/// The configured source that `part` is, or is a part of.
SourceId whole_of(const SourceId& part);

/// What was taken before, once more, each partition by itself and at the reader's pace. For one thread.
class Rereader {
 public:
  virtual ~Rereader() = default;
  /// The next message of the partition: the first one behind where it stood, then behind the one before. Waits for it
  /// as long as it may come. Null: there is none any more up to offset `through`. Valid until the next call.
  virtual const Message* next(const PartitionId& partition, std::int64_t through) = 0;
  /// The partition was read from offset `next` on.
  virtual void seek(const PartitionId& partition, std::int64_t next) = 0;
};

/// A source under way. start() and stop() are called by one thread, once each, in this order; the getters by any.
class Source {
 public:
  virtual ~Source() = default;

  /// Begins to put messages into `queue`, from the first one after what `taken` says where the source can be replayed
  /// (else it only continues the count of offsets). Returns an error only for what retrying cannot mend (a file that is
  /// no file, an address in use); a service that is away is retried for ever with back-off and logged.
  virtual Status start(MessageQueue& queue, const Positions& taken) = 0;

  /// Before start(), for a source that reads files: which of them the position is about, as Message::origin said.
  /// `alone`: the rest of that one is read and nothing else; nothing where it is gone.
  virtual void go_on_in(const std::string& /*origin*/, bool /*alone*/) {}

  /// No message is put into the queue after this returns. Close the queue or keep popping meanwhile: a producer may be
  /// waiting for room.
  virtual void stop() = 0;

  /// True once a bounded source has put its last message into the queue.
  virtual bool finished() const { return false; }
  /// True when start() gives the same messages again that came after what was taken.
  virtual bool replayable() const { return false; }
  /// True for sources that end by themselves (a whole file, standard input).
  virtual bool bounded() const { return false; }
  /// Instead of start(), for a source whose partitions go on at their own pace: what came behind `taken`. Null: start()
  /// gives it.
  virtual Result<std::unique_ptr<Rereader>> reread(const Positions& taken);
  /// What was taken up to here is in a checkpoint that is durable. By the thread of start(), also after stop().
  virtual void stored(const Positions& taken);
  /// Nothing can be read for now, and what came meanwhile will be: time does not go on without this source.
  virtual bool away() const { return false; }
  /// One word for the log and status: "connected", "waiting for broker", "reading", "finished", ...
  virtual std::string status() const = 0;

  virtual SourceId id() const = 0;
};

/// Offset of the last message of a source without partitions; -1 for none.
std::int64_t last_taken(const Positions& taken, const SourceId& source);

}  // namespace cepd::adapters
