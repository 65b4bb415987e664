#include "state/directory_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <string_view>
#include <utility>

#include "state/system_error.h"

namespace cepd::state {
namespace {

/// "process 1234", or "another process" while the owner has not written its id yet.
std::string owner(int fd) {
  std::array<char, 24> buffer{};
  const ssize_t size = ::pread(fd, buffer.data(), buffer.size(), 0);
  long pid = 0;
  if (size <= 0 || std::from_chars(buffer.data(), buffer.data() + size, pid).ec != std::errc{} || pid <= 0)
    return "another process";
  return "process " + std::to_string(pid);
}

}  // namespace

Result<DirectoryLock> DirectoryLock::take(const std::string& directory) {
  const std::string path = directory + "/cepd.lock";
  const int fd = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
  if (fd < 0) return system_error("cannot write in the state directory " + directory, errno);
  DirectoryLock lock(fd);
  while (::flock(fd, LOCK_EX | LOCK_NB) != 0) {
    if (errno == EINTR) continue;
    if (errno == EWOULDBLOCK)
      return error(Errc::kBusy, "the state directory " + directory + " is in use by " + owner(fd) +
                                    ": stop that cepd, or give this one another state.directory");
    return system_error("cannot lock " + path, errno);
  }
  const std::string pid = std::to_string(::getpid()) + "\n";
  if (::ftruncate(fd, 0) != 0 || ::pwrite(fd, pid.data(), pid.size(), 0) != static_cast<ssize_t>(pid.size()))
    return system_error("cannot write " + path, errno);
  return lock;
}

DirectoryLock::DirectoryLock(DirectoryLock&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}

DirectoryLock::~DirectoryLock() {
  if (fd_ >= 0) ::close(fd_);
}

}  // namespace cepd::state
