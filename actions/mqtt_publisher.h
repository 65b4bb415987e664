#pragma once
/// Messages to an MQTT broker, and what became of each. Hides libmosquitto.

#include <atomic>
#include <chrono>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "actions/sink.h"
#include "clients/server_address.h"
#include "clients/tls_files.h"

namespace cepd::actions {

struct MqttMessage {
  std::string topic, payload;
  std::vector<std::pair<std::string, std::string>> properties;  ///< user properties; MQTT 5 only
};

struct MqttPublisherOptions {
  std::vector<clients::ServerAddress> servers;  ///< tried in this order
  clients::TlsFiles tls;
  std::string client_id;  ///< empty: the library makes one up at each connection
  std::string username, password;
  bool version_5 = true;
  int qos = 1;
  bool retain = false;
  std::chrono::milliseconds time_limit{10'000};  ///< for a connection, and for each batch to be acknowledged
};

/// Connects at the first publish(), and anew after an error or a long silence: the thread that publishes drives the
/// network, and no other. For one thread, but for end_soon().
class MqttPublisher {
 public:
  explicit MqttPublisher(MqttPublisherOptions options);
  ~MqttPublisher();

  /// kDone: acknowledged (QoS 1 and 2), or sent (QoS 0). kRejected: the broker will never take it. kRetry: not
  /// acknowledged within the time limit; it may have been published all the same. An outcome for each message, or one
  /// where there is no connection.
  std::vector<Outcome> publish(std::span<const MqttMessage> messages);
  /// Any thread: a publish() under way, and each from now on, waits no longer than a second.
  void end_soon();

 private:
  struct Connection;
  /// Empty, or why not.
  std::string connect();
  const MqttPublisherOptions options_;
  std::atomic<bool> ending_ = false;
  std::unique_ptr<Connection> connection_;
};

}  // namespace cepd::actions
