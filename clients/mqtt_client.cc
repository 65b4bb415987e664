#include "clients/mqtt_client.h"

#include <mosquitto.h>
#include <mqtt_protocol.h>
#include <openssl/x509.h>

#include <cerrno>
#include <cstring>

#include "base/check.h"

namespace cepd::clients {
namespace {

void use_library() {
  struct Library {
    Library() { mosquitto_lib_init(); }
    ~Library() { mosquitto_lib_cleanup(); }
  };
  static const Library library;
}

const char* text_or_null(const std::string& text) { return text.empty() ? nullptr : text.c_str(); }

}  // namespace

MqttClient make_mqtt_client(const std::string& id, bool clean_start, bool version_5, void* self) {
  use_library();
  MqttClient client(mosquitto_new(text_or_null(id), clean_start, self), mosquitto_destroy);
  CEPD_CHECK(client != nullptr);
  mosquitto_threaded_set(client.get(), true);
  mosquitto_int_option(client.get(), MOSQ_OPT_PROTOCOL_VERSION, version_5 ? MQTT_PROTOCOL_V5 : MQTT_PROTOCOL_V311);
  return client;
}

std::string set_mqtt_tls(mosquitto& client, const TlsFiles& tls) {
  // The library's search for authorities is the system's where no file is given.
  if (tls.ca_file.empty()) mosquitto_int_option(&client, MOSQ_OPT_TLS_USE_OS_CERTS, 1);
  const int set =
      mosquitto_tls_set(&client, text_or_null(tls.ca_file), tls.ca_file.empty() ? X509_get_default_cert_dir() : nullptr,
                        text_or_null(tls.cert_file), text_or_null(tls.key_file), nullptr);
  if (set == MOSQ_ERR_INVAL) return "ca_file, cert_file or key_file cannot be read";
  return set == MOSQ_ERR_SUCCESS ? std::string() : mqtt_words(set);
}

std::string mqtt_words(int result) {
  return result == MOSQ_ERR_ERRNO ? std::strerror(errno) : mosquitto_strerror(result);
}

std::string mqtt_refusal(int result, bool version_5) {
  return std::string("the broker refuses the connection: ") +
         (version_5 ? mosquitto_reason_string(result) : mosquitto_connack_string(result));
}

std::string mqtt_farewell(int reason) {
  return std::string("the broker has ended the connection: ") + mosquitto_reason_string(reason);
}

}  // namespace cepd::clients
