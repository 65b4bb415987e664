#pragma once
#include <string>

#include "base/result.h"

namespace cepd::state {

/// The right to use a state directory: an advisory lock (flock) on the file `cepd.lock` in it, which holds the owner's
/// process id for messages. The kernel drops the lock with the process, so what a dead process left is no obstacle.
class DirectoryLock {
 public:
  /// Errors: kBusy another process (or this one) has it; kIo or kNoSpace the directory cannot be written.
  static Result<DirectoryLock> take(const std::string& directory);

  DirectoryLock(DirectoryLock&& other) noexcept;
  DirectoryLock& operator=(DirectoryLock&& other) = delete;
  ~DirectoryLock();

 private:
  explicit DirectoryLock(int fd) : fd_(fd) {}
  int fd_;
};

}  // namespace cepd::state
