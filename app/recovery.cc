#include "app/recovery.h"

#include <spdlog/spdlog.h>

#include <chrono>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <variant>

#include "base/fault.h"

namespace cepd::app {
namespace {

using adapters::Message;

/// What a source puts in is awaited this long before it is taken as gone.
constexpr std::chrono::seconds kPatience{10};
constexpr std::chrono::milliseconds kTick{100};
constexpr std::size_t kQueueMessages = 4096, kQueueBytes = std::size_t{16} << 20, kBatch = 512;

/// One source that is read again, with a queue of its own: the order between sources is the journal's.
class Rereading {
 public:
  explicit Rereading(std::unique_ptr<adapters::OpenedSource> opened) : opened_(std::move(opened)) {}
  Rereading(const Rereading&) = delete;
  Rereading& operator=(const Rereading&) = delete;
  ~Rereading() {
    if (!started_) return;
    queue_.close();
    opened_->source->stop();
  }

  Status start(std::optional<std::int64_t> resume) {
    started_ = true;
    return opened_->source->start(queue_, resume);
  }

  /// The partition's next message, or none when the source has no more. Valid until the next call.
  const Message* next(std::int32_t partition) {
    auto& kept = kept_[partition];
    const auto deadline = std::chrono::steady_clock::now() + kPatience;
    while (kept.empty()) {
      const bool finished = opened_->source->finished();  // asked before the queue is
      batch_.clear();
      if (queue_.pop(batch_, kBatch, kTick) == 0 && (finished || std::chrono::steady_clock::now() > deadline))
        return nullptr;
      for (Message& message : batch_) kept_[message.position.partition].push_back(std::move(message));
    }
    current_ = std::move(kept.front());
    kept.pop_front();
    return &current_;
  }

 private:
  std::unique_ptr<adapters::OpenedSource> opened_;
  adapters::MessageQueue queue_{kQueueMessages, kQueueBytes};
  std::map<std::int32_t, std::deque<Message>> kept_;
  std::vector<Message> batch_;
  Message current_;
  bool started_ = false;
};

class Recovery {
 public:
  Recovery(Pump& pump, const OpenSource& open, const std::function<Status(std::vector<state::RuleText>)>& reload)
      : pump_(pump), open_(open), reload_(reload) {}

  Status apply(state::JournalRecord record) {
    fault(FaultPoint::kReplay);
    ++done_.entries;
    return std::visit([this](auto& entry) { return again(entry); }, record.entry);
  }

  Recovered done() const { return done_; }

 private:
  Status again(state::JournalMessage& entry) {
    Message message;
    message.position = entry.position;
    message.bytes = std::move(entry.bytes);
    message.topic = std::move(entry.topic);
    message.too_long = entry.too_long;
    replay(message, entry.future);
    return {};
  }

  Status again(const state::JournalTook& took) {
    while (true) {
      const auto message = next(took.source, took.partition);
      if (!message) return message.error();
      if (*message == nullptr) break;
      replay(**message, false);
      if ((*message)->position.offset >= took.through) return {};
    }
    missing(took.source, took.through);
    return {};
  }

  Status again(const state::JournalFuture& future) {
    const auto message = next(future.position.source, future.position.partition);
    if (!message) return message.error();
    if (*message != nullptr) {
      replay(**message, true);
    } else {
      missing(future.position.source, future.position.offset);
    }
    return {};
  }

  Status again(const state::JournalIdle& idle) {
    pump_.replay_idle(idle.source, idle.partition);
    return {};
  }

  Status again(state::JournalOrigin& entry) {
    sources_.erase(entry.source);
    pump_.replay_origin(entry.source, std::move(entry.origin));
    return {};
  }

  Status again(const state::JournalAdvance& advance) {
    pump_.replay_advance(advance.watermark);
    return {};
  }

  Status again(state::JournalReload& entry) { return reload_(std::move(entry.files)); }

  void replay(const Message& message, bool future) {
    if (pump_.replay(message, future)) {
      ++done_.messages;
    } else {
      missing(message.position.source, message.position.offset);
    }
  }

  /// Null: there is none any more.
  Result<const Message*> next(const SourceId& source, std::int32_t partition) {
    if (gone_.contains(source)) return nullptr;
    auto found = sources_.find(source);
    if (found == sources_.end()) {
      std::unique_ptr<adapters::OpenedSource> opened = open_(source);
      if (!opened || !opened->source->replayable()) return nullptr;
      if (const std::string origin = pump_.origin(source); !origin.empty()) opened->source->go_on_in(origin, true);
      auto rereading = std::make_unique<Rereading>(std::move(opened));
      if (Status started = rereading->start(pump_.position(source)); !started)
        return std::move(started).error().within("source " + source.name());
      found = sources_.emplace(source, std::move(rereading)).first;
    }
    return found->second->next(partition);
  }

  void missing(const SourceId& source, std::int64_t through) {
    ++done_.missing;
    if (!gone_.insert(source).second) return;
    spdlog::error(
        "source {}: what was taken before the crash, up to number {}, cannot be read again: matches may be missing, or "
        "others than before",
        source.name(), through);
  }

  Pump& pump_;
  const OpenSource& open_;
  const std::function<Status(std::vector<state::RuleText>)>& reload_;
  std::map<SourceId, std::unique_ptr<Rereading>> sources_;
  std::set<SourceId> gone_;
  Recovered done_;
};

}  // namespace

Result<Recovered> recover(state::StateBackend& backend, std::uint64_t behind, Pump& pump, const OpenSource& open,
                          const std::function<Status(std::vector<state::RuleText>)>& reload) {
  Recovery recovery(pump, open, reload);
  while (true) {
    auto records = state::read_journal(backend, behind);
    if (!records) return std::move(records).error();
    if (records->empty()) break;
    behind = records->back().sequence;
    for (state::JournalRecord& record : *records) CEPD_TRY(recovery.apply(std::move(record)));
  }
  pump.flush();
  return recovery.done();
}

}  // namespace cepd::app
