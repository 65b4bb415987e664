#pragma once
/// One connection to an MQTT broker, which acknowledges when it is told to. Used by mqtt_source.cc only.
///
/// libmosquitto answers a message of QoS 1 by itself, before it calls back. But where the program drives the network
/// (mosquitto_threaded_set, loop_read, loop_write) the answer is put into a list that only loop_write sends. So what
/// was received is acknowledged by the next send(), which is called when all of it is durable and not before. Nothing
/// else can be sent meanwhile, also no ping. receive() makes sure of it: a library that does otherwise is not used.

#include <chrono>
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "adapters/mqtt_source.h"
#include "adapters/stop_signal.h"
#include "clients/mqtt_client.h"

struct mosquitto;
struct mosquitto_message;

namespace cepd::adapters {

struct MqttReceived {
  std::string topic, bytes;
  std::size_t size = 0;  ///< of the payload, of which `bytes` may be the beginning only
  int qos = 0;
  bool retained = false;  ///< sent because of the subscription
};

/// For one thread.
class MqttConnection {
 public:
  /// Both outlive it.
  MqttConnection(const MqttSourceOptions& options, const StopSignal& stop);
  ~MqttConnection();  ///< without a word where disconnect() was not called: the broker publishes the will
  MqttConnection(const MqttConnection&) = delete;
  MqttConnection& operator=(const MqttConnection&) = delete;

  /// Connects, and asks to subscribe unless the broker has kept the session and `subscribed` says that this process has
  /// told it the topics. False with problem() set, or when stopping. Messages may have come meanwhile.
  bool open(const std::string& server, bool subscribed);
  /// The broker has taken the subscriptions.
  bool ready() const { return stage_ == Stage::kReady; }

  /// Waits, at most a second, for messages and reads those that are there, up to some hundred. False with problem() set
  /// when the connection is lost. Requires that nothing was received and not yet sent the acknowledgement of.
  bool receive();
  /// What open() and receive() have read and nobody has taken out yet, in order.
  std::vector<MqttReceived>& received() { return received_; }
  /// Sends what waits: the acknowledgements of all that was read. False with problem() set when the connection is lost.
  bool send();
  /// Says good-bye, after send(), so that the will is not published.
  void disconnect();

  bool session_present() const { return session_present_; }
  const std::string& server() const { return server_; }
  /// Why it does not work, for a person.
  const std::string& problem() const { return problem_; }

 private:
  enum class Stage : unsigned char { kConnecting, kConnected, kReady };

  bool configure(bool tls);
  bool subscribe();
  bool works(int result);
  bool step(std::chrono::milliseconds limit);
  bool read_all();
  void take(const mosquitto_message& message);

  const MqttSourceOptions& options_;
  const StopSignal& stop_;
  clients::MqttClient client_;
  std::string server_, problem_, detail_;
  Stage stage_ = Stage::kConnecting;
  bool session_present_ = false, refused_ = false;
  std::vector<MqttReceived> received_;
  std::size_t bytes_ = 0;                        // read since the last send()
  std::size_t to_acknowledge_ = 0;               // read since the last send()
  std::chrono::steady_clock::time_point heard_;  // when something came last, while an answer is waited for
};

}  // namespace cepd::adapters
