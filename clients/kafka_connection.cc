#include "clients/kafka_connection.h"

#include <algorithm>
#include <array>
#include <charconv>

namespace cepd::clients {
namespace {

using config::OptionType;

/// A broker that comes back is found within this time.
constexpr int kReconnectMaxMs = 2000;

/// The node of the list's item, or of the scalar that stands for a list of one.
const config::Node& item(const config::Node& list, std::size_t index) {
  return list.kind == config::Node::Kind::kSequence ? list.items.at(index) : list;
}

bool is_host_and_port(std::string_view text) {
  const std::size_t colon = text.rfind(':');
  if (colon == std::string_view::npos || colon == 0 || text.find('/') != std::string_view::npos) return false;
  unsigned port = 0;
  const std::string_view digits = text.substr(colon + 1);
  const auto [end, status] = std::from_chars(digits.data(), digits.data() + digits.size(), port);
  return status == std::errc{} && end == digits.data() + digits.size() && port >= 1 && port <= 65'535;
}

}  // namespace

std::vector<config::OptionRow> kafka_security_rows() {
  return {
      {.name = "tls",
       .type = OptionType::kBool,
       .default_text = "false",
       .help = "Whether to speak TLS. The broker's certificate and name are checked."},
      {.name = "ca_file",
       .type = OptionType::kPath,
       .default_text = "",
       .help = "Certificates (PEM) to check the brokers' against; empty takes those of the system. Only with tls."},
      {.name = "cert_file",
       .type = OptionType::kPath,
       .default_text = "",
       .help = "Certificate (PEM) to show to the brokers. Only with tls and key_file."},
      {.name = "key_file",
       .type = OptionType::kPath,
       .default_text = "",
       .help = "Private key (PEM) of cert_file, without a password."},
      {.name = "sasl",
       .type = OptionType::kChoice,
       .default_text = "none",
       .help = "How to log in with username and password. plain sends them as they are: use it with tls.",
       .choices = {"none", "plain", "scram-sha-256", "scram-sha-512"}},
      {.name = "username", .type = OptionType::kString, .default_text = "", .help = "User name to log in with."},
      {.name = "password",
       .type = OptionType::kString,
       .default_text = "",
       .help = "Password of that user.",
       .secret = true},
  };
}

void check_kafka_connection(const config::Node& entry, const config::Options& options, Diagnostics& diagnostics) {
  const auto& brokers = options.list("brokers");
  if (const config::Node* given = entry.find("brokers")) {
    for (std::size_t i = 0; i < brokers.size(); ++i) {
      if (!is_host_and_port(brokers[i]))
        diagnostics.push_back(item(*given, i).value_problem(Severity::kError, "expected host:port"));
    }
    if (brokers.empty()) diagnostics.push_back(given->problem(Severity::kError, "expected at least one broker"));
  }
  for (const std::string_view name : {"ca_file", "cert_file", "key_file"}) {
    if (!options.flag("tls") && !options.text(name).empty())
      diagnostics.push_back(
          entry.find(name)->problem(Severity::kError, std::string(name) + " is used with TLS only", "add `tls: true`"));
  }
  if (options.text("cert_file").empty() != options.text("key_file").empty())
    diagnostics.push_back(entry.problem(Severity::kError, "cert_file and key_file go together"));
  const bool user = !options.text("username").empty(), password = !options.text("password").empty();
  if (options.text("sasl") == "none") {
    if (user || password) diagnostics.push_back(entry.problem(Severity::kError, "username and password need sasl"));
  } else if (!user || !password) {
    diagnostics.push_back(entry.find("sasl")->problem(Severity::kError, "sasl needs username and password"));
  }
}

KafkaConnection kafka_connection(std::string client_id, const config::Options& options) {
  static constexpr std::array<std::pair<std::string_view, std::string_view>, 3> kMechanisms{
      {{"plain", "PLAIN"}, {"scram-sha-256", "SCRAM-SHA-256"}, {"scram-sha-512", "SCRAM-SHA-512"}}};
  KafkaConnection out;
  out.brokers = options.list("brokers");
  out.client_id = std::move(client_id);
  out.tls = options.flag("tls");
  out.ca_file = options.text("ca_file");
  out.cert_file = options.text("cert_file");
  out.key_file = options.text("key_file");
  for (const auto& [ours, theirs] : kMechanisms) {
    if (options.text("sasl") == ours) out.sasl = theirs;
  }
  out.username = options.text("username");
  out.password = options.text("password");
  return out;
}

std::vector<std::pair<std::string, std::string>> kafka_settings(const KafkaConnection& connection) {
  std::string brokers;
  for (const std::string& each : connection.brokers) brokers += (brokers.empty() ? "" : ",") + each;
  const bool sasl = !connection.sasl.empty();
  std::vector<std::pair<std::string, std::string>> settings = {
      {"bootstrap.servers", brokers},
      {"client.id", connection.client_id},
      {"reconnect.backoff.max.ms", std::to_string(kReconnectMaxMs)},
      {"security.protocol", connection.tls ? (sasl ? "SASL_SSL" : "SSL") : (sasl ? "SASL_PLAINTEXT" : "PLAINTEXT")},
      {"ssl.ca.location", connection.ca_file},
      {"ssl.certificate.location", connection.cert_file},
      {"ssl.key.location", connection.key_file},
      {"sasl.mechanism", connection.sasl},
      {"sasl.username", connection.username},
      {"sasl.password", connection.password},
  };
  if (connection.tls) settings.emplace_back("ssl.endpoint.identification.algorithm", "https");
  std::erase_if(settings, [](const auto& setting) { return setting.second.empty(); });
  return settings;
}

std::string kafka_topic_mistake(std::string_view topic) {
  if (topic.empty() || topic.size() > 249) return "a topic's name has 1 to 249 characters";
  if (topic == "." || topic == "..") return "a topic's name cannot be \".\" or \"..\"";
  const bool legal = std::ranges::all_of(topic, [](unsigned char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' || c == '_' ||
           c == '-';
  });
  if (!legal) return "a topic's name has letters, digits, dots, underscores and hyphens only";
  return {};
}

}  // namespace cepd::clients
