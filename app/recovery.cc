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

/// A source of one partition that is started again, with a queue of its own.
class Restarted final : public adapters::Rereader {
 public:
  explicit Restarted(adapters::Source& source) : source_(source) {}
  Restarted(const Restarted&) = delete;
  Restarted& operator=(const Restarted&) = delete;
  ~Restarted() override {
    queue_.close();
    source_.stop();
  }

  Status start(const Positions& taken) { return source_.start(queue_, taken); }

  const Message* next(const PartitionId& /*partition*/, std::int64_t through) override {
    const auto deadline = std::chrono::steady_clock::now() + kPatience;
    while (at_ == batch_.size()) {
      const bool finished = source_.finished();  // asked before the queue is
      batch_.clear();
      at_ = 0;
      if (queue_.pop(batch_, kBatch, kTick) == 0 && (finished || std::chrono::steady_clock::now() > deadline))
        return nullptr;
    }
    if (batch_[at_].position.offset > through) return nullptr;
    return &batch_[at_++];
  }

  void seek(const PartitionId& /*partition*/, std::int64_t /*next*/) override {}

 private:
  adapters::Source& source_;
  adapters::MessageQueue queue_{kQueueMessages, kQueueBytes};
  std::vector<Message> batch_;
  std::size_t at_ = 0;
};

/// A source that is read again; the order between sources is the journal's.
struct Rereading {
  std::unique_ptr<adapters::OpenedSource> opened;
  std::unique_ptr<adapters::Rereader> reader;  // before the source it goes

  Status start(const Positions& taken) {
    auto own = opened->source->reread(taken);
    if (!own) return std::move(own).error();
    if (*own) {
      reader = std::move(*own);
      return {};
    }
    auto restarted = std::make_unique<Restarted>(*opened->source);
    CEPD_TRY(restarted->start(taken));
    reader = std::move(restarted);
    return {};
  }
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
      const auto message = next({took.source, took.partition}, took.through);
      if (!message) return message.error();
      if (*message == nullptr) break;
      replay(**message, false);
      if ((*message)->position.offset >= took.through) return {};
    }
    missing(took.source, took.through);
    return {};
  }

  Status again(const state::JournalFuture& future) {
    const SourcePosition& at = future.position;
    const auto message = next({at.source, at.partition}, at.offset);
    if (!message) return message.error();
    if (*message != nullptr) {
      replay(**message, true);
    } else {
      missing(at.source, at.offset);
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

  Status again(const state::JournalBegins& begins) {
    const PartitionId partition{begins.source, begins.partition};
    pump_.replay_begins({begins.source, begins.partition, begins.next});
    const auto source = sources_.find(adapters::whole_of(begins.source));
    if (source != sources_.end()) source->second.reader->seek(partition, begins.next);
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
  Result<const Message*> next(const PartitionId& partition, std::int64_t through) {
    if (gone_.contains(partition.first)) return nullptr;
    const SourceId source = adapters::whole_of(partition.first);
    auto found = sources_.find(source);
    if (found == sources_.end()) {
      std::unique_ptr<adapters::OpenedSource> opened = open_(source);
      if (!opened || !opened->source->replayable()) return nullptr;
      if (const std::string origin = pump_.origin(source); !origin.empty()) opened->source->go_on_in(origin, true);
      Rereading rereading{std::move(opened), nullptr};
      if (Status started = rereading.start(pump_.positions()); !started)
        return std::move(started).error().within("source " + source.name());
      found = sources_.emplace(source, std::move(rereading)).first;
    }
    return found->second.reader->next(partition, through);
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
  std::map<SourceId, Rereading> sources_;
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
