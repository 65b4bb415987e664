#include "clients/server_address.h"

#include <charconv>

namespace cepd::clients {

std::optional<ServerAddress> parse_server(std::string_view text, std::string_view plain, std::string_view tls,
                                          int plain_port, int tls_port) {
  ServerAddress server;
  const std::size_t scheme_end = text.find("://");
  if (scheme_end == std::string_view::npos) return std::nullopt;
  const std::string_view scheme = text.substr(0, scheme_end);
  server.tls = scheme == tls;
  if (!server.tls && scheme != plain) return std::nullopt;
  server.port = server.tls ? tls_port : plain_port;
  text.remove_prefix(scheme_end + 3);
  if (text.ends_with('/')) text.remove_suffix(1);
  if (text.find_first_of("/@?# ") != std::string_view::npos) return std::nullopt;

  std::string_view host = text, digits;
  const std::size_t colon = text.rfind(':');
  if (text.starts_with('[')) {
    const std::size_t end = text.find(']');
    if (end == std::string_view::npos) return std::nullopt;
    host = text.substr(1, end - 1);
    digits = text.substr(end + 1);
    if (!digits.empty() && !digits.starts_with(':')) return std::nullopt;
  } else if (colon != std::string_view::npos) {
    host = text.substr(0, colon);
    digits = text.substr(colon);
    if (host.find(':') != std::string_view::npos) return std::nullopt;
  }
  if (!digits.empty()) {
    const auto [end, status] = std::from_chars(digits.data() + 1, digits.data() + digits.size(), server.port);
    if (status != std::errc{} || end != digits.data() + digits.size() || server.port < 1 || server.port > 65'535)
      return std::nullopt;
  }
  if (host.empty()) return std::nullopt;
  server.host = host;
  server.shown = (text.starts_with('[') ? "[" + server.host + "]" : server.host) + ":" + std::to_string(server.port);
  return server;
}

}  // namespace cepd::clients
