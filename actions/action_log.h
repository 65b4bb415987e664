#pragma once
/// What actions write into the daemon's log.

#include <optional>
#include <string>
#include <string_view>

namespace cepd::actions {

enum class LogLevel : unsigned char { kDebug, kInfo, kWarning, kError };
std::optional<LogLevel> parse_log_level(std::string_view text);  // "debug" "info" "warning" "error"

/// Writes one line through the spdlog logger named "action": a copy of the default logger unless one of that name was
/// registered before. Line ends in `text` are escaped, so that an event cannot forge lines. Any thread.
void write_action_log(LogLevel level, std::string_view text);

}  // namespace cepd::actions
