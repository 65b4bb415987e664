#include "adapters/mqtt_options.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <utility>

#include "adapters/topic_pattern.h"

namespace cepd::adapters {
namespace {

using config::OptionType;

constexpr std::array<std::string_view, 2> kPlain{"mqtt://", "tcp://"};
constexpr auto kServerForm = "expected mqtt://host:port or mqtts://host:port";
constexpr std::array<std::string_view, 2> kTls{"mqtts://", "ssl://"};

bool begins_with_any(std::string_view text, const std::array<std::string_view, 2>& prefixes) {
  return std::ranges::any_of(prefixes, [&](std::string_view prefix) { return text.starts_with(prefix); });
}

/// The node of the list's item, or of the scalar that stands for a list of one.
const config::Node& item(const config::Node& list, std::size_t index) {
  return list.kind == config::Node::Kind::kSequence ? list.items.at(index) : list;
}

std::chrono::seconds whole_seconds(Micros duration) { return std::chrono::ceil<std::chrono::seconds>(duration); }

}  // namespace

std::vector<config::OptionRow> mqtt_rows() {
  return {
      {.name = "servers",
       .type = OptionType::kStringList,
       .default_text = "mqtt://localhost:1883",
       .help = "Brokers as mqtt://host:port, or mqtts:// with TLS; the first that answers is taken.",
       .required = true},
      {.name = "topics",
       .type = OptionType::kStringList,
       .default_text = "shop/#",
       .help =
           "Topic filters to subscribe to: + stands for one level, # for all from there on, {name} for one level that "
           "becomes the field of that name, as in sensors/{site}/{device}/temp. $share/GROUP/FILTER shares the "
           "messages with other clients.",
       .required = true},
      {.name = "type_from",
       .type = OptionType::kChoice,
       .default_text = "field",
       .help = "Where an event's type stands: in the field type_field, or as the last level of the topic.",
       .choices = {"field", "topic"}},
      {.name = "qos",
       .type = OptionType::kInteger,
       .default_text = "1",
       .help =
           "Quality of service: 0 may lose messages; of 1 none is lost, and those that come again are dropped where "
           "dedup names their id. 2 is asked of the broker as 1.",
       .max = 2},
      {.name = "client_id",
       .type = OptionType::kString,
       .default_text = "",
       .help = "Name of the session, which no other client of the broker may use. Empty: cepd- and the source's name."},
      {.name = "username",
       .type = OptionType::kString,
       .default_text = "",
       .help = "User name to log in with; empty for none."},
      {.name = "password",
       .type = OptionType::kString,
       .default_text = "",
       .help = "Password of that user.",
       .secret = true},
      {.name = "keep_alive",
       .type = OptionType::kDuration,
       .default_text = "30s",
       .help = "A connection on which nothing came for this long is tested, and given up for dead after it again.",
       .min = 5'000'000,
       .max = 65'535'000'000},
      {.name = "clean_start",
       .type = OptionType::kBool,
       .default_text = "false",
       .help =
           "Whether to begin without what the broker kept while cepd was not connected. When false the broker keeps "
           "messages of QoS 1 and 2 for this client_id."},
      {.name = "session_expiry",
       .type = OptionType::kDuration,
       .default_text = "1h",
       .help =
           "How long the broker keeps the session of a client that is away (MQTT 5; with 3.1.1 the broker decides).",
       .max = 4'294'967'294'000'000},
      {.name = "version",
       .type = OptionType::kChoice,
       .default_text = "5",
       .help = "Version of MQTT to speak.",
       .choices = {"5", "3.1.1"}},
      {.name = "max_in_flight",
       .type = OptionType::kInteger,
       .default_text = "1000",
       .help = "Most messages that the broker sends ahead of their acknowledgements (MQTT 5; with 3.1.1 the broker "
               "decides).",
       .min = 1,
       .max = 65'535},
      {.name = "retained",
       .type = OptionType::kChoice,
       .default_text = "new",
       .help =
           "Which retained messages are taken: those there are when the subscription is new to the broker (with 3.1.1 "
           "also at each start), those there are at each connection, or never.",
       .choices = {"new", "always", "never"}},
      {.name = "payload",
       .type = OptionType::kChoice,
       .default_text = "json",
       .help = "What a payload is: a JSON object, or one number or text, which becomes the field value_field.",
       .choices = {"json", "number", "text"}},
      {.name = "value_field",
       .type = OptionType::kString,
       .default_text = "value",
       .help = "Field for the number or text that is the payload."},
      {.name = "time_from",
       .type = OptionType::kChoice,
       .default_text = "field",
       .help =
           "Where an event's time comes from: the field time_field, or this machine's clock when the message arrives "
           "(then it is put into that field).",
       .choices = {"field", "arrival"}},
      {.name = "will_topic",
       .type = OptionType::kString,
       .default_text = "",
       .help = "Topic of the message that the broker publishes when cepd is gone without a word; empty for none."},
      {.name = "will_payload", .type = OptionType::kString, .default_text = "", .help = "Payload of that message."},
      {.name = "will_qos",
       .type = OptionType::kInteger,
       .default_text = "1",
       .help = "Quality of service of that message.",
       .max = 2},
      {.name = "will_retain",
       .type = OptionType::kBool,
       .default_text = "false",
       .help = "Whether the broker retains that message."},
      {.name = "ca_file",
       .type = OptionType::kPath,
       .default_text = "",
       .help =
           "Certificates (PEM) to check the broker's against; empty takes those of the system. Only with mqtts://."},
      {.name = "cert_file",
       .type = OptionType::kPath,
       .default_text = "",
       .help = "Certificate (PEM) to show to the broker. Only with mqtts:// and key_file."},
      {.name = "key_file",
       .type = OptionType::kPath,
       .default_text = "",
       .help = "Private key (PEM) of cert_file, without a password."},
      {.name = "max_message",
       .type = OptionType::kBytes,
       .default_text = "1MiB",
       .help = "Longest payload in bytes; longer ones go to the dead-letter file.",
       .min = 1024,
       .max = 256LL << 20},
  };
}

namespace {

/// Empty when the port can be one and there is a host.
std::string server_mistake(std::string_view server) {
  if (!begins_with_any(server, kTls) && !begins_with_any(server, kPlain)) return kServerForm;
  server.remove_prefix(server.find("://") + 3);
  const std::size_t host_end =
      server.starts_with('[') ? server.find(']') + 1 : std::min(server.find(':'), server.size());
  if (host_end == 0 || (server.starts_with('[') && host_end < 3)) return kServerForm;
  if (host_end == server.size()) return {};
  const std::string_view port = server.substr(host_end);
  std::uint16_t number = 0;
  const auto [end, status] = std::from_chars(port.data() + 1, port.data() + port.size(), number);
  const bool good = port.front() == ':' && status == std::errc{} && end == port.data() + port.size() && number > 0;
  return good ? std::string() : kServerForm;
}

/// Where the type stands in the topic, by its last level or a level of the type field's name.
bool topic_has_type(const config::Options& options) {
  return options.text("type_from") == "topic" ||
         std::ranges::all_of(options.list("topics"), [&](const std::string& topic) {
           const auto names = TopicPattern(topic).names();
           return std::ranges::find(names, options.text("type_field")) != names.end();
         });
}

void check_payload(const config::Node& entry, const config::Options& options, Diagnostics& diagnostics) {
  const auto mistake = [&](std::string_view name, std::string text, std::string hint) {
    const config::Node* node = entry.find(name);
    diagnostics.push_back((node ? *node : entry).problem(Severity::kError, std::move(text), std::move(hint)));
  };
  const bool arrival = options.text("time_from") == "arrival";
  if (options.text("payload") != "json") {
    if (!topic_has_type(options)) {
      mistake("payload", "a payload of " + options.text("payload") + " names no type",
              "write type_from: topic, or {" + options.text("type_field") + "} as a level of each topic");
    }
    if (!arrival)
      mistake("payload", "a payload of " + options.text("payload") + " has no time", "write time_from: arrival");
  } else if (entry.find("value_field") != nullptr) {
    mistake("value_field", "value_field is of payloads that are numbers or texts", "");
  }
  if (arrival && options.text("time_field").find_first_of(".[`") != std::string::npos)
    mistake("time_field", "with time_from: arrival time_field is a plain name", "");
}

void check_will(const config::Node& entry, const config::Options& options, Diagnostics& diagnostics) {
  const std::string& topic = options.text("will_topic");
  if (topic.empty()) {
    for (const std::string_view name : {"will_payload", "will_qos", "will_retain"}) {
      if (const config::Node* node = entry.find(name))
        diagnostics.push_back(node->problem(Severity::kError, std::string(name) + " needs a will_topic"));
    }
  } else if (topic.find_first_of("+#") != std::string::npos) {
    diagnostics.push_back(
        entry.find("will_topic")->problem(Severity::kError, "messages are published to no + and no #"));
  }
}

}  // namespace

void check_mqtt(const config::Node& entry, const config::Options& options, Diagnostics& diagnostics) {
  const auto& servers = options.list("servers");
  bool plain = false;
  if (const config::Node* node = entry.find("servers")) {
    for (std::size_t i = 0; i < servers.size(); ++i) {
      const bool tls = begins_with_any(servers[i], kTls);
      plain |= !tls;
      if (const std::string mistake = server_mistake(servers[i]); !mistake.empty())
        diagnostics.push_back(item(*node, i).problem(Severity::kError, mistake));
    }
  }
  bool good_topics = true;
  if (const config::Node* node = entry.find("topics")) {
    const auto& topics = options.list("topics");
    for (std::size_t i = 0; i < topics.size(); ++i) {
      const std::string mistake = TopicPattern::mistake(topics[i]);
      if (mistake.empty()) continue;
      good_topics = false;
      diagnostics.push_back(item(*node, i).problem(Severity::kError, mistake));
    }
  }
  if (good_topics) check_payload(entry, options, diagnostics);
  check_will(entry, options, diagnostics);
  for (const std::string_view name : {"ca_file", "cert_file", "key_file"}) {
    const config::Node* node = entry.find(name);
    if (node && plain && !options.text(name).empty()) {
      diagnostics.push_back(node->problem(Severity::kError, std::string(name) + " is used with TLS only",
                                          "write the servers as mqtts://host:port"));
    }
  }
  if (options.text("cert_file").empty() != options.text("key_file").empty()) {
    diagnostics.push_back(entry.problem(Severity::kError, "cert_file and key_file go together"));
  }
  if (options.text("username").empty() && !options.text("password").empty()) {
    diagnostics.push_back(entry.problem(Severity::kError, "a password needs a username"));
  }
}

MqttSourceOptions mqtt_options(const std::string& name, const config::Options& options) {
  using Retained = MqttSourceOptions::Retained;
  using Payload = MqttSourceOptions::Payload;
  std::vector<std::string> filters;
  for (const std::string& topic : options.list("topics")) filters.push_back(TopicPattern(topic).filter());
  std::optional<MqttSourceOptions::Will> will;
  if (!options.text("will_topic").empty())
    will = {options.text("will_topic"), options.text("will_payload"), static_cast<int>(options.integer("will_qos")),
            options.flag("will_retain")};
  const std::string& retained = options.text("retained");
  const std::string& payload = options.text("payload");
  return {.servers = options.list("servers"),
          .topics = std::move(filters),
          .qos = static_cast<int>(options.integer("qos")),
          .client_id = options.text("client_id").empty() ? "cepd-" + name : options.text("client_id"),
          .username = options.text("username"),
          .password = options.text("password"),
          .keep_alive = whole_seconds(options.duration("keep_alive")),
          .clean_start = options.flag("clean_start"),
          .session_expiry = whole_seconds(options.duration("session_expiry")),
          .version_5 = options.text("version") == "5",
          .max_in_flight = static_cast<int>(options.integer("max_in_flight")),
          .ca_file = options.text("ca_file"),
          .cert_file = options.text("cert_file"),
          .key_file = options.text("key_file"),
          .max_message = static_cast<std::size_t>(options.integer("max_message")),
          .retained = retained == "new"      ? Retained::kOnNew
                      : retained == "always" ? Retained::kAlways
                                             : Retained::kNever,
          .will = std::move(will),
          .payload = payload == "json"     ? Payload::kJson
                     : payload == "number" ? Payload::kNumber
                                           : Payload::kText,
          .value_field = options.text("value_field"),
          .arrival_field = options.text("time_from") == "arrival" ? options.text("time_field") : ""};
}

void mqtt_decoding(const config::Options& options, DecoderOptions& decoder) {
  decoder.type_from_topic = options.text("type_from") == "topic";
  for (const std::string& topic : options.list("topics")) {
    // Of a wrong one check_mqtt() tells.
    if (TopicPattern::mistake(topic).empty()) decoder.topics.emplace_back(topic);
  }
  if (std::ranges::all_of(decoder.topics, [](const TopicPattern& topic) { return topic.names().empty(); }))
    decoder.topics.clear();
}

}  // namespace cepd::adapters
