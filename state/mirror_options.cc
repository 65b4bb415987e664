#include "state/mirror_options.h"

#include <unistd.h>

#include <array>
#include <utility>

#include "clients/redis_options.h"
#include "state/redis_store.h"

namespace cepd::state {
namespace {

using config::OptionType;

std::string instance_of(const config::Options& options) {
  if (!options.text("instance").empty()) return options.text("instance");
  std::array<char, 256> host{};
  return ::gethostname(host.data(), host.size() - 1) == 0 ? host.data() : "cepd";
}

std::vector<config::OptionRow> rows() {
  std::vector<config::OptionRow> rows = {
      {.name = "server",
       .type = OptionType::kString,
       .default_text = "",
       .help =
           "Redis as redis://host:port, or rediss:// with TLS; the certificate and the name in it are checked. Empty: "
           "there is no mirror."},
      {.name = "instance",
       .type = OptionType::kString,
       .default_text = "",
       .help =
           "Under which name the copies stand there: one for each cepd, kept when its machine is replaced. Empty: the "
           "name of the host."},
      {.name = "keep",
       .type = OptionType::kInteger,
       .default_text = "10",
       .help = "How many copies can be restored.",
       .min = 1,
       .max = 1'000},
      {.name = "restore",
       .type = OptionType::kBool,
       .default_text = "true",
       .help = "A start without state takes up the newest whole copy, and fails where the mirror does not answer. With "
               "false it begins with empty state, and nothing is copied over copies that are there."},
      {.name = "retries",
       .type = OptionType::kInteger,
       .default_text = "3",
       .help =
           "How often a copy that failed is tried again, with growing waits; then the next checkpoint is waited for.",
       .min = 0,
       .max = 100},
  };
  for (auto& row : clients::redis_rows("For the connection, and for each answer.")) rows.push_back(std::move(row));
  return rows;
}

}  // namespace

const config::OptionTable& mirror_option_table() {
  static const config::OptionTable table{"mirror",
                                         "Where each checkpoint is copied to, for the day when the machine or its disk "
                                         "is gone. Matching never waits for it.",
                                         rows()};
  return table;
}

bool has_mirror(const config::Options& options) { return !options.text("server").empty(); }

void check_mirror(const config::Node* section, const config::Options& options, Diagnostics& diagnostics) {
  if (section == nullptr) return;
  if (!has_mirror(options)) {
    diagnostics.push_back(section->problem(Severity::kError, "mirror: needs a server, as redis://host:port"));
    return;
  }
  clients::check_redis(*section, options, diagnostics);
  const std::string& instance = options.text("instance");
  if (instance.find_first_of("{}") != std::string::npos)
    diagnostics.push_back(section->find("instance")->value_problem(Severity::kError, "instance: without { and }"));
}

std::unique_ptr<MirrorStore> open_mirror(const config::Options& options) {
  return open_redis_store(clients::redis_options(options), instance_of(options));
}

MirrorOptions mirror_options(const config::Options& options) {
  MirrorOptions out;
  out.keep = static_cast<std::size_t>(options.integer("keep"));
  out.retries = static_cast<int>(options.integer("retries"));
  return out;
}

}  // namespace cepd::state
