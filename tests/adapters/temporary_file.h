#pragma once
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>

namespace cepd::test {

/// A file in a directory of its own, which goes with it.
class TemporaryFile {
 public:
  explicit TemporaryFile(std::string_view text) {
    std::string pattern = (std::filesystem::temp_directory_path() / "cepd-adapters-XXXXXX").string();
    directory_ = ::mkdtemp(pattern.data());
    append(text);
  }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  ~TemporaryFile() {
    std::error_code ignored;
    std::filesystem::remove_all(directory_, ignored);
  }

  std::string path() const { return directory_ + "/file"; }
  void append(std::string_view text) const { std::ofstream(path(), std::ios::app | std::ios::binary) << text; }
  /// In place: the same inode, shorter than before or not.
  void overwrite(std::string_view text) const { std::ofstream(path(), std::ios::trunc | std::ios::binary) << text; }
  void rename_away() const { std::filesystem::rename(path(), path() + ".1"); }
  void append_to_renamed(std::string_view text) const {
    std::ofstream(path() + ".1", std::ios::app | std::ios::binary) << text;
  }
  std::string text() const {
    std::ifstream file(path(), std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }

 private:
  std::string directory_;
};

}  // namespace cepd::test
