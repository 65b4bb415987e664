#include "adapters/mqtt_source.h"

#include <mqtt/async_client.h>
#include <spdlog/spdlog.h>

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <utility>

#include "adapters/back_off.h"
#include "adapters/line_pusher.h"
#include "adapters/mqtt_options.h"
#include "adapters/rate_limit.h"
#include "adapters/source_type.h"

namespace cepd::adapters {
namespace {

using namespace std::chrono_literals;
using SteadyClock = std::chrono::steady_clock;

constexpr auto kConnectTimeout = 5s;  // for each server
constexpr auto kAnswerTimeout = 30s;  // of a broker that is connected
constexpr auto kTick = 100ms;         // between looks at a token of the library, which has no wait for two things
constexpr auto kLogEvery = 10s;
/// A connection that lasted this long was a good one: the next wait is a short one again.
constexpr auto kStable = 5s;
/// A message that is under way when cepd is asked to stop has this long to become durable.
constexpr auto kStopGrace = 2s;

std::unique_ptr<Source> make(const std::string& name, const config::Options& options) {
  return std::make_unique<MqttSource>(name, mqtt_options(name, options));
}

void adjust_decoder(const config::Options& options, DecoderOptions& decoder) {
  decoder.type_from_topic = options.text("type_from") == "topic";
}

/// As the client library writes schemes.
std::string library_uri(const std::string& uri) {
  if (uri.starts_with("mqtts://")) return "ssl://" + uri.substr(8);
  if (uri.starts_with("mqtt://")) return "tcp://" + uri.substr(7);
  return uri;
}

}  // namespace

const SourceType& mqtt_type() {
  static constexpr SourceType kType{"mqtt",        "Events published to an MQTT broker.", mqtt_rows, check_mqtt, make,
                                    adjust_decoder};
  return kType;
}

struct MqttSource::Impl {
  Impl(std::string name, MqttSourceOptions o)
      : id(name),
        options(std::move(o)),
        client(library_uri(options.servers.front()), options.client_id,
               mqtt::create_options(options.version_5 ? MQTTVERSION_5 : MQTTVERSION_3_1_1)),
        waits(options.first_wait, options.longest_wait, std::random_device{}()) {}

  mqtt::connect_options connect_options() const {
    mqtt::connect_options connect;
    auto servers = std::make_shared<mqtt::string_collection>();
    bool encrypted = false;
    for (const std::string& uri : options.servers) {
      servers->push_back(library_uri(uri));
      encrypted |= library_uri(uri).starts_with("ssl://");
    }
    connect.set_servers(servers);
    connect.set_mqtt_version(options.version_5 ? MQTTVERSION_5 : MQTTVERSION_3_1_1);
    if (options.version_5) {
      connect.set_clean_start(options.clean_start);
    } else {
      connect.set_clean_session(options.clean_start);
    }
    connect.set_keep_alive_interval(options.keep_alive);
    connect.set_connect_timeout(kConnectTimeout);
    if (!options.username.empty()) {
      connect.set_user_name(options.username);
      connect.set_password(options.password);
    }
    if (encrypted) {
      mqtt::ssl_options tls;
      if (!options.ca_file.empty()) tls.set_trust_store(options.ca_file);
      if (!options.cert_file.empty()) {
        tls.set_key_store(options.cert_file);
        tls.set_private_key(options.key_file);
      }
      tls.set_enable_server_cert_auth(true);
      tls.set_verify(true);
      connect.set_ssl(std::move(tls));
    }
    return connect;
  }

  /// Library's thread. Returning is what acknowledges the message, so one that does not become durable never returns.
  /// The library holds its lock meanwhile: nothing can be sent, the connection cannot even be ended.
  void take(const mqtt::message& received) {
    const auto& payload = received.get_payload();
    Message message;
    message.position = {id, 0, next};
    message.too_long = payload.size() > options.max_message;
    message.bytes = message.too_long ? payload.substr(0, kTooLongKept) : payload;
    message.topic = received.get_topic();
    if (message.bytes.empty()) return;  // clears a retained message; no event
    // Nobody waits for an acknowledgement of QoS 0.
    const auto receipt = received.get_qos() > 0 ? std::make_shared<Receipt>(1) : nullptr;
    message.receipt = receipt;
    busy = true;
    // A message that a closed queue refused is never released: it is left to the broker, and the library to its end.
    if (queue->push(std::move(message))) ++next;
    if (receipt && !receipt->wait(std::stop_token())) return;
    busy = false;
    ++taken;
  }

  /// Waits for the library; false when stopping, or when `give_up` says so.
  template <class GiveUp>
  bool wait(const mqtt::token_ptr& token, GiveUp give_up) {
    while (!token->wait_for(kTick)) {
      if (stopping || give_up()) return false;
    }
    return true;
  }

  /// One filter at a time: the library's call for several reads past its own list of options.
  bool subscribe(const std::string& topic) {
    // Retained messages were events once: not again after each reconnect. (MQTT 3.1.1 cannot say so.)
    const mqtt::subscribe_options how(false, false, mqtt::subscribe_options::SEND_RETAINED_ON_NEW);
    const auto subscribed = client.subscribe(topic, options.qos, options.version_5 ? how : mqtt::subscribe_options());
    auto asked = SteadyClock::now();
    const bool answered = wait(subscribed, [&] {
      // The answer waits behind messages that wait for the queue or the disk.
      if (busy) asked = SteadyClock::now();
      return lost || SteadyClock::now() - asked > kAnswerTimeout;
    });
    if (!answered) return false;
    const auto response = subscribed->get_subscribe_response();
    for (const auto code : response.get_reason_codes()) {
      if (static_cast<int>(code) >= 0x80) {
        throw mqtt::exception(MQTTASYNC_FAILURE, code, "the broker refuses the subscription to " + topic);
      }
    }
    return true;
  }

  /// True once connected and subscribed. Throws the library's exceptions.
  bool connect() {
    mqtt::connect_options connect = connect_options();
    if (options.version_5 && !options.clean_start) {
      // On this very variable: a copy of it would send no properties.
      mqtt::properties properties;
      properties.add({mqtt::property::SESSION_EXPIRY_INTERVAL, static_cast<int>(options.session_expiry.count())});
      connect.set_properties(std::move(properties));
    }
    lost = false;
    const auto begun = SteadyClock::now();
    const auto limit = kConnectTimeout * static_cast<int>(options.servers.size()) + kAnswerTimeout;
    const auto answer = client.connect(connect);
    if (!wait(answer, [&] { return SteadyClock::now() - begun > limit; })) return false;
    const bool session = answer->get_connect_response().is_session_present();

    for (const std::string& topic : options.topics) {
      if (!subscribe(topic)) return false;
    }
    spdlog::info("source {}: connected to {}{}", id.name(), client.get_server_uri(),
                 session ? ", the broker has kept the session" : "");
    return true;
  }

  void disconnect() {
    try {
      if (client.is_connected()) client.disconnect(0)->wait_for(kConnectTimeout);
    } catch (const mqtt::exception&) {
      // Not connected any more, which was the aim.
    }
  }

  /// The thread: until stop().
  void run() {
    RateLimit log(kLogEvery);
    while (!stopping) {
      std::string problem;
      try {
        if (connect()) {
          connected = true;
          const auto since = SteadyClock::now();
          std::unique_lock lock(mutex);
          changed.wait(lock, [&] { return lost || stopping; });
          lock.unlock();
          connected = false;
          if (SteadyClock::now() - since > kStable) waits.reset();
          problem = "the connection is lost";
        } else {
          problem = "the broker does not answer";
        }
      } catch (const mqtt::exception& e) {
        problem = e.what();
      }
      if (stopping) break;
      disconnect();
      const auto wait_for = waits.next();
      if (const auto times = log.pass(SteadyClock::now())) {
        spdlog::warn("source {}: {} ({} time{}), trying again in {} ms", id.name(), problem, *times,
                     *times == 1 ? "" : "s", wait_for.count());
      }
      std::unique_lock lock(mutex);
      changed.wait_for(lock, wait_for, [&] { return stopping.load(); });
    }
    disconnect();
    const std::lock_guard lock(mutex);
    ended = true;
    changed.notify_all();
  }

  const SourceId id;
  const MqttSourceOptions options;
  MessageQueue* queue = nullptr;
  std::int64_t next = 0;  // offset of the next message; of the library's thread
  std::atomic<bool> connected = false, stopping = false, busy = false;
  std::mutex mutex;
  std::condition_variable changed;
  bool ended = false;  // the thread is through; under `mutex`
  std::atomic<std::uint64_t> taken = 0;
  std::atomic<bool> lost = false;
  mqtt::async_client client;
  BackOff waits;
  std::thread thread;
};

MqttSource::MqttSource(std::string name, MqttSourceOptions options)
    : impl_(std::make_shared<Impl>(std::move(name), std::move(options))) {}

MqttSource::~MqttSource() {
  if (impl_ && impl_->thread.joinable()) stop();
}

Status MqttSource::start(MessageQueue& queue, const Positions& taken) {
  Impl& impl = *impl_;
  impl.queue = &queue;
  impl.next = last_taken(taken, impl.id) + 1;
  const auto on_lost = [&impl] {
    const std::lock_guard lock(impl.mutex);
    impl.lost = true;
    impl.changed.notify_all();
  };
  impl.client.set_connection_lost_handler([on_lost](const std::string&) { on_lost(); });
  impl.client.set_disconnected_handler([on_lost](const mqtt::properties&, mqtt::ReasonCode) { on_lost(); });
  impl.client.set_message_callback([&impl](const mqtt::const_message_ptr& message) { impl.take(*message); });
  impl.thread = std::thread([&impl] { impl.run(); });
  return {};
}

void MqttSource::stop() {
  Impl& impl = *impl_;
  {
    const std::lock_guard lock(impl.mutex);
    impl.stopping = true;
    impl.changed.notify_all();
  }
  std::unique_lock lock(impl.mutex);
  while (!impl.ended) {
    const std::uint64_t before = impl.taken;
    if (impl.changed.wait_for(lock, kStopGrace, [&] { return impl.ended; })) break;
    if (!impl.busy || impl.taken != before) continue;
    spdlog::warn("source {}: a message could not be stored and is left to the broker", impl.id.name());
    // The library's thread stays in the callback, so all that it uses has to stay, past the end of main() too.
    impl.thread.detach();
    static auto* const left_behind = new std::vector<std::shared_ptr<Impl>>;
    left_behind->push_back(impl_);
    return;
  }
  lock.unlock();
  impl.thread.join();
}

std::string MqttSource::status() const { return impl_->connected ? "connected" : "waiting for broker"; }
SourceId MqttSource::id() const { return impl_->id; }

}  // namespace cepd::adapters
