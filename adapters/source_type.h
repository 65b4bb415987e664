#pragma once
/// What open.cc knows of each type of source. Each `<type>_source.cc` defines its own.

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "adapters/decoder.h"
#include "adapters/source.h"
#include "config/options.h"

namespace cepd::adapters {

struct SourceType {
  std::string_view name;
  std::string_view help;
  std::vector<config::OptionRow> (*rows)();  ///< beyond those common to all sources
  /// Mistakes that the rows cannot express. `entry` is the source's map. May be null.
  void (*check)(const config::Node& entry, const config::Options& options, Diagnostics& diagnostics);
  std::unique_ptr<Source> (*make)(const std::string& name, const config::Options& options);
  /// What the type's own options say of decoding. May be null.
  void (*adjust)(const config::Options& options, DecoderOptions& decoder) = nullptr;
};

const SourceType& file_type();
const SourceType& stdin_type();
const SourceType& http_type();
const SourceType& kafka_type();
const SourceType& mqtt_type();

}  // namespace cepd::adapters
