#include "clients/tls_files.h"

namespace cepd::clients {

using config::OptionType;

std::vector<config::OptionRow> tls_file_rows(std::string_view server, std::string_view scheme) {
  const std::string only = " Only with " + std::string(scheme);
  return {{.name = "ca_file",
           .type = OptionType::kPath,
           .default_text = "",
           .help = "Certificates (PEM) to check the " + std::string(server) +
                   "'s against; empty takes those of the system." + only + "."},
          {.name = "cert_file",
           .type = OptionType::kPath,
           .default_text = "",
           .help = "Certificate (PEM) to show to the " + std::string(server) + "." + only + " and key_file."},
          {.name = "key_file",
           .type = OptionType::kPath,
           .default_text = "",
           .help = "Private key (PEM) of cert_file, without a password."}};
}

void check_tls_files(const config::Node& entry, const config::Options& options, bool tls, std::string_view scheme,
                     Diagnostics& diagnostics) {
  for (const std::string_view name : {"ca_file", "cert_file", "key_file"}) {
    const config::Node* node = entry.find(name);
    if (node != nullptr && !tls && !options.text(name).empty())
      diagnostics.push_back(node->problem(Severity::kError, std::string(name) + " is used with TLS only",
                                          "write the server as " + std::string(scheme) + "host:port"));
  }
  if (options.text("cert_file").empty() != options.text("key_file").empty())
    diagnostics.push_back(entry.problem(Severity::kError, "cert_file and key_file go together"));
}

TlsFiles tls_files(const config::Options& options) {
  return {options.text("ca_file"), options.text("cert_file"), options.text("key_file")};
}

}  // namespace cepd::clients
