#pragma once
/// The subcommands of `cepd`. Each returns its exit code.

#include <cstdint>
#include <string>
#include <vector>

#include "app/file_run.h"
#include "base/time.h"

namespace cepd::app {

enum ExitCode : int {
  kGood = 0,
  kFailed = 1,  ///< rules with errors, failed tests, `replay --fail-on-change`, a daemon that could not start or reload
  kWrongUse = 2,  ///< options or arguments that make no sense
  kBadInput = 3,  ///< `replay --strict`: the input had bad lines
};

struct CheckArguments {
  std::string path;    // file or directory; empty: the one the configuration names
  std::string config;  // may be empty
  bool config_reference = false;
  std::string language;  // json or textmate: print the words of the language and check nothing
};
int check_command(const CheckArguments& arguments);

struct FormatArguments {
  std::vector<std::string> paths;  // files, directories, or - for standard input
  bool check = false;
};
int format_command(const FormatArguments& arguments);

struct TestArguments {
  std::string path;
  std::string config;
};
int test_command(const TestArguments& arguments);

struct ReplayArguments {
  std::string rules, config;
  std::string against;  // the older rules of a back-test; may be empty
  InputArguments events;
  bool strict = false, full_events = false, fail_on_change = false, costs = false;
  std::size_t lanes = 1;
};
int replay_command(const ReplayArguments& arguments);

struct WhyArguments {
  std::string rule, key, time;  // key and time may be empty
  std::string rules, config;
  InputArguments events;
};
int why_command(const WhyArguments& arguments);

struct ExplainArguments {
  std::string path, rule, config;
  bool dot = false;
};
int explain_command(const ExplainArguments& arguments);

struct StateArguments {
  std::string what;               // list, verify, rollback, export, import, restore, stats
  std::string config, directory;  // one of them is empty
  std::string file;               // of an export or import
  std::uint64_t checkpoint = 0;   // to go back to; to restore, 0: the newest whole one
};
int state_command(const StateArguments& arguments);

struct DlqArguments {
  std::string what;  // list, show, replay
  std::string config;
  std::vector<std::uint64_t> numbers;  // of records; empty: all
  std::string reason, source;          // only these; may be empty
  std::uint64_t after = 0;             // only greater numbers
  std::string to;                      // of a replay: a URL or an http source; empty: standard output
  bool late = false, raw = false;
};
int dlq_command(const DlqArguments& arguments);

int run_command(const std::string& config);
int status_command(const std::string& config, bool json);
int reload_command(const std::string& config, Micros wait);

}  // namespace cepd::app
