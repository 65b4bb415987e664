#include "actions/mqtt_publisher.h"

#include <mosquitto.h>
#include <mqtt_protocol.h>
#include <poll.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <unordered_map>

#include "clients/mqtt_client.h"
#include "clients/reach.h"

namespace cepd::actions {
namespace {

using namespace std::chrono_literals;
using SteadyClock = std::chrono::steady_clock;

constexpr auto kTick = 100ms;  // between looks at whether it is to end
constexpr auto kStopGrace = 1s;
constexpr auto kReachLimit = 5s;  // for a server to accept the connection
/// The library sends pings only where it is called, and it is called only to publish: so a connection is used again
/// within half of the time after which the broker gives it up.
constexpr int kKeepAliveSeconds = 120;
constexpr auto kUsedAgain = 60s;
/// Of QoS 1 and 2, where the broker allows so many.
constexpr int kInFlight = 1'000;
constexpr int kFirstError = 0x80;  // of MQTT 5's reason codes

/// Of a message that will be refused whenever it is published.
bool is_final(int reason) {
  return reason == MQTT_RC_TOPIC_NAME_INVALID || reason == MQTT_RC_PACKET_TOO_LARGE ||
         reason == MQTT_RC_PAYLOAD_FORMAT_INVALID;
}

/// A time limit, which a stop shortens.
class Patience {
 public:
  Patience(std::chrono::milliseconds limit, const std::atomic<bool>& ending)
      : until_(SteadyClock::now() + limit), ending_(ending) {}
  bool is_over() {
    const auto now = SteadyClock::now();
    if (ending_ && !std::exchange(shortened_, true)) until_ = std::min(until_, now + kStopGrace);
    return now > until_;
  }

 private:
  SteadyClock::time_point until_;
  const std::atomic<bool>& ending_;
  bool shortened_ = false;
};

}  // namespace

struct MqttPublisher::Connection {
  Connection(const MqttPublisherOptions& o, const clients::ServerAddress& s)
      : options(o), server(s), client(clients::make_mqtt_client(o.client_id, true, o.version_5, this)) {}

  bool works(int result) {
    if (result == MOSQ_ERR_SUCCESS) return true;
    if (problem.empty()) problem = clients::mqtt_words(result);
    if (!detail.empty() && problem.find(detail) == std::string::npos) problem += " (" + detail + ")";
    return false;
  }

  bool configure() {
    mosquitto* const c = client.get();
    mosquitto_int_option(c, MOSQ_OPT_SEND_MAXIMUM, kInFlight);
    mosquitto_connect_v5_callback_set(c, [](mosquitto*, void* self, int result, int, const mosquitto_property*) {
      auto& connection = *static_cast<Connection*>(self);
      connection.answered = true;
      if (result != 0) connection.problem = clients::mqtt_refusal(result, connection.options.version_5);
    });
    mosquitto_publish_v5_callback_set(c, [](mosquitto*, void* self, int id, int reason, const mosquitto_property*) {
      static_cast<Connection*>(self)->acknowledged[id] = reason;
    });
    mosquitto_disconnect_v5_callback_set(c, [](mosquitto*, void* self, int reason, const mosquitto_property*) {
      if (reason >= kFirstError) static_cast<Connection*>(self)->problem = clients::mqtt_farewell(reason);
    });
    mosquitto_log_callback_set(c, [](mosquitto*, void* self, int level, const char* text) {
      if (level == MOSQ_LOG_ERR) static_cast<Connection*>(self)->detail = text;
    });
    if (!options.username.empty() &&
        !works(mosquitto_username_pw_set(c, options.username.c_str(),
                                         options.password.empty() ? nullptr : options.password.c_str())))
      return false;
    if (!server.tls) return true;
    problem = clients::set_mqtt_tls(*c, options.tls);
    return problem.empty() || works(MOSQ_ERR_TLS);  // which adds the library's own word
  }

  /// Sends and reads what there is, waits a tick for more. False with `problem` set when the connection is lost.
  bool step() {
    mosquitto* const c = client.get();
    errno = 0;
    if (mosquitto_want_write(c) && !works(mosquitto_loop_write(c, 1))) return false;
    pollfd waited{mosquitto_socket(c), POLLIN, 0};
    if (waited.fd < 0) return works(MOSQ_ERR_CONN_LOST);
    if (mosquitto_want_write(c)) waited.events |= POLLOUT;
    ::poll(&waited, 1, static_cast<int>(kTick.count()));
    if ((waited.revents & ~POLLOUT) != 0 && !works(mosquitto_loop_read(c, 1))) return false;
    return problem.empty() && works(mosquitto_loop_misc(c));
  }

  bool open(const std::atomic<bool>& ending) {
    Patience patience(options.time_limit, ending);
    if (problem = clients::reach(server, std::min<std::chrono::milliseconds>(options.time_limit, kReachLimit));
        !problem.empty())
      return false;
    if (!configure() || !works(mosquitto_connect_bind_v5(client.get(), server.host.c_str(), server.port,
                                                         kKeepAliveSeconds, nullptr, nullptr)))
      return false;
    while (!answered) {
      if (!step()) return false;
      if (patience.is_over()) problem = "the broker does not answer";
    }
    return problem.empty();
  }

  ~Connection() {
    if (mosquitto_disconnect_v5(client.get(), 0, nullptr) == MOSQ_ERR_SUCCESS)
      static_cast<void>(mosquitto_loop_write(client.get(), 1));
  }

  const MqttPublisherOptions& options;
  const clients::ServerAddress& server;
  clients::MqttClient client;
  std::string problem, detail;
  bool answered = false;                      // to the connect
  std::unordered_map<int, int> acknowledged;  // reason code by the message's id
  SteadyClock::time_point used{};
};

MqttPublisher::MqttPublisher(MqttPublisherOptions options) : options_(std::move(options)) {}
MqttPublisher::~MqttPublisher() = default;

std::string MqttPublisher::connect() {
  std::string why;
  for (const clients::ServerAddress& server : options_.servers) {
    auto connection = std::make_unique<Connection>(options_, server);
    if (connection->open(ending_)) {
      connection_ = std::move(connection);
      return {};
    }
    why += (why.empty() ? "" : "; ") + server.shown + ": " + connection->problem;
  }
  return why;
}

std::vector<Outcome> MqttPublisher::publish(std::span<const MqttMessage> messages) {
  if (connection_ && SteadyClock::now() > connection_->used + kUsedAgain) connection_.reset();
  if (!connection_) {
    if (const std::string why = connect(); !why.empty()) return {{Delivery::kRetry, "MQTT broker " + why}};
  }
  Connection& connection = *connection_;
  const std::string broker = "MQTT broker " + connection.server.shown + ": ";
  connection.acknowledged.clear();
  std::vector<Outcome> outcomes(messages.size(), {Delivery::kRetry, {}});
  std::vector<std::pair<int, std::size_t>> under_way;  // ids and places
  for (std::size_t i = 0; i < messages.size(); ++i) {
    const MqttMessage& message = messages[i];
    mosquitto_property* properties = nullptr;
    const std::unique_ptr<mosquitto_property*, void (*)(mosquitto_property**)> owner(&properties,
                                                                                     mosquitto_property_free_all);
    if (options_.version_5) {
      for (const auto& [name, value] : message.properties)
        mosquitto_property_add_string_pair(&properties, MQTT_PROP_USER_PROPERTY, name.c_str(), value.c_str());
    }
    int id = 0;
    const int result = mosquitto_publish_v5(connection.client.get(), &id, message.topic.c_str(),
                                            static_cast<int>(message.payload.size()), message.payload.data(),
                                            options_.qos, options_.retain, properties);
    if (result == MOSQ_ERR_SUCCESS) {
      under_way.emplace_back(id, i);
    } else {
      const bool never = result == MOSQ_ERR_OVERSIZE_PACKET || result == MOSQ_ERR_PAYLOAD_SIZE ||
                         result == MOSQ_ERR_INVAL || result == MOSQ_ERR_MALFORMED_UTF8;
      outcomes[i] = {never ? Delivery::kRejected : Delivery::kRetry, broker + clients::mqtt_words(result)};
    }
  }
  Patience patience(options_.time_limit, ending_);
  while (connection.acknowledged.size() < under_way.size() && connection.step()) {
    if (patience.is_over()) connection.problem = "no acknowledgement";
  }
  for (const auto& [id, place] : under_way) {
    const auto answer = connection.acknowledged.find(id);
    Outcome& outcome = outcomes[place];
    if (answer == connection.acknowledged.end()) {
      outcome.detail = broker + connection.problem;
    } else if (answer->second >= kFirstError) {
      outcome = {is_final(answer->second) ? Delivery::kRejected : Delivery::kRetry,
                 broker + mosquitto_reason_string(answer->second)};
    } else {
      outcome = {};
    }
  }
  connection.used = SteadyClock::now();
  // The library would go on with what it has of the messages that are tried again.
  if (!connection.problem.empty()) connection_.reset();
  return outcomes;
}

void MqttPublisher::end_soon() { ending_ = true; }

}  // namespace cepd::actions
