#include "actions/http_options.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <utility>

namespace cepd::actions {
namespace {

using config::OptionType;

std::chrono::milliseconds to_millis(Micros d) { return std::chrono::ceil<std::chrono::milliseconds>(d); }

std::string lower(std::string_view text) {
  std::string copy(text);
  std::ranges::transform(copy, copy.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return copy;
}

/// RFC 9110 section 5.6.2.
bool is_token(std::string_view text) {
  static constexpr std::string_view kMarks = "!#$%&'*+-.^_`|~";
  return !text.empty() && std::ranges::all_of(text, [](unsigned char c) {
    return std::isalnum(c) != 0 || kMarks.find(static_cast<char>(c)) != std::string_view::npos;
  });
}

/// What is wrong with a header, or empty. Never repeats its value.
std::string problem_of(std::string_view header) {
  const auto colon = header.find(':');
  if (colon == std::string_view::npos) return "expected a header like \"Name: value\"";
  const std::string_view name = header.substr(0, colon);
  if (!is_token(name))
    return "expected a header like \"Name: value\"; what stands before the colon is no header's name";
  if (header.find_first_not_of(" \t", colon + 1) == std::string_view::npos) {
    return "header " + std::string(name) + " has no value";
  }
  if (std::ranges::any_of(header, [](unsigned char c) { return (c < 0x20 && c != '\t') || c == 0x7F; })) {
    return "header " + std::string(name) + " has a line end or another control character in its value";
  }
  static constexpr std::array<std::string_view, 5> kOwn = {"content-type", "content-length", "idempotency-key",
                                                           "transfer-encoding", "expect"};
  if (std::ranges::find(kOwn, lower(name)) != kOwn.end()) return "header " + std::string(name) + " is set by cepd";
  return {};
}

}  // namespace

std::vector<config::OptionRow> http_rows(std::string url_help) {
  return {{.name = "url", .type = OptionType::kUrl, .default_text = "", .help = std::move(url_help)},
          {.name = "headers",
           .type = OptionType::kStringList,
           .default_text = "",
           .help = "Further headers, each \"Name: value\", sent to the configured `url`. Take secrets from ${env:…} or "
                   "${file:…}."},
          {.name = "request_time_limit",
           .type = OptionType::kDuration,
           .default_text = "10s",
           .help = "For a whole request; one that takes longer is tried again.",
           .min = 10'000,
           .max = 600'000'000},
          {.name = "connect_time_limit",
           .type = OptionType::kDuration,
           .default_text = "5s",
           .help = "For the connection, TLS included; within the request's limit.",
           .min = 10'000,
           .max = 600'000'000},
          {.name = "ca_file",
           .type = OptionType::kPath,
           .default_text = "",
           .help = "PEM file of the certificates that https servers are checked against. Default: the system's."}};
}

void check_http(const config::Node& entry, const config::Options& options, Diagnostics& diagnostics) {
  const auto& headers = options.list("headers");
  if (headers.empty()) return;
  const config::Node* node = entry.find("headers");
  if (!node) return;
  const auto report = [&](Diagnostic problem) {
    problem.source_line.clear();  // a secret may stand in it
    diagnostics.push_back(std::move(problem));
  };
  if (configured_url(options).empty()) {
    report(node->problem(Severity::kError, "headers are sent to the configured url only, and this action has none",
                         "add `url:`"));
  }
  for (std::size_t i = 0; i < headers.size(); ++i) {
    const config::Node& item = i < node->items.size() ? node->items[i] : *node;
    if (const auto problem = problem_of(headers[i]); !problem.empty()) {
      report(item.value_problem(Severity::kError, problem));
    }
  }
}

std::string configured_url(const config::Options& options) {
  return options.given("url") ? options.text("url") : std::string();
}

std::unique_ptr<HttpPoster> open_poster(const config::Options& options) {
  const HttpLimits limits{.connect = to_millis(options.duration("connect_time_limit")),
                          .request = to_millis(options.duration("request_time_limit"))};
  return std::make_unique<HttpPoster>(limits, options.list("headers"),
                                      options.given("ca_file") ? options.text("ca_file") : std::string());
}

}  // namespace cepd::actions
