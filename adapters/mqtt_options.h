#pragma once
/// The configuration of MQTT sources.

#include <string_view>
#include <vector>

#include "adapters/mqtt_source.h"
#include "config/options.h"

namespace cepd::adapters {

std::vector<config::OptionRow> mqtt_rows();
void check_mqtt(const config::Node& entry, const config::Options& options, Diagnostics& diagnostics);
MqttSourceOptions mqtt_options(const std::string& name, const config::Options& options);

/// What is wrong with a topic filter, or empty.
std::string topic_filter_mistake(std::string_view filter);

}  // namespace cepd::adapters
