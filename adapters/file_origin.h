#pragma once
/// Which of the files that a name stood for over time lines were read from: after a rotation line numbers go on, so
/// that a number alone does not say where to go on.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "adapters/stop_signal.h"

namespace cepd::adapters {

/// A file is known by how it begins; its inode tells files that begin alike apart.
struct FileOrigin {
  std::int64_t first = 0;  ///< number of its first line
  std::uint64_t inode = 0;
  std::uint64_t length =
      0;                   ///< bytes of its beginning: up to the end of the first line that is not blank, 4096 at most
  std::uint64_t hash = 0;  ///< of these

  /// Of an open file with a line that is not blank; none for what is no regular file or cannot be read.
  static std::optional<FileOrigin> of(int fd, std::int64_t first);
  /// What text() gave; none for anything else.
  static std::optional<FileOrigin> parse(std::string_view text);
  std::string text() const;
};

struct FoundFile {
  FileDescriptor file;
  bool has_name = false;  ///< it is what `path` stands for now
};

/// The file where it is now: `path`, or another name in that directory. None when it is not there any more.
std::optional<FoundFile> find_file(const std::string& path, const FileOrigin& origin);

/// Files beside `path`, with names that begin with its name, that were written to after the open file `fd` was and are
/// neither of the two: what was rotated in between, or copies.
std::vector<std::string> written_since(const std::string& path, int fd);

}  // namespace cepd::adapters
