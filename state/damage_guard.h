#pragma once
/// LMDB trusts the pages that it reads: a damaged one, a file that was cut off or a disk that fails under the map ends
/// the process by a signal. With the guard it ends with a message and exit code 1 instead.

#include <string>

namespace cepd::state {

/// From now on a SIGBUS, SIGSEGV, SIGFPE or SIGABRT in a thread that is at work in a file (UsingFile) says which file
/// is damaged, and `advice`, and ends the process at once; what was not committed is not there. Other such signals do
/// what they did. Call it once, before other threads.
void guard_damaged_files(std::string advice);

/// This thread is at work in the file while it lives. Nests. The path outlives it.
class UsingFile {
 public:
  explicit UsingFile(const std::string& path);
  ~UsingFile();
  UsingFile(const UsingFile&) = delete;
  UsingFile& operator=(const UsingFile&) = delete;

 private:
  const char* before_;
};

}  // namespace cepd::state
