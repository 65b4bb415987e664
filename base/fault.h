#pragma once
/// Faults on purpose, at named points: for tests of what a crash or a failing disk leaves behind. Off unless asked for.

#include <cstdint>
#include <string_view>

#include "base/result.h"
#include "base/time.h"

namespace cepd {

/// Where the process can be killed; at kCommit a commit can be made to fail, too, and at kClock the clock to be wrong.
enum class FaultPoint : std::uint8_t {
  kCommit,             ///< "commit": any commit to the disk, before it
  kBeforeGroup,        ///< "before_group": a group commit
  kAfterGroup,         ///< "after_group": it is durable, and nobody knows yet
  kBeforeSlice,        ///< "before_slice": a slice of a checkpoint
  kAfterSlice,         ///< "after_slice"
  kBeforeFinish,       ///< "before_finish": the last slice, which makes it a checkpoint
  kAfterFinish,        ///< "after_finish"
  kBeforeDelivery,     ///< "before_delivery": of an action call
  kBeforeMark,         ///< "before_mark": it was delivered, and is not marked as such
  kAfterMark,          ///< "after_mark"
  kBeforeAcknowledge,  ///< "before_acknowledge": a message is durable, and its sender does not know
  kAfterAcknowledge,   ///< "after_acknowledge"
  kTake,               ///< "take": a message was taken, and nothing was done about it
  kReload,             ///< "reload": new rules are in place, and that is not stored
  kReplay,             ///< "replay": at a start, before an entry of the journal is done once more
  kClock,              ///< "clock": the wall clock is read; it cannot kill
};

/// Plans faults: a list of POINT=ACTION[@FIRST[xCOUNT]], with commas between. ACTION is kill (SIGKILL to itself), at
/// `commit` ENOSPC, EIO or EROFS, at `clock` a signed duration by which the clock is wrong. FIRST is how often the
/// point is passed until then, from 1; COUNT how many times it fails, by default once, the clock from then on.
/// "after_slice=kill@17", "commit=ENOSPC@3x5", "clock=-2h@100". Before any other thread runs. Errors: kInvalidArgument.
Status plan_faults(std::string_view text);
void forget_faults();  // for tests

/// An errno value with which what comes next has to fail; 0: go on. Thread-safe; costs one look when nothing is
/// planned.
int fault(FaultPoint point);
/// By how much the wall clock is wrong at this reading.
Micros clock_fault();

}  // namespace cepd
