#pragma once
/// Trials through the engine and through the plain one (tests/plain).

#include <memory>
#include <string>
#include <vector>

#include "nfa/network.h"
#include "tests/reference/trial.h"

namespace cepd::reference {

/// How the engine is driven.
struct Drive {
  std::size_t lanes = 1;
  /// After so many events, again and again, its state is saved and another engine restored from it; 0: never.
  std::size_t restored_every = 0;
  /// After so many events, again and again, its state is saved and some keys, at most `evicted`, are forgotten, to be
  /// read again; 0: never. With restored_every, keys are read when they are touched.
  std::size_t evicted_every = 0;
  std::size_t evicted = 1000;
  std::size_t part_bytes = SIZE_MAX / 2;  ///< of such a save that are handed over after each event
  std::size_t lane_batch = 512;
  std::size_t index_from = 32;  ///< EngineOptions::index_runs_from

  std::string text() const {
    return "engine" + (index_from < 32 ? ", index from " + std::to_string(index_from) + " runs" : std::string()) +
           (lanes > 1 ? ", " + std::to_string(lanes) + " lanes, batches of " + std::to_string(lane_batch) : "") +
           (restored_every == 0   ? ""
            : restored_every == 1 ? ", restored after every event"
                                  : ", restored after every " + std::to_string(restored_every) + " events") +
           (evicted_every == 0 ? ""
                               : ", " + std::to_string(evicted) + " keys forgotten after every " +
                                     std::to_string(evicted_every) + " events");
  }
};

/// The compiled rules of a trial, then those after each of its reloads. Requires rules that are not refused.
using Networks = std::vector<std::shared_ptr<const nfa::Network>>;
Networks networks_of(const Trial& trial);

struct Outcome {
  Lines results;  ///< as by_reference() has them
  /// Everything that is reported, and the counts of each rule before each reload and at the end.
  Lines in_full;
  std::uint64_t read_again = 0;  ///< keys that were forgotten in between (Drive::evicted_every)
};
Outcome by_engine(const Trial& trial, const Networks& networks, const Drive& drive);
Outcome by_plain(const Trial& trial, const Networks& networks);

}  // namespace cepd::reference
