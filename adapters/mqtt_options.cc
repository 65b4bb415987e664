#include "adapters/mqtt_options.h"

#include <algorithm>
#include <array>

namespace cepd::adapters {
namespace {

using config::OptionType;

constexpr std::array<std::string_view, 2> kPlain{"mqtt://", "tcp://"};
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
       .help = "Topic filters to subscribe to: + stands for one level, # for all from there on.",
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
           "Quality of service asked for: 0 may lose messages, 1 may repeat them, 2 does neither while a connection "
           "lasts.",
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
       .min = 1'000'000,
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

std::string topic_filter_mistake(std::string_view filter) {
  if (filter.empty()) return "a topic filter must not be empty";
  if (filter.size() > 65'535) return "a topic filter is at most 65535 bytes long";
  for (std::size_t begin = 0; begin <= filter.size();) {
    const std::size_t end = std::min(filter.find('/', begin), filter.size());
    const auto level = filter.substr(begin, end - begin);
    if (level.find_first_of("+#") != std::string_view::npos && level.size() > 1) {
      return "+ and # must be whole levels of a topic filter";
    }
    if (level == "#" && end != filter.size()) return "# must be the last level of a topic filter";
    begin = end + 1;
  }
  return {};
}

void check_mqtt(const config::Node& entry, const config::Options& options, Diagnostics& diagnostics) {
  const auto& servers = options.list("servers");
  bool plain = false;
  if (const config::Node* node = entry.find("servers")) {
    for (std::size_t i = 0; i < servers.size(); ++i) {
      const bool tls = begins_with_any(servers[i], kTls);
      plain |= !tls;
      if (!tls && !begins_with_any(servers[i], kPlain)) {
        diagnostics.push_back(
            item(*node, i).problem(Severity::kError, "expected mqtt://host:port or mqtts://host:port"));
      }
    }
  }
  if (const config::Node* node = entry.find("topics")) {
    const auto& topics = options.list("topics");
    for (std::size_t i = 0; i < topics.size(); ++i) {
      if (const std::string mistake = topic_filter_mistake(topics[i]); !mistake.empty()) {
        diagnostics.push_back(item(*node, i).problem(Severity::kError, mistake));
      }
    }
  }
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
  return {.servers = options.list("servers"),
          .topics = options.list("topics"),
          .qos = static_cast<int>(options.integer("qos")),
          .client_id = options.text("client_id").empty() ? "cepd-" + name : options.text("client_id"),
          .username = options.text("username"),
          .password = options.text("password"),
          .keep_alive = whole_seconds(options.duration("keep_alive")),
          .clean_start = options.flag("clean_start"),
          .session_expiry = whole_seconds(options.duration("session_expiry")),
          .version_5 = options.text("version") == "5",
          .ca_file = options.text("ca_file"),
          .cert_file = options.text("cert_file"),
          .key_file = options.text("key_file"),
          .max_message = static_cast<std::size_t>(options.integer("max_message"))};
}

}  // namespace cepd::adapters
