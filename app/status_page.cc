#include "app/status_page.h"

#include <algorithm>
#include <iomanip>
#include <sstream>
#include <string_view>

#include "base/value.h"

namespace cepd::app {
namespace {

std::string_view breaker_name(actions::BreakerState state) {
  switch (state) {
    case actions::BreakerState::kClosed:
      return "closed";
    case actions::BreakerState::kHalfOpen:
      return "half-open";
    case actions::BreakerState::kOpen:
      return "open";
  }
  return "";
}

/// Why no input is taken; empty where it is.
std::string why_input_waits(const Figures& figures) {
  if (figures.saving_fails) return "the state cannot be saved";
  for (const Figures::OfAction& action : figures.actions) {
    if (action.bytes >= action.limit) return "the queue of action " + action.name + " is full";
  }
  return {};
}

bool has_time(const Figures& figures) { return figures.watermark != kMinTime && figures.watermark != kMaxTime; }

std::string in_mebibytes(std::size_t bytes) {
  std::ostringstream out;
  out << std::fixed << std::setprecision(1) << static_cast<double>(bytes) / (1 << 20);
  return out.str();
}

std::string as_text(const Figures& figures, const PageSources& sources) {
  std::ostringstream out;
  const std::string waits = why_input_waits(figures);
  out << "started   " << format_rfc3339(sources.started) << ", " << figures.rules << " rules, "
      << figures.all_rules.matches << " matches\n"
      << "input     " << (waits.empty() ? "is taken" : "waits: " + waits) << "; " << figures.queued << " of "
      << sources.queue_limit << " messages in the queue\n";
  if (has_time(figures)) out << "watermark " << format_rfc3339(figures.watermark) << "\n";
  std::size_t width = 8;
  for (const auto& [source, messages] : figures.messages) width = std::max(width, source.size());
  for (const Figures::OfAction& action : figures.actions) width = std::max(width, action.name.size());
  out << "\n" << std::left << std::setw(static_cast<int>(width)) << "source" << std::right << "  messages\n";
  for (const auto& [source, messages] : figures.messages)
    out << std::left << std::setw(static_cast<int>(width)) << source << std::right << std::setw(10) << messages << "\n";
  out << "\n"
      << std::left << std::setw(static_cast<int>(width)) << "action"
      << "  breaker       calls  MiB of most    delivered  retries  rejected\n";
  for (const Figures::OfAction& action : figures.actions) {
    const std::string size = in_mebibytes(action.bytes) + " of " + in_mebibytes(action.limit);
    out << std::left << std::setw(static_cast<int>(width)) << action.name << "  " << std::setw(10)
        << breaker_name(action.counts.breaker) << std::right << std::setw(9) << action.waiting << std::setw(13) << size
        << std::setw(13) << action.counts.delivered << std::setw(9) << action.counts.retried << std::setw(10)
        << action.counts.rejected << (action.counts.failing ? "  the last attempt failed" : "") << "\n";
  }
  return out.str();
}

std::string as_json(const Figures& figures, const PageSources& sources) {
  std::string out = "{\"started\":";
  append_json_string(out, format_rfc3339(sources.started));
  out += ",\"rules\":" + std::to_string(figures.rules);
  out += ",\"matches\":" + std::to_string(figures.all_rules.matches);
  const std::string waits = why_input_waits(figures);
  out += ",\"input_waits\":";
  if (waits.empty()) {
    out += "null";
  } else {
    append_json_string(out, waits);
  }
  out += ",\"queue\":{\"messages\":" + std::to_string(figures.queued) +
         ",\"limit\":" + std::to_string(sources.queue_limit) + "},\"watermark\":";
  if (has_time(figures)) {
    append_json_string(out, format_rfc3339(figures.watermark));
  } else {
    out += "null";
  }
  out += ",\"sources\":{";
  for (const auto& [source, messages] : figures.messages) {
    if (!out.ends_with('{')) out += ',';
    append_json_string(out, source);
    out += ":{\"messages\":" + std::to_string(messages) + "}";
  }
  out += "},\"actions\":{";
  for (const Figures::OfAction& action : figures.actions) {
    if (!out.ends_with('{')) out += ',';
    append_json_string(out, action.name);
    out += ":{\"breaker\":\"" + std::string(breaker_name(action.counts.breaker)) +
           "\",\"failing\":" + (action.counts.failing ? "true" : "false") +
           ",\"calls\":" + std::to_string(action.waiting) + ",\"bytes\":" + std::to_string(action.bytes) +
           ",\"limit_bytes\":" + std::to_string(action.limit) +
           ",\"delivered\":" + std::to_string(action.counts.delivered) +
           ",\"retries\":" + std::to_string(action.counts.retried) +
           ",\"rejected\":" + std::to_string(action.counts.rejected) + "}";
  }
  return out + "}}\n";
}

}  // namespace

std::string status_page(const Figures* figures, const PageSources& sources, StatusForm form) {
  if (figures == nullptr) return form == StatusForm::kJson ? "{}\n" : "the daemon has not answered yet\n";
  return form == StatusForm::kJson ? as_json(*figures, sources) : as_text(*figures, sources);
}

}  // namespace cepd::app
