#include "adapters/mqtt_connection.h"

#include <fcntl.h>
#include <mosquitto.h>
#include <mqtt_protocol.h>
#include <netdb.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <optional>

#include "adapters/line_pusher.h"
#include "base/check.h"
#include "clients/mqtt_client.h"

namespace cepd::adapters {
namespace {

using namespace std::chrono_literals;
using SteadyClock = std::chrono::steady_clock;

constexpr auto kReachLimit = 5s;                                   // for each address of a server
constexpr auto kAnswerLimit = 30s;                                 // of a broker that was reached
constexpr auto kTick = 1s;                                         // between looks at the keep-alive time
constexpr auto kWriteTick = 100ms;                                 // the same while a handshake may have to write
constexpr std::size_t kMostMessages = 512, kMostBytes = 1U << 20;  // read before they are handed on

struct Server {
  std::string host;
  int port = 0;
  bool tls = false;
};

/// `mqtt://host:port`, `mqtts://[::1]`, … (mqtt_options.cc has looked at it).
Server server_of(std::string_view uri) {
  Server server;
  server.tls = uri.starts_with("mqtts://") || uri.starts_with("ssl://");
  uri.remove_prefix(uri.find("://") + 3);
  const std::size_t host_end = uri.starts_with('[') ? uri.find(']') + 1 : std::min(uri.find(':'), uri.size());
  server.host = uri.starts_with('[') ? uri.substr(1, host_end - 2) : uri.substr(0, host_end);
  server.port = server.tls ? 8883 : 1883;
  if (host_end < uri.size()) server.port = std::atoi(std::string(uri.substr(host_end + 1)).c_str());
  return server;
}

/// The library's own connecting can neither be limited in time nor be ended. So this tries first. Empty when the server
/// can be reached.
std::string reach(const Server& server, const StopSignal& stop) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  if (const int failed = ::getaddrinfo(server.host.c_str(), std::to_string(server.port).c_str(), &hints, &found))
    return "cannot find " + server.host + ": " + ::gai_strerror(failed);
  const std::unique_ptr<addrinfo, void (*)(addrinfo*)> addresses(found, ::freeaddrinfo);
  int reason = 0;
  for (const addrinfo* at = found; at != nullptr; at = at->ai_next) {
    const FileDescriptor fd(::socket(at->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
    if (!fd) {
      reason = errno;
      continue;
    }
    reason = ::connect(fd.get(), at->ai_addr, at->ai_addrlen) == 0 ? 0 : errno;
    if (reason == EINPROGRESS) {
      socklen_t size = sizeof reason;
      if (!stop.wait_writable(fd.get(), kReachLimit)) {
        reason = ETIMEDOUT;
      } else if (::getsockopt(fd.get(), SOL_SOCKET, SO_ERROR, &reason, &size) != 0) {
        reason = errno;
      }
    }
    if (reason == 0) return {};
  }
  return "cannot connect to " + server.host + ": " + std::strerror(reason);
}

}  // namespace

MqttConnection::MqttConnection(const MqttSourceOptions& options, const StopSignal& stop)
    : options_(options), stop_(stop), client_(nullptr, mosquitto_destroy) {}

MqttConnection::~MqttConnection() = default;

/// False, with problem_ set, for what is no success.
bool MqttConnection::works(int result) {
  if (result == MOSQ_ERR_SUCCESS) return true;
  if (problem_.empty())
    problem_ = (stage_ == Stage::kReady ? "the connection is lost: " : "") + clients::mqtt_words(result);
  if (!detail_.empty() && problem_.find(detail_) == std::string::npos) problem_ += " (" + detail_ + ")";
  return false;
}

bool MqttConnection::configure(bool tls) {
  mosquitto* const client = client_.get();
  mosquitto_int_option(client, MOSQ_OPT_RECEIVE_MAXIMUM, options_.max_in_flight);
  mosquitto_connect_v5_callback_set(
      client, [](mosquitto*, void* self, int result, int flags, const mosquitto_property*) {
        auto& connection = *static_cast<MqttConnection*>(self);
        connection.refused_ = result != 0;
        if (result != 0) {
          connection.problem_ = clients::mqtt_refusal(result, connection.options_.version_5);
          return;
        }
        connection.session_present_ = (flags & 1) != 0;
        connection.stage_ = Stage::kConnected;
      });
  mosquitto_subscribe_v5_callback_set(
      client, [](mosquitto*, void* self, int, int count, const int* granted, const mosquitto_property*) {
        auto& connection = *static_cast<MqttConnection*>(self);
        connection.stage_ = Stage::kReady;
        for (int i = 0; i < count; ++i) {
          if (granted[i] < 0x80) continue;
          connection.refused_ = true;
          connection.problem_ =
              "the broker refuses the subscription to " + connection.options_.topics[static_cast<std::size_t>(i)] +
              (connection.options_.version_5 ? std::string(": ") + mosquitto_reason_string(granted[i]) : std::string());
        }
      });
  mosquitto_message_v5_callback_set(
      client, [](mosquitto*, void* self, const mosquitto_message* message, const mosquitto_property*) {
        static_cast<MqttConnection*>(self)->take(*message);
      });
  mosquitto_disconnect_v5_callback_set(client, [](mosquitto*, void* self, int reason, const mosquitto_property*) {
    // The broker's word; what the library says of the connection is returned to works().
    if (reason >= 0x80) static_cast<MqttConnection*>(self)->problem_ = clients::mqtt_farewell(reason);
  });
  mosquitto_log_callback_set(client, [](mosquitto*, void* self, int level, const char* text) {
    if (level == MOSQ_LOG_ERR) static_cast<MqttConnection*>(self)->detail_ = text;
  });
  if (!options_.username.empty() &&
      !works(mosquitto_username_pw_set(client, options_.username.c_str(), options_.password.c_str())))
    return false;
  if (const auto& will = options_.will) {
    if (!works(mosquitto_will_set_v5(client, will->topic.c_str(), static_cast<int>(will->payload.size()),
                                     will->payload.data(), will->qos, will->retain, nullptr)))
      return false;
  }
  if (!tls) return true;
  const clients::TlsFiles files{options_.ca_file, options_.cert_file, options_.key_file};
  problem_ = clients::set_mqtt_tls(*client, files);
  return problem_.empty() || works(MOSQ_ERR_TLS);  // which adds the library's own word
}

bool MqttConnection::open(const std::string& uri, bool subscribed) {
  const Server server = server_of(uri);
  server_ = uri;
  if (problem_ = reach(server, stop_); !problem_.empty()) return false;
  client_ = clients::make_mqtt_client(options_.client_id, options_.clean_start, options_.version_5, this);
  if (!configure(server.tls)) return false;

  mosquitto_property* properties = nullptr;
  const std::unique_ptr<mosquitto_property*, void (*)(mosquitto_property**)> owner(&properties,
                                                                                   mosquitto_property_free_all);
  if (options_.version_5 && !options_.clean_start) {
    const auto expiry = static_cast<std::uint32_t>(options_.session_expiry.count());
    if (!works(mosquitto_property_add_int32(&properties, MQTT_PROP_SESSION_EXPIRY_INTERVAL, expiry))) return false;
  }
  if (!works(mosquitto_connect_bind_v5(client_.get(), server.host.c_str(), server.port,
                                       static_cast<int>(options_.keep_alive.count()), nullptr, properties)))
    return false;
  heard_ = SteadyClock::now();
  while (stage_ == Stage::kConnecting) {
    if (stop_.stopped() || !step(kWriteTick)) return false;
  }
  if (!session_present_ || !subscribed) return subscribe();
  stage_ = Stage::kReady;
  return true;
}

bool MqttConnection::subscribe() {
  std::vector<char*> filters;
  filters.reserve(options_.topics.size());
  // The library does not write to them.
  for (const std::string& topic : options_.topics) filters.push_back(const_cast<char*>(topic.c_str()));
  int how = 0;
  if (options_.version_5) {
    using Retained = MqttSourceOptions::Retained;
    how = options_.retained == Retained::kAlways  ? MQTT_SUB_OPT_SEND_RETAIN_ALWAYS
          : options_.retained == Retained::kNever ? MQTT_SUB_OPT_SEND_RETAIN_NEVER
                                                  : MQTT_SUB_OPT_SEND_RETAIN_NEW;
  }
  return works(mosquitto_subscribe_multiple(client_.get(), nullptr, static_cast<int>(filters.size()), filters.data(),
                                            std::min(options_.qos, 1), how, nullptr));
}

void MqttConnection::take(const mosquitto_message& message) {
  const auto size = static_cast<std::size_t>(message.payloadlen);
  if (message.qos > 0) ++to_acknowledge_;
  MqttReceived received{message.topic, {}, size, message.qos, message.retain};
  if (size > 0) {
    received.bytes.assign(static_cast<const char*>(message.payload), size > options_.max_message ? kTooLongKept : size);
  }
  bytes_ += received.bytes.size();
  received_.push_back(std::move(received));
}

bool MqttConnection::read_all() {
  pollfd more{mosquitto_socket(client_.get()), POLLIN, 0};
  do {
    if (!works(mosquitto_loop_read(client_.get(), 1))) return false;
    // Without this, nothing here would hold.
    CEPD_CHECK(to_acknowledge_ == 0 || mosquitto_want_write(client_.get()));
  } while (!refused_ && received_.size() < kMostMessages && kMostBytes > bytes_ && ::poll(&more, 1, 0) > 0);
  return true;
}

/// Sends what waits where nothing has to become durable first, and reads.
bool MqttConnection::step(std::chrono::milliseconds limit) {
  mosquitto* const client = client_.get();
  if (to_acknowledge_ == 0) {
    errno = 0;
    if (!works(mosquitto_loop_write(client, 1))) return false;
  }
  const SteadyClock::time_point now = SteadyClock::now();
  if (stop_.wait_readable(mosquitto_socket(client), limit)) {
    heard_ = now;
    if (!read_all()) return false;
  } else if (stage_ != Stage::kReady && now > heard_ + kAnswerLimit) {
    problem_ = "the broker does not answer";
    return false;
  }
  return !refused_ && works(mosquitto_loop_misc(client));
}

bool MqttConnection::receive() { return step(kTick); }

bool MqttConnection::send() {
  to_acknowledge_ = bytes_ = 0;
  while (mosquitto_want_write(client_.get())) {
    errno = 0;
    if (!works(mosquitto_loop_write(client_.get(), 1))) return false;
    if (!mosquitto_want_write(client_.get())) break;
    // The broker does not read: it has the keep-alive time to do so.
    if (!stop_.wait_writable(mosquitto_socket(client_.get()), kTick)) {
      if (stop_.stopped()) return false;
      if (!works(mosquitto_loop_misc(client_.get()))) return false;
    }
  }
  return true;
}

void MqttConnection::disconnect() {
  if (client_ == nullptr || mosquitto_disconnect_v5(client_.get(), 0, nullptr) != MOSQ_ERR_SUCCESS) return;
  // A connection that is gone by now is what was wanted.
  static_cast<void>(mosquitto_loop_write(client_.get(), 1));
}

}  // namespace cepd::adapters
