#pragma once
/// How a Redis server is named and logged in to, as several options sections have it.

#include <string>
#include <vector>

#include "clients/redis_client.h"
#include "config/options.h"

namespace cepd::clients {

/// Database, user, password, time limit and TLS files; `server` is the section's own. `time_limit_help`: of
/// request_time_limit.
std::vector<config::OptionRow> redis_rows(std::string time_limit_help);
/// `section` has `server`, unless its default is good.
void check_redis(const config::Node& section, const config::Options& options, Diagnostics& diagnostics);
/// Requires options that were checked.
RedisOptions redis_options(const config::Options& options);

}  // namespace cepd::clients
