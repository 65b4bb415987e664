#include "adapters/kafka_source.h"

#include <librdkafka/rdkafka.h>
#include <librdkafka/rdkafkacpp.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <condition_variable>
#include <map>
#include <mutex>
#include <random>
#include <set>
#include <thread>
#include <utility>
#include <vector>

#include "adapters/back_off.h"
#include "adapters/kafka_client.h"
#include "adapters/kafka_reread.h"
#include "adapters/source_type.h"

namespace cepd::adapters {
namespace {

using namespace std::chrono_literals;
using SteadyClock = std::chrono::steady_clock;

constexpr auto kTick = 100ms;        // longest wait in which a stop is not noticed
constexpr auto kPauseAfter = 1s;     // of a full queue
constexpr int kAskMs = 1000;         // for an answer of the brokers
constexpr auto kAskAgainAfter = 1s;  // for where a lost partition goes on
constexpr std::size_t kBatch = 1000;

std::unique_ptr<Source> make(const std::string& name, const config::Options& options) {
  return std::make_unique<KafkaSource>(name, kafka_options(name, options));
}

/// Owns the library's list of partitions.
class PartitionList {
 public:
  PartitionList() = default;
  PartitionList(const PartitionList&) = delete;
  PartitionList& operator=(const PartitionList&) = delete;
  ~PartitionList() { RdKafka::TopicPartition::destroy(list_); }
  void add(const std::string& topic, std::int32_t partition, std::int64_t offset) {
    list_.push_back(RdKafka::TopicPartition::create(topic, partition, offset));
  }
  std::vector<RdKafka::TopicPartition*>& get() { return list_; }

 private:
  std::vector<RdKafka::TopicPartition*> list_;
};

std::string topic_of(const PartitionId& id) { return id.first.name().substr(id.first.name().find('/') + 1); }

std::string text_of(const PartitionId& id) { return id.first.name() + " partition " + std::to_string(id.second); }

}  // namespace

const SourceType& kafka_type() {
  static constexpr SourceType kType{"kafka",    "Records of Kafka topics, as a member of a consumer group.",
                                    kafka_rows, check_kafka,
                                    make,       adjust_kafka_decoder};
  return kType;
}

/// The library calls it back within the polls of the thread, and within close().
class KafkaSource::Member : public RdKafka::RebalanceCb,
                            public RdKafka::EventCb,
                            public RdKafka::OffsetCommitCb,
                            public std::enable_shared_from_this<Member> {
 public:
  Member(const SourceId& id, const KafkaOptions& options, MessageQueue& queue, const Positions& taken)
      : id_(id),
        options_(options),
        queue_(queue),
        log_(id.name()),
        records_(id, options.record),
        waits_(1s, 30s, std::random_device{}()) {
    for (const auto& [partition, last] : taken) {
      if (whole_of(partition.first) == id_ && partition.first != id_) next_.emplace(partition, last + 1);
    }
  }

  Status start() {
    CEPD_TRY(open());
    thread_ = std::thread([this] { run(); });
    return {};
  }

  void stop() {
    {
      const std::lock_guard lock(mutex_);
      stopping_ = true;
    }
    stop_asked_.notify_all();
    if (thread_.joinable()) thread_.join();
  }

  /// The last call.
  void close() {
    stop();
    std::unique_ptr<RdKafka::KafkaConsumer> client;
    {
      const std::lock_guard lock(mutex_);
      client = std::move(consumer_);
    }
    if (!client) return;
    rd_kafka_queue_destroy(records_queue_);
    close_client(std::move(client), shared_from_this());
  }

 private:
  Status open() {
    auto conf = kafka_conf(options_);
    if (!conf) return std::move(conf).error();
    std::string problem;
    if ((*conf)->set("rebalance_cb", static_cast<RdKafka::RebalanceCb*>(this), problem) != RdKafka::Conf::CONF_OK ||
        (*conf)->set("event_cb", static_cast<RdKafka::EventCb*>(this), problem) != RdKafka::Conf::CONF_OK ||
        (*conf)->set("offset_commit_cb", static_cast<RdKafka::OffsetCommitCb*>(this), problem) !=
            RdKafka::Conf::CONF_OK)
      return error(Errc::kInternal, problem);
    std::unique_ptr<RdKafka::KafkaConsumer> client(RdKafka::KafkaConsumer::create(conf->get(), problem));
    if (!client) return error(Errc::kInvalidArgument, problem);
    if (const auto code = client->subscribe(options_.topics); code != RdKafka::ERR_NO_ERROR)
      return error(Errc::kInvalidArgument, "topics: " + RdKafka::err2str(code));
    records_queue_ = rd_kafka_queue_get_consumer(client->c_ptr());
    const std::lock_guard lock(mutex_);
    consumer_ = std::move(client);
    return {};
  }

 public:
  void stored(const Positions& taken) {
    PartitionList offsets;
    const std::lock_guard lock(mutex_);
    for (const PartitionId& id : assigned_) {
      const auto last = taken.find(id);
      if (last != taken.end() && last->second >= 0) offsets.add(topic_of(id), id.second, last->second + 1);
    }
    if (offsets.get().empty() || !consumer_) return;
    if (const auto code = consumer_->commitAsync(offsets.get()); code != RdKafka::ERR_NO_ERROR)
      spdlog::debug("source {}: offsets are not committed to the group: {}", id_.name(), RdKafka::err2str(code));
  }

  bool away() const { return away_; }
  std::string status() const {
    if (away_) return "waiting for brokers";
    const std::lock_guard lock(mutex_);
    return assigned_.empty() ? "waiting for partitions" : "reading " + std::to_string(assigned_.size()) + " partitions";
  }

 private:
  // What the library calls.

  void rebalance_cb(RdKafka::KafkaConsumer* consumer, RdKafka::ErrorCode code,
                    std::vector<RdKafka::TopicPartition*>& partitions) override {
    std::unique_ptr<RdKafka::Error> refused;
    if (code == RdKafka::ERR__ASSIGN_PARTITIONS) {
      std::vector<SourcePosition> begins = find_begins(partitions);
      refused.reset(consumer->incremental_assign(partitions));
      if (!refused) assigned(begins, partitions);
    } else {
      revoked(partitions, !consumer->assignment_lost());
      refused.reset(consumer->incremental_unassign(partitions));
    }
    if (refused) log_.problem("the group's assignment is not taken: " + refused->str());
  }

  void event_cb(RdKafka::Event& event) override {
    switch (event.type()) {
      case RdKafka::Event::EVENT_LOG:
        return log_.line(event.severity(), event.fac() + ": " + event.str());
      case RdKafka::Event::EVENT_STATS:
        away_ = !any_broker_up(event.str());
        return;
      case RdKafka::Event::EVENT_ERROR:
        return log_.problem(RdKafka::err2str(event.err()) + ": " + event.str());
      default:
        return;
    }
  }

  void offset_commit_cb(RdKafka::ErrorCode code, std::vector<RdKafka::TopicPartition*>& /*offsets*/) override {
    // The next checkpoint commits again.
    if (code != RdKafka::ERR_NO_ERROR && code != RdKafka::ERR__NO_OFFSET)
      spdlog::debug("source {}: offsets were not committed to the group: {}", id_.name(), RdKafka::err2str(code));
  }

  // The assignment.

  /// Sets the offsets at which they begin. Waits for the brokers' answers where it does not know; what is not known
  /// when stopping has none.
  std::vector<SourcePosition> find_begins(const std::vector<RdKafka::TopicPartition*>& partitions) {
    std::vector<RdKafka::TopicPartition*> unknown;
    for (RdKafka::TopicPartition* partition : partitions) {
      const auto known = next_.find(id_of(*partition));
      if (known == next_.end()) {
        unknown.push_back(partition);
      } else {
        partition->set_offset(known->second);
      }
    }
    if (!unknown.empty()) {
      ask("where the group stands", [&] { return consumer_->committed(unknown, kAskMs); });
      for (RdKafka::TopicPartition* partition : unknown) {
        if (partition->offset() < 0) set_first(*partition);
      }
    }
    std::vector<SourcePosition> begins;
    for (const RdKafka::TopicPartition* partition : partitions) {
      const PartitionId id = id_of(*partition);
      begins.push_back({id.first, id.second, partition->offset()});
    }
    return begins;
  }

  void set_first(RdKafka::TopicPartition& partition) {
    const SourceId topic = id_of(partition).first;
    // One that was added to a topic has not been there for others to read.
    const bool added = std::ranges::any_of(next_, [&](const auto& each) { return each.first.first == topic; });
    std::int64_t low = 0, high = 0;
    ask("where " + text_of(id_of(partition)) + " begins", [&] {
      return consumer_->query_watermark_offsets(partition.topic(), partition.partition(), &low, &high, kAskMs);
    });
    partition.set_offset(options_.from_latest && !added ? high : low);
  }

  template <class Question>
  void ask(const std::string& what, Question question) {
    while (!stopping_) {
      const RdKafka::ErrorCode code = question();
      if (code == RdKafka::ERR_NO_ERROR) return;
      log_.problem("asking " + what + ": " + RdKafka::err2str(code));
    }
  }

  void assigned(const std::vector<SourcePosition>& begins, std::vector<RdKafka::TopicPartition*>& partitions) {
    if (stopping_) return;
    if (paused_) consumer_->pause(partitions);
    for (const SourcePosition& next : begins) begin_at(next);
    const std::lock_guard lock(mutex_);
    for (const SourcePosition& next : begins) assigned_.emplace(next.source, next.partition);
    spdlog::info("source {}: {} partitions were assigned, {} in all", id_.name(), begins.size(), assigned_.size());
  }

  void begin_at(const SourcePosition& next) {
    const PartitionId id{next.source, next.partition};
    const bool is_new = next_.insert_or_assign(id, next.offset).second;
    if (is_new) fresh_.insert(id);
    last_ = next_.end();
    Message word;
    word.kind = MessageKind::kBegins;
    word.position = next;
    pending_.push_back(std::move(word));
  }

  /// `given_away`: others read them now. Else the group has lost sight of this member, which will be back.
  void revoked(const std::vector<RdKafka::TopicPartition*>& partitions, bool given_away) {
    const std::lock_guard lock(mutex_);
    for (const RdKafka::TopicPartition* partition : partitions) {
      const PartitionId id = id_of(*partition);
      assigned_.erase(id);
      lost_.erase(id);
      if (stopping_) continue;
      give_back(id);
      if (given_away) quiet(id);
    }
    if (!partitions.empty())
      spdlog::info("source {}: {} partitions were revoked, {} are left", id_.name(), partitions.size(),
                   assigned_.size());
  }

  /// What is not in the queue is left to the next owner.
  void give_back(const PartitionId& id) {
    const auto of_it = [&](const Message& message) {
      return message.kind == MessageKind::kEvent && message.position.source == id.first &&
             message.position.partition == id.second;
    };
    const auto begin = pending_.begin() + static_cast<std::ptrdiff_t>(handed_over_);
    if (const auto first = std::find_if(begin, pending_.end(), of_it); first != pending_.end()) {
      next_[id] = first->position.offset;
      pending_.erase(std::remove_if(first, pending_.end(), of_it), pending_.end());
    }
  }

  void quiet(const PartitionId& id) {
    fresh_.erase(id);
    Message word;
    word.kind = MessageKind::kQuiet;
    word.position = {id.first, id.second, next_[id]};
    pending_.push_back(std::move(word));
  }

  PartitionId id_of(const RdKafka::TopicPartition& partition) const {
    return {part_of(id_, partition.topic()), partition.partition()};
  }

  // The thread.

  void run() {
    while (!stopping_) {
      if (failed_) {
        begin_anew();
        continue;
      }
      poll(kTick);
      mend();
      hand_over();
      look_whether_it_failed();
    }
  }

  /// The library has given up (as when a broker that was killed has forgotten this member): a new client does not.
  void begin_anew() {
    std::unique_ptr<RdKafka::KafkaConsumer> client;
    {
      const std::lock_guard lock(mutex_);
      client = std::move(consumer_);
    }
    if (client) {
      rd_kafka_queue_destroy(records_queue_);
      close_client(std::move(client), shared_from_this());
      lost_.clear();
      paused_ = false;
      hand_over();
    }
    std::unique_lock lock(mutex_);
    stop_asked_.wait_for(lock, waits_.next(), [&] { return stopping_.load(); });
    lock.unlock();
    if (stopping_) return;
    if (const Status opened = open(); opened) {
      failed_ = false;
    } else {
      log_.problem(opened.error().message);
    }
  }

  /// Takes what the library has, at most a batch, and lets it call back.
  void poll(std::chrono::milliseconds wait) {
    rd_kafka_message_t* first = rd_kafka_consumer_poll(consumer_->c_ptr(), static_cast<int>(wait.count()));
    if (first == nullptr) return;
    take(*first);
    rd_kafka_message_destroy(first);
    std::array<rd_kafka_message_t*, kBatch> batch;
    const auto count = rd_kafka_consume_batch_queue(records_queue_, 0, batch.data(), batch.size());
    for (ssize_t i = 0; i < count; ++i) {
      take(*batch[static_cast<std::size_t>(i)]);
      rd_kafka_message_destroy(batch[static_cast<std::size_t>(i)]);
    }
  }

  void take(rd_kafka_message_t& record) {
    if (record.err != RD_KAFKA_RESP_ERR_NO_ERROR) return take_error(record);
    const PartitionId id = records_.partition_of(record);
    if (last_ == next_.end() || last_->first != id) {
      last_ = next_.find(id);
      if (last_ == next_.end()) return;  // was never assigned
      fresh_.erase(id);
    }
    if (record.offset < last_->second) return;  // was taken before the partition moved
    last_->second = record.offset + 1;
    if (options_.record.format == RecordFormat::kDebezium && record.payload == nullptr) return;
    pending_.push_back(records_.read(record));
  }

  void take_error(const rd_kafka_message_t& record) {
    switch (record.err) {
      case RD_KAFKA_RESP_ERR__PARTITION_EOF:
        if (fresh_.contains(records_.partition_of(record))) quiet(records_.partition_of(record));
        return;
      case RD_KAFKA_RESP_ERR__AUTO_OFFSET_RESET:
        lost_.insert(records_.partition_of(record));
        return;
      default:
        return log_.problem(rd_kafka_message_errstr(&record));
    }
  }

  /// Partitions whose next record is not there any more: goes on where the options say.
  void mend() {
    if (lost_.empty() || SteadyClock::now() < ask_again_) return;
    for (const PartitionId& id : std::vector(lost_.begin(), lost_.end())) {
      std::int64_t low = 0, high = 0;
      const auto code = consumer_->query_watermark_offsets(topic_of(id), id.second, &low, &high, kAskMs);
      if (code != RdKafka::ERR_NO_ERROR) {
        log_.problem("asking where " + text_of(id) + " begins: " + RdKafka::err2str(code));
        ask_again_ = SteadyClock::now() + kAskAgainAfter;
        continue;
      }
      lost_.erase(id);
      if (options_.out_of_range == OutOfRange::kStop) {
        spdlog::error(
            "source {}: {} has records {} to {}, and {} is the next to be read: it is read no more "
            "(out_of_range: stop)",
            id_.name(), text_of(id), low, high - 1, next_[id]);
        quiet(id);
        continue;
      }
      const std::int64_t next = options_.out_of_range == OutOfRange::kEarliest ? low : high;
      spdlog::error("source {}: {} has records {} to {}, and {} was the next to be read: it is read from {} on",
                    id_.name(), text_of(id), low, high - 1, next_[id], next);
      PartitionList moved;
      moved.add(topic_of(id), id.second, next);
      std::unique_ptr<RdKafka::Error> refused(consumer_->incremental_unassign(moved.get()));
      if (!refused) refused.reset(consumer_->incremental_assign(moved.get()));
      if (refused) log_.problem(text_of(id) + ": " + refused->str());
      if (paused_) consumer_->pause(moved.get());
      begin_at({id.first, id.second, next});
    }
  }

  /// Waits until the queue has taken all. Then the library waits, too.
  void hand_over() {
    const auto begun = SteadyClock::now();
    while (handed_over_ < pending_.size() && !stopping_) {
      handed_over_ += queue_.push_some(std::span(pending_).subspan(handed_over_), kTick);
      if (handed_over_ == pending_.size()) break;
      if (!paused_ && SteadyClock::now() - begun > kPauseAfter) pause();
      if (paused_) poll(0ms);
    }
    if (stopping_) return;
    pending_.clear();
    handed_over_ = 0;
    last_ = next_.end();
    if (paused_) resume();
  }

  void pause() {
    paused_ = true;
    std::vector<RdKafka::TopicPartition*> all;
    consumer_->assignment(all);
    consumer_->pause(all);
    RdKafka::TopicPartition::destroy(all);
    spdlog::debug("source {}: paused, the queue is full", id_.name());
  }

  void resume() {
    paused_ = false;
    std::vector<RdKafka::TopicPartition*> all;
    consumer_->assignment(all);
    consumer_->resume(all);
    RdKafka::TopicPartition::destroy(all);
    spdlog::debug("source {}: goes on", id_.name());
  }

  void look_whether_it_failed() {
    std::array<char, 512> why;
    if (rd_kafka_fatal_error(consumer_->c_ptr(), why.data(), why.size()) == RD_KAFKA_RESP_ERR_NO_ERROR) return;
    failed_ = true;
    spdlog::error("source {}: the client library gives up and is started anew: {}", id_.name(), why.data());
  }

  const SourceId id_;
  const KafkaOptions options_;
  MessageQueue& queue_;
  KafkaLog log_;
  RecordReader records_;
  std::unique_ptr<RdKafka::KafkaConsumer> consumer_;
  rd_kafka_queue_t* records_queue_ = nullptr;

  // The thread's, in its callbacks too.
  std::map<PartitionId, std::int64_t> next_;                          // offset of the next record
  std::map<PartitionId, std::int64_t>::iterator last_ = next_.end();  // of the last one
  std::set<PartitionId> fresh_;                                       // they are new, and nothing has come yet
  std::set<PartitionId> lost_;                                        // whose next record is not there
  SteadyClock::time_point ask_again_{};
  std::vector<Message> pending_;
  std::size_t handed_over_ = 0;  // of pending_
  bool paused_ = false;

  mutable std::mutex mutex_;
  std::set<PartitionId> assigned_;  // under mutex_
  std::condition_variable stop_asked_;
  std::atomic<bool> stopping_ = false, away_ = true;
  bool failed_ = false;  // the thread's
  BackOff waits_;
  std::thread thread_;
};

KafkaSource::KafkaSource(std::string name, KafkaOptions options) : id_(name), options_(std::move(options)) {}

KafkaSource::~KafkaSource() {
  if (member_) member_->close();
}

Status KafkaSource::start(MessageQueue& queue, const Positions& taken) {
  member_ = std::make_shared<Member>(id_, options_, queue, taken);
  Status started = member_->start();
  if (!started) member_.reset();
  return started;
}

void KafkaSource::stop() {
  if (member_) member_->stop();
}

Result<std::unique_ptr<Rereader>> KafkaSource::reread(const Positions& taken) {
  return kafka_rereader(id_, options_, taken);
}

void KafkaSource::stored(const Positions& taken) {
  if (member_) member_->stored(taken);
}

bool KafkaSource::away() const { return member_ && member_->away(); }

std::string KafkaSource::status() const { return member_ ? member_->status() : "stopped"; }

}  // namespace cepd::adapters
