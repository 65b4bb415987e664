#include "clients/kafka_connection.h"

#include <doctest/doctest.h>

#include <algorithm>

using namespace cepd::clients;

namespace {

std::string setting(const KafkaConnection& connection, std::string_view name) {
  const auto settings = kafka_settings(connection);
  const auto found = std::ranges::find(settings, name, &std::pair<std::string, std::string>::first);
  return found == settings.end() ? "unset" : found->second;
}

}  // namespace

TEST_CASE("kafka connection: what the library is told") {
  KafkaConnection connection;
  connection.brokers = {"a:1", "b:2"};
  connection.client_id = "cepd-bus";
  CHECK(setting(connection, "bootstrap.servers") == "a:1,b:2");
  CHECK(setting(connection, "security.protocol") == "PLAINTEXT");
  CHECK(setting(connection, "ssl.ca.location") == "unset");
  CHECK(setting(connection, "ssl.endpoint.identification.algorithm") == "unset");
  connection.tls = true;
  CHECK(setting(connection, "security.protocol") == "SSL");
  CHECK(setting(connection, "ssl.endpoint.identification.algorithm") == "https");
  connection.sasl = "SCRAM-SHA-256";
  connection.username = "u";
  connection.password = "p";
  CHECK(setting(connection, "security.protocol") == "SASL_SSL");
  CHECK(setting(connection, "sasl.mechanism") == "SCRAM-SHA-256");
  CHECK((setting(connection, "sasl.username") == "u" && setting(connection, "sasl.password") == "p"));
  connection.tls = false;
  CHECK(setting(connection, "security.protocol") == "SASL_PLAINTEXT");
}

TEST_CASE("kafka connection: names that topics cannot have") {
  for (const char* good : {"a", "A.b_c-9", "..."}) CHECK(kafka_topic_mistake(good).empty());
  CHECK(kafka_topic_mistake(std::string(249, 'a')).empty());
  for (const char* bad : {"", ".", "..", "a/b", "a b", "^a", "ü"}) CHECK_FALSE(kafka_topic_mistake(bad).empty());
  CHECK_FALSE(kafka_topic_mistake(std::string(250, 'a')).empty());
}
