#pragma once
/// State on the disk as the daemon has it: LMDB, group commits and checkpoints.

#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>

#include "base/clock.h"
#include "state/checkpoints.h"
#include "state/committer.h"
#include "state/lmdb_backend.h"

namespace cepd::bench {

/// A directory of its own for the environment.
class Store {
 public:
  Store() {
    std::string name = (std::filesystem::temp_directory_path() / "cepd-bench-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) std::abort();
    directory_ = name;
    auto lock = state::DirectoryLock::take(directory_);
    backend_ = state::open_lmdb({.directory = directory_}, std::move(lock.value())).value();
    checkpoints_ = state::Checkpoints::open(*backend_, {}, {}, system_clock()).value();
    committer_ = std::make_unique<state::Committer>(*backend_, state::CommitterOptions(), state::CommitterCallbacks(),
                                                    checkpoints_.get());
  }
  ~Store() {
    committer_.reset();
    backend_.reset();
    std::filesystem::remove_all(directory_);
  }
  Store(const Store&) = delete;
  Store& operator=(const Store&) = delete;

  state::StateBackend& backend() { return *backend_; }
  state::Checkpoints& checkpoints() { return *checkpoints_; }
  state::Committer& committer() { return *committer_; }

 private:
  std::string directory_;
  std::unique_ptr<state::StateBackend> backend_;
  std::unique_ptr<state::Checkpoints> checkpoints_;
  std::unique_ptr<state::Committer> committer_;
};

}  // namespace cepd::bench
