#pragma once
#include <optional>
#include <string>
#include <string_view>

namespace cepd::clients {

/// Where a service is, as `scheme://host:port`.
struct ServerAddress {
  std::string host;  ///< a name or an address; IPv6 without its brackets
  int port = 0;
  bool tls = false;
  std::string shown;  ///< host:port, for messages
};

/// Of `plain`://host:port or `tls`://host:port, the port optional. None when it is neither.
std::optional<ServerAddress> parse_server(std::string_view text, std::string_view plain, std::string_view tls,
                                          int plain_port, int tls_port);

}  // namespace cepd::clients
