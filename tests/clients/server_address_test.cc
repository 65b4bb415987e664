#include "clients/server_address.h"

#include <doctest/doctest.h>

#include "clients/reach.h"

using namespace cepd::clients;

namespace {

std::string shown(std::string_view text) {
  const auto server = parse_server(text, "mqtt", "mqtts", 1883, 8883);
  if (!server) return "none";
  return server->host + " " + std::to_string(server->port) + (server->tls ? " tls " : " ") + server->shown;
}

}  // namespace

TEST_CASE("server address: scheme, host and port") {
  CHECK(shown("mqtt://broker") == "broker 1883 broker:1883");
  CHECK(shown("mqtts://broker/") == "broker 8883 tls broker:8883");
  CHECK(shown("mqtt://10.0.0.1:99") == "10.0.0.1 99 10.0.0.1:99");
  CHECK(shown("mqtts://[::1]:99") == "::1 99 tls [::1]:99");
  CHECK(shown("mqtt://[fe80::1]") == "fe80::1 1883 [fe80::1]:1883");
  for (const char* wrong : {"", "broker", "broker:1883", "tcp://broker", "mqtt:/broker", "mqtt://", "mqtt://:1",
                            "mqtt://a:", "mqtt://a:0", "mqtt://a:65536", "mqtt://a:1x", "mqtt://::1", "mqtt://[::1",
                            "mqtt://[::1]1", "mqtt://user@a", "mqtt://a/path", "mqtt://a b", "mqtt://a?x"}) {
    CAPTURE(std::string(wrong));
    CHECK(shown(wrong) == "none");
  }
}

TEST_CASE("reach: says why nobody is there") {
  using namespace std::chrono_literals;
  CHECK(reach({"127.0.0.1", 1, false, ""}, 1s) == "cannot connect: Connection refused");
  CHECK(reach({"no.such.host.invalid", 1, false, ""}, 1s).starts_with("cannot find no.such.host.invalid: "));
}
