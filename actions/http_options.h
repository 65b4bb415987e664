#pragma once
/// Options of the actions that POST to a service: url, headers, limits.

#include <memory>
#include <string>
#include <vector>

#include "actions/http_poster.h"
#include "config/options.h"

namespace cepd::actions {

/// `url_help` says what is posted there and what happens without it.
std::vector<config::OptionRow> http_rows(std::string url_help);

/// Headers that cannot be sent, that cepd sets itself, or that would go to a url from a rule.
void check_http(const config::Node& entry, const config::Options& options, Diagnostics& diagnostics);

/// Empty when none is configured.
std::string configured_url(const config::Options& options);

std::unique_ptr<HttpPoster> open_poster(const config::Options& options);

}  // namespace cepd::actions
