#include "adapters/source.h"

namespace cepd::adapters {

SourceId part_of(const SourceId& source, std::string_view topic) {
  std::string name = source.name();
  name += '/';
  name += topic;
  return SourceId(name);
}

SourceId whole_of(const SourceId& part) {
  const std::string_view name = part.name();
  return SourceId(name.substr(0, name.find('/')));
}

Result<std::unique_ptr<Rereader>> Source::reread(const Positions& /*taken*/) { return std::unique_ptr<Rereader>(); }

void Source::stored(const Positions& /*taken*/) {}

std::int64_t last_taken(const Positions& taken, const SourceId& source) {
  const auto at = taken.find({source, 0});
  return at == taken.end() ? -1 : at->second;
}

}  // namespace cepd::adapters
