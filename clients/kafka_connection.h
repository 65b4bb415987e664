#pragma once
/// How to reach Kafka: what sources and actions have in common of its configuration.

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "config/options.h"

namespace cepd::clients {

struct KafkaConnection {
  std::vector<std::string> brokers;  ///< host:port
  std::string client_id;
  bool tls = false;
  std::string ca_file, cert_file, key_file;
  std::string sasl;  ///< mechanism as the protocol names it; empty: none
  std::string username, password;
};

/// TLS and log-in. The list `brokers` is each owner's own, as some need it and some have a default.
std::vector<config::OptionRow> kafka_security_rows();
/// What the rows cannot express of `brokers` and of these.
void check_kafka_connection(const config::Node& entry, const config::Options& options, Diagnostics& diagnostics);
KafkaConnection kafka_connection(std::string client_id, const config::Options& options);

/// Names and values for the client library, as far as they are the same for all clients.
std::vector<std::pair<std::string, std::string>> kafka_settings(const KafkaConnection& connection);

/// What is wrong with a topic's name, or empty.
std::string kafka_topic_mistake(std::string_view topic);

}  // namespace cepd::clients
