#pragma once
/// What users of libmosquitto have in common, source and action: both drive the network themselves.

#include <memory>
#include <string>

#include "clients/tls_files.h"

struct mosquitto;

namespace cepd::clients {

using MqttClient = std::unique_ptr<mosquitto, void (*)(mosquitto*)>;

/// One that sends only when mosquitto_loop_write() is called, and gives `self` to its callbacks. `id`: empty: the
/// library makes one up.
MqttClient make_mqtt_client(const std::string& id, bool clean_start, bool version_5, void* self);
/// Sets what a TLS connection needs. Empty, or why not.
std::string set_mqtt_tls(mosquitto& client, const TlsFiles& tls);

/// Of a call's result that is no success, for a person.
std::string mqtt_words(int result);
std::string mqtt_refusal(int result, bool version_5);  ///< of the answer to a connect
std::string mqtt_farewell(int reason);                 ///< of a disconnect by the broker

}  // namespace cepd::clients
