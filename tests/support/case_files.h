#pragma once
/// The data cases of the language: every tests/cases/<topic>/<case>.test.rules.

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

namespace cepd::test {

inline std::vector<std::string> case_files() {
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(CEPD_SOURCE_DIR "/tests/cases")) {
    if (entry.path().string().ends_with(".test.rules")) files.push_back(entry.path().string());
  }
  std::sort(files.begin(), files.end());
  return files;
}

}  // namespace cepd::test
