#pragma once
/// The configuration of MQTT sources.

#include <string>
#include <vector>

#include "adapters/decoder.h"
#include "adapters/mqtt_source.h"
#include "config/options.h"

namespace cepd::adapters {

std::vector<config::OptionRow> mqtt_rows();
void check_mqtt(const config::Node& entry, const config::Options& options, Diagnostics& diagnostics);
MqttSourceOptions mqtt_options(const std::string& name, const config::Options& options);
/// What they say of decoding.
void mqtt_decoding(const config::Options& options, DecoderOptions& decoder);

}  // namespace cepd::adapters
