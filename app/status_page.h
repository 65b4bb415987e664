#pragma once
/// What `cepd status` shows of a running daemon.

#include <cstdint>
#include <string>

#include "app/figures.h"
#include "app/metrics_page.h"

namespace cepd::app {

enum class StatusForm : std::uint8_t { kText, kJson };

/// Ends with a line end. Without figures (null): that there are none yet. Any thread.
std::string status_page(const Figures* figures, const PageSources& sources, StatusForm form);

}  // namespace cepd::app
