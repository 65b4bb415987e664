#pragma once
#include <doctest/doctest.h>

#include <iterator>
#include <map>
#include <string>
#include <utility>

#include "state/backend.h"
#include "state/checkpoint_records.h"

namespace cepd::state {

using Records = std::map<std::pair<Space, std::string>, std::string>;

inline void add_space(Records& records, StateBackend& backend, Space space) {
  const Status scanned = backend.scan(space, {}, [&](std::string_view key, std::string_view value) -> Status {
    records[{space, std::string(key)}] = value;
    return {};
  });
  REQUIRE(scanned.has_value());
}

/// All records of the spaces that checkpoints keep.
inline Records checkpointed_records(StateBackend& backend) {
  Records records;
  for (const Space space : kCheckpointSpaces) add_space(records, backend, space);
  return records;
}
inline Records live_records(StateBackend& backend) {
  Records records;
  for (const Space space : kLiveSpaces) add_space(records, backend, space);
  return records;
}
inline Records all_records(StateBackend& backend) {
  Records records;
  for (int space = 0; space < kSpaceCount; ++space) add_space(records, backend, static_cast<Space>(space));
  return records;
}

}  // namespace cepd::state
