#pragma once
/// `${env:NAME}` and `${file:path}` in configuration values.

#include <string>
#include <string_view>

#include "base/result.h"

namespace cepd::config {

struct FilledIn {
  std::string text;
  bool from_secret = false;  ///< something was filled in
};

/// Replaces `${env:NAME}` by the environment variable, `${file:path}` by the file's content without its last line ends
/// (a relative path is taken from `directory`), and `$${` by `${`. What is filled in is not looked at again.
/// Errors name the variable or file, never a value.
Result<FilledIn> fill_in(std::string_view scalar, const std::string& directory);

/// The whole file. Errors: kIo with the system's text, kInvalidArgument when it has more than `max_bytes`.
Result<std::string> read_file(const std::string& path, std::size_t max_bytes);

}  // namespace cepd::config
