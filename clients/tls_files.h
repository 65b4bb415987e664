#pragma once
/// Files of a TLS client, as several options sections have them.

#include <string>
#include <string_view>
#include <vector>

#include "config/options.h"

namespace cepd::clients {

struct TlsFiles {
  std::string ca_file, cert_file, key_file;  ///< PEM; empty: the system's certificates, no certificate of our own
};

/// `server`: whose certificate it is, "broker". `scheme`: with which the files are used, "mqtts://".
std::vector<config::OptionRow> tls_file_rows(std::string_view server, std::string_view scheme);
/// `tls`: whether all that is connected to speaks it.
void check_tls_files(const config::Node& entry, const config::Options& options, bool tls, std::string_view scheme,
                     Diagnostics& diagnostics);
TlsFiles tls_files(const config::Options& options);

}  // namespace cepd::clients
