#pragma once
/// Rule files on disk -> checked rules.

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "dsl/check.h"
#include "state/journal.h"

namespace cepd::app {

enum class TestFiles : unsigned char {
  kLeaveOut,  ///< the daemon loads no rule from *.test.rules
  kInclude,
};

struct Loaded {
  std::shared_ptr<const dsl::RuleSet> rules;  ///< null when something is wrong
  Diagnostics diagnostics;
  std::vector<std::string> files;  ///< read, in order of their names
};

/// The file `path`, or the *.rules files of that directory (not below it) in the order of their names. A directory that
/// cannot be read is a diagnostic.
std::vector<std::string> rule_files(const std::string& path, TestFiles test_files, Diagnostics& diagnostics);

/// Nothing, with errno set, when the file cannot be read.
std::optional<std::string> read_rule_file(const std::string& path);

/// The files' names, without the directory, and their texts. A file that cannot be read is a diagnostic.
std::vector<state::RuleText> read_rules(const std::string& path, TestFiles test_files, Diagnostics& diagnostics);

/// What load_rules() makes of them. `path`: where they are from, for messages.
Loaded check_rules(const std::string& path, std::vector<state::RuleText> files,
                   const std::vector<ActionSchema>& actions, const FieldPlan* before);

/// Reads one file, or every *.rules file of a directory (not below it), as one set. A path that cannot be read is a
/// diagnostic. texts: CheckOptions::texts.
Loaded load_rules(const std::string& path, TestFiles test_files, const std::vector<ActionSchema>& actions,
                  const FieldPlan* before, bool texts = false);

}  // namespace cepd::app
