#include "adapters/kafka_reread.h"

#include <librdkafka/rdkafka.h>
#include <librdkafka/rdkafkacpp.h>
#include <spdlog/spdlog.h>

#include <chrono>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "adapters/kafka_client.h"

namespace cepd::adapters {
namespace {

using namespace std::chrono_literals;
using SteadyClock = std::chrono::steady_clock;

constexpr int kTickMs = 100;
/// A partition that ends before a record that was there: it may be about to be found again by a broker that has just
/// started.
constexpr auto kPatience = 10s;
/// Of each partition; the journal behind a checkpoint is short.
constexpr const char* kPrefetchKiB = "1024";

/// What the library says on the side.
class Events : public RdKafka::EventCb {
 public:
  explicit Events(const std::string& source) : log(source) {}
  KafkaLog log;

 private:
  void event_cb(RdKafka::Event& event) override {
    if (event.type() == RdKafka::Event::EVENT_LOG) {
      log.line(event.severity(), event.fac() + ": " + event.str());
    } else if (event.type() == RdKafka::Event::EVENT_ERROR) {
      log.problem("reading once more what was taken before the crash: " + event.str());
    }
  }
};

class KafkaRereader final : public Rereader {
 public:
  KafkaRereader(const SourceId& source, const KafkaOptions& options, const Positions& taken)
      : source_(source),
        options_(options),
        events_(std::make_shared<Events>(source.name())),
        records_(source, options.record),
        taken_(taken) {}
  ~KafkaRereader() override {
    for (auto& [id, partition] : partitions_) rd_kafka_queue_destroy(partition.queue);
    if (consumer_) close_client(std::move(consumer_), std::move(events_));
  }

  Status open() {
    auto conf = kafka_conf(options_);
    if (!conf) return std::move(conf).error();
    std::string problem;
    if ((*conf)->set("event_cb", static_cast<RdKafka::EventCb*>(events_.get()), problem) != RdKafka::Conf::CONF_OK ||
        (*conf)->set("queued.max.messages.kbytes", kPrefetchKiB, problem) != RdKafka::Conf::CONF_OK)
      return error(Errc::kInternal, problem);
    consumer_.reset(RdKafka::KafkaConsumer::create(conf->get(), problem));
    if (!consumer_) return error(Errc::kInvalidArgument, problem);
    return {};
  }

  const Message* next(const PartitionId& id, std::int64_t through) override {
    Partition& partition = begun(id);
    std::optional<SteadyClock::time_point> give_up;
    while (!partition.waiting) {
      serve_callbacks();
      rd_kafka_message_t* record = rd_kafka_consume_queue(partition.queue, kTickMs);
      if (record != nullptr) {
        take(id, partition, *record, give_up);
        rd_kafka_message_destroy(record);
      }
      if (give_up && SteadyClock::now() > *give_up) return nullptr;
    }
    if (partition.waiting->position.offset > through) return nullptr;
    current_ = *std::exchange(partition.waiting, std::nullopt);
    return &current_;
  }

  void seek(const PartitionId& id, std::int64_t next) override {
    const auto found = partitions_.find(id);
    if (found == partitions_.end()) {
      taken_[id] = next - 1;
    } else if (found->second.next != next) {
      move(id, found->second, next);
    }
  }

 private:
  struct Partition {
    rd_kafka_queue_t* queue = nullptr;
    std::int64_t next = 0;
    std::optional<Message> waiting;  // was read, and is behind what was asked for
  };

  /// Only serves callbacks: the records are in the partitions' own queues.
  void serve_callbacks() {
    if (rd_kafka_message_t* other = rd_kafka_consumer_poll(consumer_->c_ptr(), 0)) rd_kafka_message_destroy(other);
  }

  Partition& begun(const PartitionId& id) {
    const auto [it, is_new] = partitions_.try_emplace(id);
    if (is_new) {
      it->second.queue = rd_kafka_queue_get_partition(consumer_->c_ptr(), topic_of(id).c_str(), id.second);
      rd_kafka_queue_forward(it->second.queue, nullptr);
      const auto last = taken_.find(id);
      assign(id, it->second, last == taken_.end() ? 0 : last->second + 1);
    }
    return it->second;
  }

  static std::string topic_of(const PartitionId& id) { return id.first.name().substr(id.first.name().find('/') + 1); }

  void assign(const PartitionId& id, Partition& partition, std::int64_t next) {
    partition.next = next;
    std::vector<RdKafka::TopicPartition*> list{RdKafka::TopicPartition::create(topic_of(id), id.second, next)};
    const std::unique_ptr<RdKafka::Error> refused(consumer_->incremental_assign(list));
    if (refused) events_->log.problem(refused->str());
    RdKafka::TopicPartition::destroy(list);
  }

  void move(const PartitionId& id, Partition& partition, std::int64_t next) {
    std::vector<RdKafka::TopicPartition*> list{RdKafka::TopicPartition::create(topic_of(id), id.second)};
    const std::unique_ptr<RdKafka::Error> refused(consumer_->incremental_unassign(list));
    if (refused) events_->log.problem(refused->str());
    RdKafka::TopicPartition::destroy(list);
    partition.waiting.reset();
    assign(id, partition, next);
  }

  void take(const PartitionId& id, Partition& partition, rd_kafka_message_t& record,
            std::optional<SteadyClock::time_point>& give_up) {
    const auto soon = [&] {
      if (!give_up) give_up = SteadyClock::now() + kPatience;
    };
    switch (record.err) {
      case RD_KAFKA_RESP_ERR_NO_ERROR:
        if (record.offset < partition.next) return;
        partition.next = record.offset + 1;
        if (options_.record.format == RecordFormat::kDebezium && record.payload == nullptr) return;
        partition.waiting = records_.read(record);
        return;
      case RD_KAFKA_RESP_ERR__PARTITION_EOF:
        return soon();
      case RD_KAFKA_RESP_ERR__AUTO_OFFSET_RESET: {
        std::int64_t low = 0, high = 0;
        const auto code = consumer_->query_watermark_offsets(topic_of(id), id.second, &low, &high, 1000);
        if (code != RdKafka::ERR_NO_ERROR || low <= partition.next) return soon();
        spdlog::error(
            "source {}: {} partition {} begins at {} now: what was taken from {} on before the crash cannot be "
            "read again, matches may be missing or others than before",
            source_.name(), id.first.name(), id.second, low, partition.next);
        return move(id, partition, low);
      }
      default:
        events_->log.problem(rd_kafka_message_errstr(&record));
        return soon();
    }
  }

  const SourceId source_;
  const KafkaOptions& options_;
  std::shared_ptr<Events> events_;
  RecordReader records_;
  Positions taken_;
  std::unique_ptr<RdKafka::KafkaConsumer> consumer_;
  std::map<PartitionId, Partition> partitions_;
  Message current_;
};

}  // namespace

Result<std::unique_ptr<Rereader>> kafka_rereader(const SourceId& source, const KafkaOptions& options,
                                                 const Positions& taken) {
  auto reader = std::make_unique<KafkaRereader>(source, options, taken);
  CEPD_TRY(reader->open());
  return std::unique_ptr<Rereader>(std::move(reader));
}

}  // namespace cepd::adapters
