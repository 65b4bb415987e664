#pragma once
/// Where copies of checkpoints are kept outside of the machine: named blobs, and a list of the copies that are whole.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"

namespace cepd::state {

struct Blob {
  std::string name, bytes;
};

/// For one thread. Errors of all calls: kUnavailable: it does not answer, or not in time; kRejected: it refuses the
/// user, the password, its certificate is not trusted, or it has no room; what was asked may have been done in part.
class MirrorStore {
 public:
  virtual ~MirrorStore() = default;

  /// Puts the blobs, over what has their names. They may go by themselves after some hours unless published.
  virtual Status write(std::span<const Blob> blobs) = 0;
  /// All or nothing: lists copy `number`, puts its manifest and keeps the blobs of these names for good.
  virtual Status publish(std::uint64_t number, const Blob& manifest, std::span<const std::string> names) = 0;
  /// The numbers that are listed, rising.
  virtual Result<std::vector<std::uint64_t>> numbers() = 0;
  /// In the order of the names; none where there is no such blob.
  virtual Result<std::vector<std::optional<std::string>>> read(std::span<const std::string> names) = 0;
  /// Takes `number` off the list, and then these blobs away.
  virtual Status remove(std::uint64_t number, std::span<const std::string> names) = 0;
};

}  // namespace cepd::state
