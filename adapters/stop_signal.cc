#include "adapters/stop_signal.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <utility>

#include "base/check.h"

namespace cepd::adapters {

FileDescriptor& FileDescriptor::operator=(FileDescriptor&& other) noexcept {
  if (this != &other) {
    reset();
    fd_ = other.release();
  }
  return *this;
}

void FileDescriptor::reset() {
  if (fd_ >= 0) ::close(fd_);
  fd_ = -1;
}

int FileDescriptor::release() { return std::exchange(fd_, -1); }

StopSignal::StopSignal() : event_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) { CEPD_CHECK(event_); }

void StopSignal::stop() {
  const std::uint64_t one = 1;
  CEPD_CHECK(::write(event_.get(), &one, sizeof one) == sizeof one);
}

bool StopSignal::stopped() const {
  pollfd p{event_.get(), POLLIN, 0};
  return ::poll(&p, 1, 0) > 0;
}

bool StopSignal::wait_readable(int fd, std::chrono::milliseconds limit) const {
  return wait(fd, POLLIN, static_cast<int>(limit.count()));
}

bool StopSignal::wait_readable(int fd) const { return wait(fd, POLLIN, -1); }

bool StopSignal::wait_writable(int fd, std::chrono::milliseconds limit) const {
  return wait(fd, POLLOUT, static_cast<int>(limit.count()));
}

bool StopSignal::wait(int fd, short events, int timeout_ms) const {
  // poll() passes over negative descriptors. An interrupted wait is a short one: callers look again.
  std::array<pollfd, 2> polled{{{event_.get(), POLLIN, 0}, {fd, events, 0}}};
  return ::poll(polled.data(), polled.size(), timeout_ms) > 0 && polled[0].revents == 0 && polled[1].revents != 0;
}

}  // namespace cepd::adapters
