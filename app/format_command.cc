/// cepd fmt: rule files in their one form.

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>

#include "app/commands.h"
#include "app/rule_files.h"
#include "app/rule_messages.h"
#include "dsl/format.h"

namespace cepd::app {
namespace {

namespace fs = std::filesystem;

/// By rename: a reader, or a daemon that reloads, sees the old file or the new one, whole.
bool replace_file(const std::string& path, const std::string& text) {
  std::error_code failed;
  const fs::path target = fs::canonical(path, failed);  // a link stays one
  if (!failed) {
    const fs::path fresh = target.parent_path() / ("." + target.filename().string() + ".new");
    {
      std::ofstream out(fresh, std::ios::binary | std::ios::trunc);
      out << text;
      if (!out.flush()) failed = std::error_code(errno, std::generic_category());
    }
    if (!failed) fs::permissions(fresh, fs::status(target).permissions(), failed);
    if (!failed) fs::rename(fresh, target, failed);
    std::error_code gone;
    if (failed) fs::remove(fresh, gone);
  }
  if (failed) std::cerr << "cepd fmt: cannot write " << path << ": " << failed.message() << "\n";
  return !failed;
}

/// False when the file could not be formatted, or with `check` is not.
bool format_file(const std::string& path, bool check) {
  const std::optional<std::string> text = read_rule_file(path);
  if (!text) {
    std::cerr << "cepd fmt: cannot read " << path << ": " << std::strerror(errno) << "\n";
    return false;
  }
  const dsl::Formatted formatted = dsl::format_rules(path, *text);
  print_diagnostics(formatted.diagnostics);
  if (has_errors(formatted.diagnostics)) return false;
  if (formatted.text == *text) return true;
  if (!check) return replace_file(path, formatted.text);
  std::cout << path << "\n";
  return false;
}

bool format_input(bool check) {
  const std::string text{std::istreambuf_iterator<char>(std::cin), std::istreambuf_iterator<char>()};
  const dsl::Formatted formatted = dsl::format_rules("-", text);
  print_diagnostics(formatted.diagnostics);
  if (has_errors(formatted.diagnostics)) return false;
  if (check) return formatted.text == text;
  std::cout << formatted.text;
  return true;
}

}  // namespace

int format_command(const FormatArguments& arguments) {
  bool good = true;
  for (const std::string& path : arguments.paths) {
    if (path == "-") {
      good &= format_input(arguments.check);
      continue;
    }
    Diagnostics diagnostics;
    for (const std::string& file : rule_files(path, TestFiles::kInclude, diagnostics)) {
      good &= format_file(file, arguments.check);
    }
    print_diagnostics(diagnostics);
    good &= !has_errors(diagnostics);
  }
  return good ? kGood : kFailed;
}

}  // namespace cepd::app
