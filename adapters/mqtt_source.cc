#include "adapters/mqtt_source.h"

#include <spdlog/spdlog.h>

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <random>
#include <span>
#include <thread>
#include <utility>

#include "adapters/back_off.h"
#include "adapters/mqtt_connection.h"
#include "adapters/mqtt_options.h"
#include "adapters/mqtt_payload.h"
#include "adapters/rate_limit.h"
#include "adapters/source_type.h"

namespace cepd::adapters {
namespace {

using namespace std::chrono_literals;
using SteadyClock = std::chrono::steady_clock;

constexpr auto kTick = 100ms;  // between looks at stop() while waiting for the queue or the disk
constexpr auto kLogEvery = 10s;
/// A connection that lasted this long, or has brought something, was a good one: the next wait is a short one again.
constexpr auto kStable = 5s;
/// Messages that are under way when cepd is asked to stop have this long to become durable.
constexpr auto kStopGrace = 2s;

std::unique_ptr<Source> make(const std::string& name, const config::Options& options) {
  return std::make_unique<MqttSource>(name, mqtt_options(name, options));
}

}  // namespace

const SourceType& mqtt_type() {
  static constexpr SourceType kType{"mqtt",       "Events published to an MQTT broker.", mqtt_rows, check_mqtt, make,
                                    mqtt_decoding};
  return kType;
}

struct MqttSource::Impl {
  Impl(std::string name, MqttSourceOptions o)
      : id(name), options(std::move(o)), waits(options.first_wait, options.longest_wait, std::random_device{}()) {}

  bool wanted(const MqttReceived& received) const {
    if (received.bytes.empty()) return false;  // clears a retained message; no event
    return !received.retained || options.retained != MqttSourceOptions::Retained::kNever;
  }

  Message message_of(MqttReceived& received) {
    Message message;
    message.position = {id, 0, next++};
    message.too_long = received.size > options.max_message;
    message.topic = std::move(received.topic);
    message.bytes = std::move(received.bytes);
    if (!message.too_long) {
      const auto now = std::chrono::time_point_cast<Micros>(std::chrono::system_clock::now());
      message.bytes = event_of_payload(options, std::move(message.bytes), now);
    }
    return message;
  }

  /// Waits until the messages are in the queue and, where somebody asks for it, durable. False when they are not to be
  /// acknowledged: cepd stops, and they did not get so far in time, or the queue is closed.
  bool hand_over(MqttConnection& connection) {
    std::vector<Message> messages;
    std::vector<std::size_t> asked;
    const std::int64_t first = next;
    for (MqttReceived& received : connection.received()) {
      if (!wanted(received)) continue;
      if (received.qos > 0) asked.push_back(messages.size());
      messages.push_back(message_of(received));
    }
    connection.received().clear();
    if (messages.empty()) return true;
    const auto receipt = asked.empty() ? nullptr : std::make_shared<Receipt>(asked.size());
    for (const std::size_t index : asked) messages[index].receipt = receipt;

    std::optional<SteadyClock::time_point> give_up;  // once stopping
    const auto in_time = [&] {
      if (!stop.stopped()) return true;
      if (!give_up) give_up = SteadyClock::now() + kStopGrace;
      return SteadyClock::now() < *give_up;
    };
    for (std::span<Message> rest = messages; !rest.empty();) {
      const std::size_t pushed = queue->push_some(rest, kTick);
      rest = rest.subspan(pushed);
      if (pushed == 0 && (queue->closed() || !in_time())) {
        next = first + static_cast<std::int64_t>(messages.size() - rest.size());
        return false;
      }
    }
    while (receipt && !receipt->wait(kTick)) {
      if (in_time()) continue;
      spdlog::warn("source {}: messages could not be stored and are left to the broker", id.name());
      return false;
    }
    return true;
  }

  /// One connection, from its beginning to its end. Why it ended.
  std::string converse(const std::string& server) {
    MqttConnection connection(options, stop);
    brought = false;
    if (!connection.open(server, subscribed)) return connection.problem();
    while (true) {
      brought = brought || !connection.received().empty();
      if (!hand_over(connection)) return {};
      if (!connection.send()) break;
      if (connection.ready() && !connected) {
        connected = subscribed = true;
        since = SteadyClock::now();
        spdlog::info("source {}: connected to {}{}", id.name(), server,
                     connection.session_present() ? ", the broker has kept the session" : "");
      }
      if (stop.stopped()) {
        connection.disconnect();
        return {};
      }
      if (!connection.receive()) break;
    }
    return connection.problem();
  }

  /// The thread: until stop().
  void run() {
    RateLimit log(kLogEvery);
    for (std::size_t turn = 0; !stop.stopped(); ++turn) {
      const std::string& server = options.servers[turn % options.servers.size()];
      const std::string problem = converse(server);
      if (connected.exchange(false)) {
        if (brought || SteadyClock::now() - since > kStable) waits.reset();
        turn = options.servers.size() - 1;  // the first one again
      }
      if (stop.stopped()) return;
      // All servers, before a wait.
      if ((turn + 1) % options.servers.size() != 0) continue;
      const auto wait_for = waits.next();
      if (const auto times = log.pass(SteadyClock::now())) {
        spdlog::warn("source {}: {} ({} time{}), trying again in {} ms", id.name(), problem, *times,
                     *times == 1 ? "" : "s", wait_for.count());
      }
      static_cast<void>(stop.wait_readable(-1, wait_for));
    }
  }

  const SourceId id;
  const MqttSourceOptions options;
  MessageQueue* queue = nullptr;
  StopSignal stop;
  std::atomic<bool> connected = false;
  // Of the thread:
  std::int64_t next = 0;          // offset of the next message
  bool subscribed = false;        // the broker was told the topics
  bool brought = false;           // messages, on this connection
  SteadyClock::time_point since;  // connected
  BackOff waits;
  std::thread thread;
};

MqttSource::MqttSource(std::string name, MqttSourceOptions options)
    : impl_(std::make_unique<Impl>(std::move(name), std::move(options))) {}

MqttSource::~MqttSource() { stop(); }

Status MqttSource::start(MessageQueue& queue, const Positions& taken) {
  impl_->queue = &queue;
  impl_->next = last_taken(taken, impl_->id) + 1;
  impl_->thread = std::thread([impl = impl_.get()] { impl->run(); });
  return {};
}

void MqttSource::stop() {
  if (!impl_->thread.joinable()) return;
  impl_->stop.stop();
  impl_->thread.join();
}

bool MqttSource::away() const { return !impl_->connected && !impl_->options.clean_start && impl_->options.qos > 0; }
std::string MqttSource::status() const { return impl_->connected ? "connected" : "waiting for broker"; }
SourceId MqttSource::id() const { return impl_->id; }

}  // namespace cepd::adapters
