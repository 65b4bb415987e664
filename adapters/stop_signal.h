#pragma once
#include <chrono>

#include "base/result.h"

namespace cepd::adapters {

/// Closes a file descriptor.
class FileDescriptor {
 public:
  FileDescriptor() = default;
  explicit FileDescriptor(int fd) : fd_(fd) {}
  FileDescriptor(FileDescriptor&& other) noexcept : fd_(other.release()) {}
  FileDescriptor& operator=(FileDescriptor&& other) noexcept;
  ~FileDescriptor() { reset(); }

  int get() const { return fd_; }
  explicit operator bool() const { return fd_ >= 0; }
  void reset();
  int release();

 private:
  int fd_ = -1;
};

/// Ends waits on file descriptors from another thread.
class StopSignal {
 public:
  StopSignal();
  /// From now on stopped() is true and every wait returns at once.
  void stop();
  bool stopped() const;
  /// Waits until `fd` (or nothing, when negative) can be read, stop() was called, or the time is over. True when `fd`
  /// can be read.
  bool wait_readable(int fd, std::chrono::milliseconds limit) const;
  /// Without a time limit.
  bool wait_readable(int fd) const;
  /// The same for a descriptor that can be written, or whose connection was refused.
  bool wait_writable(int fd, std::chrono::milliseconds limit) const;

 private:
  bool wait(int fd, short events, int timeout_ms) const;
  FileDescriptor event_;
};

}  // namespace cepd::adapters
