#include "actions/action_log.h"

#include <spdlog/spdlog.h>

#include <memory>
#include <mutex>

#include "actions/json_body.h"

namespace cepd::actions {
namespace {

constexpr std::size_t kLongestLine = 64 * 1024;  // bytes; a message made from an event's fields has no bound of its own

std::shared_ptr<spdlog::logger> action_logger() {
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  auto logger = spdlog::get("action");
  if (!logger) {
    logger = spdlog::default_logger()->clone("action");
    spdlog::register_logger(logger);
  }
  return logger;
}

spdlog::level::level_enum to_spdlog(LogLevel level) {
  switch (level) {
    case LogLevel::kDebug:
      return spdlog::level::debug;
    case LogLevel::kInfo:
      return spdlog::level::info;
    case LogLevel::kWarning:
      return spdlog::level::warn;
    case LogLevel::kError:
      return spdlog::level::err;
  }
  return spdlog::level::info;
}

}  // namespace

std::optional<LogLevel> parse_log_level(std::string_view text) {
  if (text == "debug") return LogLevel::kDebug;
  if (text == "info") return LogLevel::kInfo;
  if (text == "warning") return LogLevel::kWarning;
  if (text == "error") return LogLevel::kError;
  return std::nullopt;
}

void write_action_log(LogLevel level, std::string_view text) {
  action_logger()->log(to_spdlog(level), "{}", one_line(text, kLongestLine));
}

}  // namespace cepd::actions
