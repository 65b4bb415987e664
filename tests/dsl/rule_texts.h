#pragma once
/// The rule files of the repository, as texts to try things on.

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "dsl/parse.h"

namespace cepd::dsl::testing {

inline std::string file_text(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream out;
  out << in.rdbuf();
  return out.str();
}

/// All rule files of the repository but those that are wrong on purpose.
inline std::vector<std::string> rule_texts() {
  std::vector<std::string> out;
  for (const char* folder : {"rules", "tests/cases"}) {
    const auto root = std::filesystem::path(CEPD_SOURCE_DIR) / folder;
    if (!std::filesystem::exists(root)) continue;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(root)) {
      if (entry.path().extension() != ".rules") continue;
      std::string text = file_text(entry.path());
      if (parse("x.rules", text).diagnostics.empty()) out.push_back(std::move(text));
    }
  }
  return out;
}

}  // namespace cepd::dsl::testing
