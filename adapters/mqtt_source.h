#pragma once
/// Events from an MQTT broker.
///
/// One thread connects, subscribes, receives and, when the connection is gone, does so again for ever, with growing
/// waits. It reads what is there, up to some hundred messages, puts them into the queue, waits until all of QoS 1 are
/// durable, and only then sends their acknowledgements: they share a commit, and the broker holds back what is beyond
/// `max_in_flight`. A full queue and a slow disk hold it up in the same way. While it waits longer than the keep-alive
/// time the broker may drop the connection and send the messages again afterwards.
///
/// QoS 2 is asked of the broker as QoS 1: a client that may die at any time would have to store every message before it
/// says that it has received it, and the library gives the message only after that. What comes again is dropped by
/// `dedup`, whatever the QoS.
///
/// stop(): keep popping and releasing until it returns. Nothing that was acknowledged is missing. Messages that do not
/// become durable within two seconds are not acknowledged: the broker sends them again.
///
/// Cannot be replayed: the offset is a running count. With `clean_start` off the broker keeps what comes while cepd is
/// away, for `session_expiry`.

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "adapters/source.h"

namespace cepd::adapters {

struct MqttSourceOptions {
  /// What the broker is to publish when the connection is lost without a word.
  struct Will {
    std::string topic, payload;
    int qos = 1;
    bool retain = false;
  };
  enum class Retained : unsigned char {
    kOnNew,   ///< those there were when the subscription was made
    kAlways,  ///< after each connection
    kNever,
  };
  enum class Payload : unsigned char { kJson, kNumber, kText };

  std::vector<std::string> servers;  ///< mqtt://host:port or mqtts://…, tried in this order
  std::vector<std::string> topics;   ///< filters as brokers take them, $share/… included
  int qos = 1;
  std::string client_id;
  std::string username, password;
  std::chrono::seconds keep_alive{30};  ///< at least 5
  bool clean_start = false;
  std::chrono::seconds session_expiry{3600};  ///< MQTT 5 only: MQTT 3.1.1 leaves it to the broker
  bool version_5 = true;
  int max_in_flight = 1000;  ///< MQTT 5 only, 1 to 65535
  std::string ca_file, cert_file, key_file;
  std::size_t max_message = 1U << 20;  ///< bytes; of a longer one the beginning is pushed as too_long
  Retained retained = Retained::kOnNew;
  std::optional<Will> will;
  Payload payload = Payload::kJson;
  std::string value_field = "value";  ///< of what a number or text becomes
  std::string arrival_field;          ///< that the time of arrival is put into; empty for none
  std::chrono::milliseconds first_wait{250}, longest_wait{30'000};
};

class MqttSource final : public Source {
 public:
  MqttSource(std::string name, MqttSourceOptions options);
  ~MqttSource() override;

  Status start(MessageQueue& queue, const Positions& taken) override;
  void stop() override;
  bool away() const override;
  std::string status() const override;
  SourceId id() const override;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace cepd::adapters
