#pragma once
/// The sources there are, and how a configured one is opened.

#include <memory>
#include <string>
#include <vector>

#include "adapters/decoder.h"
#include "adapters/source.h"
#include "config/options.h"

namespace cepd::adapters {

/// What the pump must know of a source beside its bytes.
struct SourceSettings {
  std::string name;
  bool replayable = false;  ///< Source::replayable()
  DecoderOptions decoder;
  Micros max_delay{0};            ///< how far its watermark trails its greatest event time
  Micros idle_after{30'000'000};  ///< processing time without input after which it does not hold time back
  Micros max_future{3'600'000'000};
  std::size_t most_ids = 0;  ///< that are kept of decoder.id_field, of each partition
};

struct OpenedSource {
  SourceSettings settings;
  std::unique_ptr<Source> source;
};

/// Tables of all source types: rows common to all first, then each type's own. Sections: "sources.<name>",
/// "sources.<name> (type: mqtt)", …
std::vector<config::OptionTable> option_tables();

/// Reads one entry of the `sources:` map. Mistakes go to `diagnostics`; then nothing is opened and the result is null.
std::unique_ptr<OpenedSource> open_source(const std::string& name, const config::Node& node, Diagnostics& diagnostics);

}  // namespace cepd::adapters
