#pragma once
/// What a run of the daemon did, in its log.

#include <chrono>

#include "actions/deliver.h"
#include "adapters/dead_letter.h"
#include "app/pump.h"
#include "state/outbox.h"

namespace cepd::app {

/// Whose counts it is made of.
struct SummaryParts {
  const Pump& pump;
  const adapters::DeadLetterFile &dead_letter, &late;
  const actions::Deliverer& deliverer;
  const state::Outbox& outbox;
};

/// Logs it, for a run that took `ran`. By the pump's thread.
void log_summary(const SummaryParts& of, std::chrono::duration<double> ran);

}  // namespace cepd::app
