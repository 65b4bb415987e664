#include "adapters/kafka_client.h"

#include <librdkafka/rdkafka.h>
#include <librdkafka/rdkafkacpp.h>
#include <simdjson.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <chrono>
#include <future>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "adapters/line_pusher.h"

namespace cepd::adapters {
namespace {

constexpr int kSyslogWarning = 4;
constexpr std::chrono::seconds kDestroyWait{2};
/// Brokers answer after this long also where nothing has come: so the end of a partition is soon known.
constexpr int kFetchWaitMs = 200;
constexpr int kStatisticsMs = 1000;
/// The library's default: a member that does not ask for so long is put out of the group.
constexpr std::int64_t kMaxPollMs = 300'000;

std::string text_of(const void* bytes, std::size_t size) {
  return bytes == nullptr ? std::string() : std::string(static_cast<const char*>(bytes), size);
}

std::optional<std::string> last_header(const rd_kafka_message_t& record, const std::string& name) {
  if (name.empty()) return std::nullopt;
  rd_kafka_headers_t* headers = nullptr;
  const void* value = nullptr;
  std::size_t size = 0;
  if (rd_kafka_message_headers(&record, &headers) != RD_KAFKA_RESP_ERR_NO_ERROR ||
      rd_kafka_header_get_last(headers, name.c_str(), &value, &size) != RD_KAFKA_RESP_ERR_NO_ERROR || value == nullptr)
    return std::nullopt;
  return text_of(value, size);
}

}  // namespace

Result<std::unique_ptr<RdKafka::Conf>> kafka_conf(const KafkaOptions& options) {
  std::unique_ptr<RdKafka::Conf> conf(RdKafka::Conf::create(RdKafka::Conf::CONF_GLOBAL));
  const std::int64_t session_ms = options.session_timeout.count();
  std::vector<std::pair<std::string, std::string>> settings = {
      {"group.id", options.group},
      {"group.instance.id", options.instance},
      {"partition.assignment.strategy", "cooperative-sticky"},
      {"session.timeout.ms", std::to_string(session_ms)},
      {"heartbeat.interval.ms", std::to_string(std::min<std::int64_t>(3000, session_ms / 3))},
      {"max.poll.interval.ms", std::to_string(std::max(kMaxPollMs, session_ms))},
      // Where to begin, and what is done for good, is ours to say.
      {"enable.auto.commit", "false"},
      {"enable.auto.offset.store", "false"},
      {"auto.offset.reset", "error"},
      {"enable.partition.eof", "true"},
      {"isolation.level", options.read_committed ? "read_committed" : "read_uncommitted"},
      {"topic.metadata.refresh.interval.ms", std::to_string(options.look_every.count())},
      {"queued.max.messages.kbytes", std::to_string(std::max<std::size_t>(1, options.prefetch >> 10))},
      {"statistics.interval.ms", std::to_string(kStatisticsMs)},
      {"fetch.wait.max.ms", std::to_string(kFetchWaitMs)},
  };
  for (auto& setting : clients::kafka_settings(options.connection)) settings.push_back(std::move(setting));
  for (const auto& [name, value] : settings) {
    std::string problem;
    if (!value.empty() && conf->set(name, value, problem) != RdKafka::Conf::CONF_OK)
      return error(Errc::kInvalidArgument, problem);
  }
  return conf;
}

void close_client(std::unique_ptr<RdKafka::KafkaConsumer> client, std::shared_ptr<void> keeps) {
  client->close();
  auto destroyed = std::make_shared<std::promise<void>>();
  std::future<void> done = destroyed->get_future();
  std::thread([owned = std::move(client), kept = std::move(keeps), destroyed]() mutable {
    owned.reset();
    kept.reset();
    destroyed->set_value();
  }).detach();
  if (done.wait_for(kDestroyWait) == std::future_status::timeout)
    spdlog::warn("the Kafka client library does not end; it is left behind");
}

bool any_broker_up(const std::string& statistics) {
  simdjson::dom::parser parser;
  simdjson::dom::object brokers;
  if (parser.parse(statistics)["brokers"].get(brokers) != simdjson::SUCCESS) return false;
  return std::any_of(brokers.begin(), brokers.end(), [](const auto& broker) {
    std::string_view state;
    return broker.value["state"].get(state) == simdjson::SUCCESS && (state == "UP" || state == "UPDATE");
  });
}

void KafkaLog::line(int severity, const std::string& text) {
  if (severity <= kSyslogWarning) {
    problem(text);
  } else {
    spdlog::debug("source {}: {}", source_, text);
  }
}

void KafkaLog::problem(const std::string& text) {
  const std::lock_guard lock(mutex_);
  if (const auto times = rate_.pass(std::chrono::steady_clock::now()))
    spdlog::warn("source {}: {} ({} time{})", source_, text, *times, *times == 1 ? "" : "s");
}

SourceId RecordReader::part_of_topic(const rd_kafka_message_t& record) {
  const std::string_view topic = rd_kafka_topic_name(record.rkt);
  if (topic != topic_) {
    topic_ = topic;
    part_ = part_of(source_, topic);
  }
  return part_;
}

std::int32_t RecordReader::partition_number(const rd_kafka_message_t& record) { return record.partition; }

std::shared_ptr<const RecordParts> RecordReader::parts_of(rd_kafka_message_t& record) const {
  const bool no_value = record.payload == nullptr;
  const bool key = !options_.key_field.empty() && record.key != nullptr;
  if (!no_value && !key && !options_.topic_is_type && options_.type_name.empty() && options_.type_header.empty() &&
      options_.time_header.empty() && !options_.record_time)
    return nullptr;
  auto parts = std::make_shared<RecordParts>();
  parts->no_value = no_value;
  if (key) parts->key = text_of(record.key, record.key_len);
  if (options_.topic_is_type) {
    parts->type = topic_;
  } else if (!options_.type_name.empty()) {
    parts->type = options_.type_name;
  } else {
    parts->type = last_header(record, options_.type_header);
  }
  parts->time = last_header(record, options_.time_header);
  if (options_.record_time) {
    rd_kafka_timestamp_type_t kind = RD_KAFKA_TIMESTAMP_NOT_AVAILABLE;
    const std::int64_t ms = rd_kafka_message_timestamp(&record, &kind);
    if (kind != RD_KAFKA_TIMESTAMP_NOT_AVAILABLE) parts->when = event_time_us(ms * 1000);
  }
  return parts;
}

Message RecordReader::read(rd_kafka_message_t& record) {
  Message message;
  message.position = {part_of_topic(record), record.partition, record.offset};
  message.too_long = record.len > options_.max_message;
  message.bytes = text_of(record.payload, message.too_long ? kTooLongKept : record.len);
  message.parts = parts_of(record);
  return message;
}

}  // namespace cepd::adapters
