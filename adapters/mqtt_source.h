#pragma once
/// Events from an MQTT broker.
///
/// One thread connects, subscribes and, when the connection is gone, does so again for ever, with growing waits. The
/// client library's receive thread puts messages into the queue and waits there while it is full, and then for the
/// message's receipt (QoS 1 and 2): the broker gets its acknowledgement when the message is durable, and holds back
/// what it has beyond its own limit of unacknowledged ones. The library has one such thread in a process: a full queue
/// holds up all MQTT sources, and so does the disk: one message is on its way at a time. While it waits longer than the
/// keep-alive time the broker may drop the connection and send the message again afterwards.
///
/// stop() needs that thread: keep popping and releasing until it returns, and close the queue afterwards. Nothing that
/// was acknowledged is missing. When a message does not become durable within two seconds stop() leaves the library's
/// thread waiting for it, so that it is not acknowledged, and the broker sends it again: the process has to end then,
/// as no MQTT source can work in it any more.
///
/// Cannot be replayed: the offset is a running count. With `clean_start` off the broker keeps what comes while cepd is
/// away, for `session_expiry`.

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "adapters/source.h"

namespace cepd::adapters {

struct MqttSourceOptions {
  std::vector<std::string> servers;  ///< mqtt://host:port or mqtts://…, tried in this order
  std::vector<std::string> topics;   ///< filters, + and # included
  int qos = 1;
  std::string client_id;
  std::string username, password;
  std::chrono::seconds keep_alive{30};
  bool clean_start = false;
  std::chrono::seconds session_expiry{3600};  ///< MQTT 5 only: MQTT 3.1.1 leaves it to the broker
  bool version_5 = true;
  std::string ca_file, cert_file, key_file;
  std::size_t max_message = 1U << 20;  ///< bytes; of a longer one the beginning is pushed as too_long
  std::chrono::milliseconds first_wait{250}, longest_wait{30'000};
};

class MqttSource final : public Source {
 public:
  MqttSource(std::string name, MqttSourceOptions options);
  ~MqttSource() override;

  Status start(MessageQueue& queue, const Positions& taken) override;
  void stop() override;
  std::string status() const override;
  SourceId id() const override;

 private:
  struct Impl;
  std::shared_ptr<Impl> impl_;  // shared with a library's thread that stop() had to leave behind
};

}  // namespace cepd::adapters
