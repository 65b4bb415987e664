#include "config/fill_in.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <system_error>

namespace cepd::config {
namespace {

/// A secret is a password, a token or a certificate; anything larger is the wrong file.
constexpr std::size_t kMaxSecretBytes = 64U << 10;

bool is_variable_name(std::string_view name) {
  return !name.empty() && !(name.front() >= '0' && name.front() <= '9') && std::ranges::all_of(name, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  });
}

Result<std::string> environment_variable(const std::string& name) {
  if (!is_variable_name(name))
    return error(Errc::kInvalidArgument, "expected a variable's name in ${env:" + name + "}");
  const char* value = std::getenv(name.c_str());
  if (value == nullptr) return error(Errc::kNotFound, "environment variable " + name + " is not set");
  return std::string(value);
}

Result<std::string> secret_file(const std::string& path, const std::string& directory) {
  if (path.empty()) return error(Errc::kInvalidArgument, "expected a path in ${file:}");
  auto content = read_file((std::filesystem::path(directory) / path).string(), kMaxSecretBytes);
  // Editors and `echo` end a file with a line end that is no part of the secret.
  if (content) content->erase(content->find_last_not_of("\r\n") + 1);
  return content;
}

Result<std::string> look_up(std::string_view reference, const std::string& directory) {
  if (reference.starts_with("env:")) return environment_variable(std::string(reference.substr(4)));
  if (reference.starts_with("file:")) return secret_file(std::string(reference.substr(5)), directory);
  return error(Errc::kInvalidArgument, "expected ${env:NAME} or ${file:/path}; a plain ${ is written $${");
}

}  // namespace

Result<FilledIn> fill_in(std::string_view scalar, const std::string& directory) {
  FilledIn filled;
  for (std::size_t at = 0; at < scalar.size();) {
    const std::string_view rest = scalar.substr(at);
    if (rest.starts_with("$${")) {
      filled.text += "${";
      at += 3;
    } else if (rest.starts_with("${")) {
      const std::size_t end = rest.find('}');
      if (end == std::string_view::npos) return error(Errc::kInvalidArgument, "expected } after ${");
      auto value = look_up(rest.substr(2, end - 2), directory);
      if (!value) return std::move(value).error();
      filled.text += *value;
      filled.from_secret = true;
      at += end + 1;
    } else {
      filled.text += scalar[at++];
    }
  }
  return filled;
}

Result<std::string> read_file(const std::string& path, std::size_t max_bytes) {
  const auto failed = [&] {
    return error(Errc::kIo, "cannot read " + path + ": " + std::generic_category().message(errno));
  };
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "rbe"), &std::fclose);
  if (!file) return failed();
  std::string content;
  char block[16384];
  while (const std::size_t got = std::fread(block, 1, sizeof block, file.get())) {
    content.append(block, got);
    if (content.size() > max_bytes)
      return error(Errc::kInvalidArgument, path + " has more than " + std::to_string(max_bytes) + " bytes");
  }
  if (std::ferror(file.get()) != 0) return failed();
  return content;
}

}  // namespace cepd::config
