#include "app/settings.h"

#include "actions/open.h"
#include "app/dead_letter_sender.h"
#include "app/metrics_server.h"
#include "state/journal.h"
#include "state/mirror_options.h"
#include "state/open.h"

namespace cepd::app {
namespace {

using config::OptionTable;
using config::OptionType;

const OptionTable& rules_table() {
  static const OptionTable table{
      "rules",
      "Where rules come from.",
      {{.name = "directory",
        .type = OptionType::kPath,
        .default_text = "/etc/cepd/rules",
        .help = "Every *.rules file in it is loaded as one set; *.test.rules files are left out."}}};
  return table;
}

const OptionTable& engine_table() {
  static const OptionTable table{
      "engine",
      "Matching. The bounds on partial matches are part of what rules mean, and the same in every replay with the same "
      "values.",
      {{.name = "state_ttl",
        .type = OptionType::kDuration,
        .default_text = "0s",
        .help = "Event time after which a partial match of a rule without WITHIN is dropped. 0s: never."},
       {.name = "max_partial_matches",
        .type = OptionType::kInteger,
        .default_text = "100000",
        .help = "Most partial matches of one rule and key; beyond it those of the oldest first event are dropped and "
                "counted.",
        .min = 1},
       {.name = "lanes",
        .type = OptionType::kInteger,
        .default_text = "1",
        .help = "Threads that share the keys. The matches and their order are the same for every number.",
        .min = 1,
        .max = 64}}};
  return table;
}

const OptionTable& daemon_table() {
  static const OptionTable table{
      "daemon",
      "The process itself.",
      {{.name = "run_directory",
        .type = OptionType::kPath,
        .default_text = "/run/cepd",
        .help = "Holds cepd.pid and the outcome of the last reload, for `cepd reload`."},
       {.name = "dead_letter",
        .type = OptionType::kPath,
        .default_text = "",
        .help = "File that keeps bad events with their reason, one JSON object a line. Empty: they are only counted "
                "and logged."},
       {.name = "dead_letter_bytes",
        .type = OptionType::kBytes,
        .default_text = "256MiB",
        .help = "Most bytes of that file and of the older one beside it (.1); what is longest there goes. The same for "
                "late.",
        .min = 4 << 20,
        .max = std::int64_t{1} << 40},
       {.name = "dead_letter_action",
        .type = OptionType::kString,
        .default_text = "",
        .help = "Action under `actions:` that gets each record of the dead_letter file too, as its value: one of type "
                "kafka or mqtt with a topic, and no other use. What it has not got is sent later."},
       {.name = "late",
        .type = OptionType::kPath,
        .default_text = "",
        .help = "File that keeps late events, in the same form. Empty: they go to dead_letter."},
       {.name = "queue_messages",
        .type = OptionType::kInteger,
        .default_text = "10000",
        .help = "Most messages between the sources and matching; a full queue pauses the sources.",
        .min = 1,
        .max = 10'000'000},
       {.name = "queue_bytes",
        .type = OptionType::kBytes,
        .default_text = "64MiB",
        .help = "Most bytes between the sources and matching.",
        .min = 65'536},
       {.name = "delivery",
        .type = OptionType::kChoice,
        .default_text = "after_durable",
        .help = "When an action is called: once its call is stored, with all that led to it; or immediate, before, for "
                "the lowest latency. After a crash immediate may call it again, with the same idempotency key.",
        .choices = {"after_durable", "immediate"}},
       {.name = "stop_timeout",
        .type = OptionType::kDuration,
        .default_text = "5s",
        .help = "How long a stop waits for actions to be delivered; what is left stays in the state and goes out after "
                "the next start."},
       {.name = "log_level",
        .type = OptionType::kChoice,
        .default_text = "info",
        .help = "Least severe messages that are logged.",
        .choices = {"trace", "debug", "info", "warn", "error"}}}};
  return table;
}

const OptionTable& reload_table() {
  static const OptionTable table{"reload",
                                 "What a SIGHUP asks of the rule directory.",
                                 {{.name = "require_tests",
                                   .type = OptionType::kBool,
                                   .default_text = "false",
                                   .help = "Run the TEST blocks of the directory, *.test.rules files included; a "
                                           "failing one keeps the old rules running."}}};
  return table;
}

}  // namespace

std::vector<OptionTable> all_option_tables() {
  std::vector<OptionTable> tables{rules_table(),
                                  state::option_table(),
                                  state::journal_option_table(),
                                  state::mirror_option_table(),
                                  engine_table(),
                                  daemon_table(),
                                  reload_table(),
                                  metrics_table()};
  for (auto more : {adapters::option_tables(), actions::option_tables()}) {
    tables.insert(tables.end(), more.begin(), more.end());
  }
  return tables;
}

Settings load_settings(const std::string& file, Diagnostics& diagnostics) {
  Settings settings;
  settings.root = config::load_yaml(file, diagnostics);
  if (has_errors(diagnostics)) return settings;
  const config::Node& root = settings.root;
  // The top level has sections only: a table without rows refuses everything else with a suggestion.
  const OptionTable top{"", "", {}};
  config::read_options(
      &root, top,
      {"rules", "state", "journal", "mirror", "engine", "daemon", "reload", "metrics", "sources", "actions"},
      diagnostics);
  settings.rules = config::read_options(root.find("rules"), rules_table(), {}, diagnostics);
  settings.state = config::read_options(root.find("state"), state::option_table(), {}, diagnostics);
  settings.journal = config::read_options(root.find("journal"), state::journal_option_table(), {}, diagnostics);
  settings.mirror = config::read_options(root.find("mirror"), state::mirror_option_table(), {}, diagnostics);
  if (!has_errors(diagnostics)) state::check_mirror(root.find("mirror"), settings.mirror, diagnostics);
  settings.engine = config::read_options(root.find("engine"), engine_table(), {}, diagnostics);
  settings.daemon = config::read_options(root.find("daemon"), daemon_table(), {}, diagnostics);
  settings.reload = config::read_options(root.find("reload"), reload_table(), {}, diagnostics);
  settings.metrics = config::read_options(root.find("metrics"), metrics_table(), {}, diagnostics);
  if (auto listen = read_listen(settings.metrics.text("listen"))) {
    settings.metrics_listen = *std::move(listen);
  } else {
    diagnostics.push_back(
        root.find("metrics")->find("listen")->value_problem(Severity::kError, std::move(listen).error().message));
  }
  settings.action_schemas = actions::configured_schemas(root.find("actions"), diagnostics);
  if (const std::string& action = settings.daemon.text("dead_letter_action"); !action.empty()) {
    std::string mistake = dead_letter_action_mistake(settings.action_schemas, action);
    if (settings.daemon.text("dead_letter").empty()) mistake = "it needs the file dead_letter, from which it is sent";
    if (!mistake.empty()) {
      diagnostics.push_back(root.find("daemon")
                                ->find("dead_letter_action")
                                ->value_problem(Severity::kError, "dead_letter_action: " + mistake));
    }
  }
  return settings;
}

std::vector<std::unique_ptr<adapters::OpenedSource>> make_sources(const Settings& settings, Diagnostics& diagnostics) {
  std::vector<std::unique_ptr<adapters::OpenedSource>> sources;
  const config::Node* node = settings.root.find("sources");
  if (node == nullptr || node->kind == config::Node::Kind::kNull) return sources;
  if (node->kind != config::Node::Kind::kMap) {
    diagnostics.push_back(node->problem(Severity::kError, "expected a map of source names to their options"));
    return sources;
  }
  for (const auto& [name, options] : node->fields) {
    if (name.find('/') != std::string::npos) {
      diagnostics.push_back(options.problem(Severity::kError, "the name of source " + name + " must not have a slash",
                                            "in positions it parts a source and its topic"));
      continue;
    }
    if (auto source = adapters::open_source(name, options, diagnostics)) sources.push_back(std::move(source));
  }
  return sources;
}

}  // namespace cepd::app
