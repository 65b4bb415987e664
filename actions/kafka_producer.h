#pragma once
/// Records into Kafka topics, and what became of each. Hides librdkafka.

#include <atomic>
#include <chrono>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "actions/sink.h"
#include "clients/kafka_connection.h"

namespace cepd::actions {

struct KafkaRecord {
  std::string topic;
  std::optional<std::string> key;    ///< none: any partition
  std::optional<std::string> value;  ///< none: a tombstone
  std::vector<std::pair<std::string_view, std::string>> headers;
};

struct KafkaProducerOptions {
  clients::KafkaConnection connection;
  std::string compression = "none";              ///< as the library names it
  std::chrono::milliseconds time_limit{30'000};  ///< for a record to be acknowledged
};

/// An idempotent producer: what it repeats by itself within the time limit stands there once, and in order. Connects at
/// the first send(), again after an error that the library cannot go on from. For one thread, but for end_soon().
class KafkaProducer {
 public:
  explicit KafkaProducer(KafkaProducerOptions options);
  ~KafkaProducer();

  /// kDone: all in-sync replicas have it. kRejected: the broker will never take it. kRetry: not acknowledged within the
  /// time limit; it may stand there all the same. Of the records behind the last outcome none was sent.
  std::vector<Outcome> send(std::span<const KafkaRecord> records);
  /// Any thread: a send() under way, and each from now on, waits no longer than a second.
  void end_soon();

 private:
  struct Client;
  const KafkaProducerOptions options_;
  std::atomic<bool> ending_ = false;
  std::unique_ptr<Client> client_;
};

}  // namespace cepd::actions
