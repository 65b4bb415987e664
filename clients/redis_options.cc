#include "clients/redis_options.h"

#include <optional>
#include <utility>

namespace cepd::clients {
namespace {

using config::OptionType;

constexpr int kPort = 6379;

std::optional<ServerAddress> server_of(const config::Options& options) {
  return parse_server(options.text("server"), "redis", "rediss", kPort, kPort);
}

}  // namespace

std::vector<config::OptionRow> redis_rows(std::string time_limit_help) {
  std::vector<config::OptionRow> rows = {
      {.name = "database", .type = OptionType::kInteger, .default_text = "0", .help = "Its number.", .max = 65'535},
      {.name = "username",
       .type = OptionType::kString,
       .default_text = "",
       .help = "User name to log in with; empty: the default user."},
      {.name = "password",
       .type = OptionType::kString,
       .default_text = "",
       .help = "Password of that user.",
       .secret = true},
      {.name = "request_time_limit",
       .type = OptionType::kDuration,
       .default_text = "5s",
       .help = std::move(time_limit_help),
       .min = 10'000,
       .max = 600'000'000}};
  for (auto& row : tls_file_rows("server", "rediss://")) rows.push_back(std::move(row));
  return rows;
}

void check_redis(const config::Node& section, const config::Options& options, Diagnostics& diagnostics) {
  if (const auto server = server_of(options)) {
    check_tls_files(section, options, server->tls, "rediss://", diagnostics);
  } else {
    diagnostics.push_back(section.find("server")->value_problem(
        Severity::kError, "server: expected redis://host:port or rediss://host:port"));
  }
  if (!options.text("username").empty() && options.text("password").empty())
    diagnostics.push_back(section.find("username")->problem(Severity::kError, "username needs a password"));
}

RedisOptions redis_options(const config::Options& options) {
  return {.server = *server_of(options),
          .tls = tls_files(options),
          .username = options.text("username"),
          .password = options.text("password"),
          .database = static_cast<int>(options.integer("database")),
          .time_limit = std::chrono::ceil<std::chrono::milliseconds>(options.duration("request_time_limit"))};
}

}  // namespace cepd::clients
