/// `mqtt(topic, value?, …)`: a message to an MQTT broker, delivered once it is acknowledged.

#include <mosquitto.h>

#include <utility>

#include "actions/action_type.h"
#include "actions/json_body.h"
#include "actions/mqtt_publisher.h"

namespace cepd::actions {
namespace {

using config::OptionType;

constexpr int kPort = 1883, kTlsPort = 8883;

std::optional<clients::ServerAddress> server_of(const std::string& text) {
  return clients::parse_server(text, "mqtt", "mqtts", kPort, kTlsPort);
}

/// What is wrong with a topic to publish to, or empty.
std::string topic_mistake(const std::string& topic) {
  if (topic.empty()) return "a topic must not be empty";
  if (mosquitto_pub_topic_check2(topic.data(), topic.size()) != MOSQ_ERR_SUCCESS)
    return "a topic to publish to has no + and # in it and at most 65535 bytes";
  return {};
}

class MqttSink final : public BatchSink {
 public:
  MqttSink(std::string topic, MqttPublisherOptions options)
      : topic_(std::move(topic)), publisher_(std::move(options)) {}

  std::vector<Outcome> deliver_all(std::span<const state::RecordPtr> records) override {
    std::vector<MqttMessage> messages;
    for (const auto& record : records) {
      MqttMessage next = message_of(*record);
      if (const std::string mistake = topic_mistake(next.topic); !mistake.empty()) {
        if (!messages.empty()) break;
        return {{Delivery::kRejected, "\"" + one_line(next.topic, 64) + "\": " + mistake}};
      }
      messages.push_back(std::move(next));
    }
    return publisher_.publish(messages);
  }

  void end_soon() override { publisher_.end_soon(); }

 private:
  MqttMessage message_of(const state::OutboxRecord& call) const {
    MqttMessage message;
    message.topic = topic_.empty() ? std::string(argument_text(call, "topic")) : topic_;
    const state::OutboxArgument* value = find_argument(call, "value");
    if (value != nullptr && value->json != "null") {
      message.payload = value->text;
    } else if (value == nullptr) {
      message.payload = (topic_.empty() ? match_body(call, {"topic"}) : match_body(call, {})).finish();
    }
    message.properties = {{"idempotency-key", call.idempotency_key}, {"rule", call.rule}};
    return message;
  }

  const std::string topic_;  // empty: the call's
  MqttPublisher publisher_;
};

std::vector<config::OptionRow> rows() {
  std::vector<config::OptionRow> rows = {
      {.name = "servers",
       .type = OptionType::kStringList,
       .default_text = "mqtt://localhost:1883",
       .help =
           "Brokers as mqtt://host:port, or mqtts:// with TLS; the first that answers is taken. The certificate and "
           "the name in it are checked."},
      {.name = "topic",
       .type = OptionType::kString,
       .default_text = "",
       .help = "Topic of all messages. Without it each call gives its own `topic`, such as \"alerts/{site}\"."},
      {.name = "qos",
       .type = OptionType::kInteger,
       .default_text = "1",
       .help =
           "Quality of service: with 0 a message counts as delivered once it is sent, and may be lost; with 1 and 2 "
           "once the broker has acknowledged it.",
       .max = 2},
      {.name = "retain",
       .type = OptionType::kBool,
       .default_text = "false",
       .help = "Whether the broker keeps the last message of each topic for who subscribes later. A call with "
               "`value: null` removes it."},
      {.name = "client_id",
       .type = OptionType::kString,
       .default_text = "",
       .help = "Name of the client, which no other client of the broker may use. Empty: one is made up at each "
               "connection."},
      {.name = "username",
       .type = OptionType::kString,
       .default_text = "",
       .help = "User name to log in with; empty for none."},
      {.name = "password",
       .type = OptionType::kString,
       .default_text = "",
       .help = "Password of that user.",
       .secret = true},
      {.name = "version",
       .type = OptionType::kChoice,
       .default_text = "5",
       .help = "Version of MQTT to speak. With 5 messages have the user properties idempotency-key and rule.",
       .choices = {"5", "3.1.1"}},
      {.name = "request_time_limit",
       .type = OptionType::kDuration,
       .default_text = "10s",
       .help = "For a connection, and for a message to be acknowledged; one that takes longer is tried again.",
       .min = 10'000,
       .max = 600'000'000}};
  for (auto& row : clients::tls_file_rows("broker", "mqtts://")) rows.push_back(std::move(row));
  return rows;
}

ActionSchema schema(std::string_view action, const config::Options& options) {
  ActionSchema schema{.name = std::string(action), .parameters = {}, .open = true};
  if (options.text("topic").empty())
    schema.parameters.push_back(text_parameter("topic", true, "Topic to publish to. Or configure the option `topic`."));
  ActionParameter value =
      text_parameter("value", false, "Payload; null for an empty one; default: the match and the arguments as JSON.");
  value.type = ArgumentType::kAny;
  schema.parameters.push_back(std::move(value));
  return schema;
}

void check(const config::Node& entry, const config::Options& options, Diagnostics& diagnostics) {
  const auto& servers = options.list("servers");
  bool all_tls = !servers.empty();
  if (const config::Node* given = entry.find("servers")) {
    for (std::size_t i = 0; i < servers.size(); ++i) {
      const config::Node& item = given->kind == config::Node::Kind::kSequence ? given->items.at(i) : *given;
      if (!server_of(servers[i]))
        diagnostics.push_back(item.value_problem(Severity::kError, "expected mqtt://host:port or mqtts://host:port"));
    }
    if (servers.empty()) diagnostics.push_back(given->problem(Severity::kError, "expected at least one server"));
  }
  for (const std::string& server : servers) {
    const auto parsed = server_of(server);
    all_tls = all_tls && parsed && parsed->tls;
  }
  clients::check_tls_files(entry, options, all_tls, "mqtts://", diagnostics);
  if (const config::Node* topic = entry.find("topic")) {
    if (const std::string mistake = topic_mistake(options.text("topic")); !mistake.empty())
      diagnostics.push_back(topic->value_problem(Severity::kError, mistake));
  }
  if (options.text("username").empty() && !options.text("password").empty())
    diagnostics.push_back(entry.problem(Severity::kError, "a password needs a username"));
}

std::unique_ptr<Sink> open(std::string_view, const config::Options& options) {
  MqttPublisherOptions publisher{
      .servers = {},
      .tls = clients::tls_files(options),
      .client_id = options.text("client_id"),
      .username = options.text("username"),
      .password = options.text("password"),
      .version_5 = options.text("version") == "5",
      .qos = static_cast<int>(options.integer("qos")),
      .retain = options.flag("retain"),
      .time_limit = std::chrono::ceil<std::chrono::milliseconds>(options.duration("request_time_limit"))};
  for (const std::string& server : options.list("servers")) publisher.servers.push_back(*server_of(server));
  return std::make_unique<MqttSink>(options.text("topic"), std::move(publisher));
}

}  // namespace

const ActionType& mqtt_type() {
  static const ActionType type{
      "mqtt", "Publishes the match and the call's arguments to an MQTT broker.", rows, schema, check, open};
  return type;
}

}  // namespace cepd::actions
