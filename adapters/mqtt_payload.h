#pragma once
/// MQTT payloads that are no JSON objects, as the JSON text that the decoder reads.

#include <string>
#include <string_view>

#include "adapters/mqtt_source.h"
#include "base/time.h"

namespace cepd::adapters {

/// `payload` as what the options say that it is: a number or text becomes {"<value_field>": …}. With `arrival_field`
/// the time is in it as well, in place of what a JSON object says there. What is no such thing is returned as it is,
/// for the decoder to refuse.
std::string event_of_payload(const MqttSourceOptions& options, std::string payload, EventTime arrived);

}  // namespace cepd::adapters
