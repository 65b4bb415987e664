#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdint>
#include <exception>
#include <iostream>
#include <limits>

#include "app/commands.h"
#include "base/diagnostic.h"

namespace {

using namespace cepd;
using namespace cepd::app;

constexpr const char* kAbout = "cepd: complex event processing with rules you write yourself";
constexpr const char* kFooter =
    "Exit codes: 0 good, 1 failed, 2 wrong use, 3 bad input lines with --strict.\n"
    "Signals of a running daemon: SIGHUP reloads the rules, SIGTERM drains, saves and ends.\n"
    "`cepd COMMAND --help` shows its options. See docs/rules.md and docs/configuration.md.";

void add_config(CLI::App& command, std::string& config) {
  command.add_option("--config", config, "Configuration file: rules may name the actions it sets up")
      ->type_name("FILE");
}

void add_input(CLI::App& command, std::string& rules, InputArguments& events) {
  command.add_option("--rules", rules, "Rule file or directory")->type_name("FILE|DIR")->required();
  command.add_option("--input", events.input, "JSON lines, or - for standard input")->type_name("FILE")->required();
  command.add_option("--type-field", events.type_field, "Field with the event type")->capture_default_str();
  command.add_option("--time-field", events.time_field, "Field with the event time")->capture_default_str();
  command.add_option("--time-unit", events.time_unit, "Unit of numeric times: s, ms, us or ns")->capture_default_str();
  command.add_option("--max-delay", events.max_delay, "How far out of order events may come")->capture_default_str();
  command.add_option("--state-ttl", events.state_ttl,
                     "Ends partial matches of rules without WITHIN, as engine.state_ttl does");
  command.add_flag("--sort", events.sort, "Order the whole file by event time first");
}

/// What `cepd state` does with the mirror that the configuration names.
void add_mirror_copies(CLI::App& state, StateArguments& arguments) {
  for (const auto& [name, about] :
       {std::pair{"copies", "List the copies in the mirror"},
        std::pair{"restore", "Make an empty state directory hold a copy: the newest whole one, or the one given"}}) {
    CLI::App* command = state.add_subcommand(name, about);
    command->add_option("--config", arguments.config, "Configuration file")->required()->type_name("FILE");
    if (name == std::string_view("restore"))
      command->add_option("copy", arguments.checkpoint, "Number of the checkpoint")->check(CLI::PositiveNumber);
    command->callback([&arguments, name = std::string(name)] { arguments.what = name; });
  }
}

/// One thing that `cepd state` does.
CLI::App* add_state(CLI::App& state, StateArguments& arguments, const char* name, const char* about) {
  CLI::App* command = state.add_subcommand(name, about);
  auto* where = command->add_option_group("where", "Whose state: one of these");
  where->add_option("--config", arguments.config, "Configuration file of the daemon")->type_name("FILE");
  where->add_option("--directory", arguments.directory, "The state directory itself")->type_name("DIR");
  where->require_option(1);
  command->callback([&arguments, name] { arguments.what = name; });
  return command;
}

/// One thing that `cepd dlq` does.
CLI::App* add_dlq(CLI::App& dlq, DlqArguments& arguments, const char* name, const char* about) {
  CLI::App* command = dlq.add_subcommand(name, about);
  command->add_option("--config", arguments.config, "Configuration file of the daemon")->type_name("FILE")->required();
  command->add_flag("--late", arguments.late, "Those of the file of late events (daemon.late)");
  command->callback([&arguments, name] { arguments.what = name; });
  return command;
}

void add_dlq_filters(CLI::App& command, DlqArguments& arguments) {
  command.add_option("--reason", arguments.reason, "Only those refused for this")->type_name("WORD");
  command.add_option("--source", arguments.source, "Only those of this source")->type_name("NAME");
  command.add_option("--after", arguments.after, "Only those with a greater number")->type_name("N");
}

int run(int argc, char** argv) {
  CLI::App cli{kAbout, "cepd"};
  cli.set_version_flag("--version", std::string("cepd " CEPD_VERSION));
  cli.footer(kFooter);
  cli.require_subcommand(1);

  CheckArguments check;
  CLI::App* check_cli = cli.add_subcommand("check", "Check rules (and the configuration) and say what is wrong");
  check_cli->add_option("path", check.path, "Rule file or directory")->type_name("FILE|DIR");
  check_cli->add_option("--config", check.config, "Configuration file; without a path its rule directory is checked")
      ->type_name("FILE");
  check_cli->add_flag("--config-reference", check.config_reference, "Print all configuration options as Markdown");

  check_cli
      ->add_option("--language", check.language,
                   "Print keywords, functions and actions as JSON, or a TextMate grammar for editors")
      ->check(CLI::IsMember({"json", "textmate"}))
      ->type_name("json|textmate");

  FormatArguments format;
  CLI::App* format_cli = cli.add_subcommand("fmt", "Write rule files in their one form; comments stay");
  format_cli->add_option("path", format.paths, "Rule files, directories, or - for standard input to standard output")
      ->type_name("FILE|DIR")
      ->required();
  format_cli->add_flag("--check", format.check, "Write nothing, list the files that differ, and exit with 1");

  TestArguments test;
  CLI::App* test_cli = cli.add_subcommand("test", "Run the TEST blocks of rule files");
  test_cli->add_option("path", test.path, "Rule file or directory")->type_name("FILE|DIR")->required();
  add_config(*test_cli, test.config);

  ReplayArguments replay;
  CLI::App* replay_cli =
      cli.add_subcommand("replay", "Run rules over a file of events, print the matches as JSON lines");
  add_input(*replay_cli, replay.rules, replay.events);
  replay_cli
      ->add_option("--lanes", replay.lanes, "Threads that share the keys; the matches are the same for every number")
      ->check(CLI::Range(1, 64))
      ->capture_default_str();
  replay_cli->add_flag("--costs", replay.costs, "Say at the end what each rule cost: events tested, time, memory");
  replay_cli->add_flag("--strict", replay.strict, "Exit with 3 when there were bad lines");
  std::string events_form = "lines";
  replay_cli->add_option("--events", events_form, "Events of a match as line numbers or whole")
      ->check(CLI::IsMember({"lines", "full"}))
      ->capture_default_str();
  CLI::Option* against = replay_cli->add_option(
      "--against", replay.against, "Back-test: print only the matches that these rules do not have, and theirs");
  against->type_name("FILE|DIR");
  replay_cli->add_flag("--fail-on-change", replay.fail_on_change, "Exit with 1 when a match is new or gone")
      ->needs(against);
  add_config(*replay_cli, replay.config);

  WhyArguments why;
  CLI::App* why_cli = cli.add_subcommand("why", "Say why a rule did not fire for a key in a file of events");
  why_cli->add_option("rule", why.rule, "Its name")->type_name("RULE")->required();
  why_cli->add_option("key", why.key, "u1, user_id=u1, or a=1,b=x; - for a rule without KEY")->type_name("KEY");
  why_cli->add_option("time", why.time, "How things stood then: RFC 3339, or a number as in the input")
      ->type_name("TIME");
  add_input(*why_cli, why.rules, why.events);
  add_config(*why_cli, why.config);

  ExplainArguments explain;
  CLI::App* explain_cli = cli.add_subcommand("explain", "Show what rules become: states, links, key and policy");
  explain_cli->add_option("path", explain.path, "Rule file or directory")->type_name("FILE|DIR")->required();
  explain_cli->add_option("rule", explain.rule, "Only this rule")->type_name("RULE");
  explain_cli->add_flag("--dot", explain.dot, "As a Graphviz graph");
  add_config(*explain_cli, explain.config);

  std::string config;
  CLI::App* run_cli = cli.add_subcommand("run", "Run the daemon");
  run_cli->add_option("--config", config, "Configuration file")->type_name("FILE")->required();
  bool status_json = false;
  CLI::App* status_cli = cli.add_subcommand("status", "Say how the running daemon is: input, sources, actions");
  status_cli->add_option("--config", config, "Configuration file of that daemon")->type_name("FILE")->required();
  status_cli->add_flag("--json", status_json, "As one JSON object");
  std::string wait = "30s";
  CLI::App* reload_cli =
      cli.add_subcommand("reload", "Have the running daemon reload its rules, and report the outcome");
  reload_cli->add_option("--config", config, "Configuration file of that daemon")->type_name("FILE")->required();
  reload_cli->add_option("--wait", wait, "How long to wait for the outcome")->capture_default_str();

  StateArguments state;
  CLI::App* state_cli = cli.add_subcommand("state", "Look at the state of a cepd that does not run, or go back");
  state_cli->require_subcommand(1);
  add_state(*state_cli, state, "list", "List the checkpoints that can be gone back to");
  add_state(*state_cli, state, "verify", "Read everything and say whether it is what was stored");
  add_state(*state_cli, state, "rollback", "Go back to a checkpoint: state, positions, journal position and outbox")
      ->add_option("checkpoint", state.checkpoint, "Its number")
      ->check(CLI::Range(std::int64_t{1}, std::numeric_limits<std::int64_t>::max()))
      ->type_name("N")
      ->required();
  add_state(*state_cli, state, "export", "Write all of it to a file that any machine reads")
      ->add_option("file", state.file, "Must not exist")
      ->type_name("FILE")
      ->required();
  add_state(*state_cli, state, "import", "Make an empty state directory hold what was exported")
      ->add_option("file", state.file, "From `cepd state export`")
      ->type_name("FILE")
      ->required();
  add_mirror_copies(*state_cli, state);
  add_state(*state_cli, state, "stats", "Say how much there is of what");

  DlqArguments dlq;
  CLI::App* dlq_cli = cli.add_subcommand("dlq", "Look at dead letters, and take them once more");
  dlq_cli->require_subcommand(1);
  add_dlq_filters(*add_dlq(*dlq_cli, dlq, "list", "List them: number, time, reason, place, detail"), dlq);
  CLI::App* dlq_show = add_dlq(*dlq_cli, dlq, "show", "Show what is known of some, with the original bytes");
  dlq_show->add_option("number", dlq.numbers, "As `list` says")->type_name("N")->required();
  dlq_show->add_flag("--raw", dlq.raw, "The original bytes alone, as they came");
  CLI::App* dlq_replay =
      add_dlq(*dlq_cli, dlq, "replay", "Print the original events, one a line, or give them to a running daemon");
  dlq_replay->add_option("number", dlq.numbers, "As `list` says; all of them without")->type_name("N");
  dlq_replay->add_option("--to", dlq.to, "Post them to this http source of the configuration, or to a URL")
      ->type_name("SOURCE|URL");
  add_dlq_filters(*dlq_replay, dlq);

  // CLI11 would only say that a command is missing.
  std::vector<std::string> names;
  for (const CLI::App* command : cli.get_subcommands({})) names.push_back(command->get_name());
  if (argc > 1 && argv[1][0] != '-' && std::find(names.begin(), names.end(), argv[1]) == names.end()) {
    std::cerr << "cepd: unknown command " << argv[1] << "\n";
    if (const std::string hint = did_you_mean(argv[1], names); !hint.empty()) std::cerr << "  " << hint << "\n";
    return kWrongUse;
  }
  try {
    cli.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return cli.exit(error) == 0 ? kGood : kWrongUse;
  }
  try {
    if (check_cli->parsed()) return check_command(check);
    if (format_cli->parsed()) return format_command(format);
    if (test_cli->parsed()) return test_command(test);
    if (replay_cli->parsed()) {
      replay.full_events = events_form == "full";
      return replay_command(replay);
    }
    if (why_cli->parsed()) return why_command(why);
    if (explain_cli->parsed()) return explain_command(explain);
    if (state_cli->parsed()) return state_command(state);
    if (dlq_cli->parsed()) return dlq_command(dlq);
    if (run_cli->parsed()) return run_command(config);
    if (status_cli->parsed()) return status_command(config, status_json);
    const auto longest = parse_duration(wait);
    if (!longest) {
      std::cerr << "cepd reload: --wait is a duration such as 30s\n";
      return kWrongUse;
    }
    return reload_command(config, *longest);
  } catch (const std::exception& error) {
    // What is expected to fail comes as a Result; this is memory or a fault of cepd.
    std::cerr << "cepd: " << error.what() << "\n";
    return kFailed;
  }
}

}  // namespace

int main(int argc, char** argv) {
  const int code = run(argc, argv);
  // A full disk or a closed pipe must not look like a good result.
  if (std::cout.flush()) return code;
  std::cerr << "cepd: the output could not be written\n";
  return code == kGood ? kFailed : code;
}
