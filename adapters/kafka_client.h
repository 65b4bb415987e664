#pragma once
/// The Kafka client library, set up by a source's options, and its log on the way into ours.

#include <memory>
#include <mutex>
#include <string>

#include "adapters/kafka_options.h"
#include "adapters/rate_limit.h"
#include "base/result.h"

namespace RdKafka {
class Conf;
class KafkaConsumer;
}  // namespace RdKafka
struct rd_kafka_message_s;

namespace cepd::adapters {

/// For a consumer that decides about offsets itself. Errors: kInvalidArgument for what the library refuses.
Result<std::unique_ptr<RdKafka::Conf>> kafka_conf(const KafkaOptions& options);

/// Closes the client and destroys it. The library may wait for itself for ever there (after a topic was deleted): then
/// it is left behind, with what `keeps` its callbacks alive, and only the end of the process ends it.
void close_client(std::unique_ptr<RdKafka::KafkaConsumer> client, std::shared_ptr<void> keeps);

/// What the library's statistics (JSON) say of the connections.
bool any_broker_up(const std::string& statistics);

/// What the library logs: its warnings, at most one line in ten seconds, with how many there were. Any thread.
class KafkaLog {
 public:
  explicit KafkaLog(std::string source) : source_(std::move(source)) {}
  /// `severity` as syslog counts.
  void line(int severity, const std::string& text);
  void problem(const std::string& text);

 private:
  const std::string source_;
  std::mutex mutex_;
  RateLimit rate_{std::chrono::seconds(10)};
};

/// Records -> messages.
class RecordReader {
 public:
  RecordReader(const SourceId& source, const KafkaOptions::Record& options) : source_(source), options_(options) {}

  /// Of a record, which has no error.
  Message read(rd_kafka_message_s& record);
  PartitionId partition_of(const rd_kafka_message_s& record) {
    return {part_of_topic(record), partition_number(record)};
  }

 private:
  SourceId part_of_topic(const rd_kafka_message_s& record);
  static std::int32_t partition_number(const rd_kafka_message_s& record);
  std::shared_ptr<const RecordParts> parts_of(rd_kafka_message_s& record) const;

  const SourceId source_;
  const KafkaOptions::Record options_;
  std::string topic_;  // the last one seen, and its part
  SourceId part_;
};

}  // namespace cepd::adapters
