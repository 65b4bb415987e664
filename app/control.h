#pragma once
/// How `cepd reload` finds the running daemon and learns the outcome: <run_directory>/cepd.pid, locked while the daemon
/// lives, and <run_directory>/reload, written after every reload.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "base/result.h"

namespace cepd::app {

struct ReloadOutcome {
  std::uint64_t number = 0;  ///< of reloads since the daemon started
  bool good = false;
  std::string text;  ///< what happened, or the diagnostics; may have several lines
};

/// The daemon's side.
class RunDirectory {
 public:
  /// Makes the directory where it is missing. Errors: kBusy another cepd runs with it; kIo.
  static Result<RunDirectory> take(const std::string& directory);
  RunDirectory(RunDirectory&&) noexcept;
  RunDirectory& operator=(RunDirectory&&) = delete;
  ~RunDirectory();

  Status write(const ReloadOutcome& outcome);

 private:
  RunDirectory(std::string directory, int lock) : directory_(std::move(directory)), lock_(lock) {}
  std::string directory_;
  int lock_ = -1;
};

/// The other side. Errors: kNotFound no daemon runs with this directory.
Result<int> running_process(const std::string& directory);
std::optional<ReloadOutcome> last_outcome(const std::string& directory);

}  // namespace cepd::app
