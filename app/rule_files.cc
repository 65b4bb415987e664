#include "app/rule_files.h"

#include <malloc.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <optional>
#include <system_error>
#include <tuple>

#include "dsl/parse.h"

namespace cepd::app {
namespace {

namespace fs = std::filesystem;

Diagnostic unreadable(const std::string& path, const std::string& why) {
  Diagnostic diagnostic;
  diagnostic.file = path;
  diagnostic.message = why;
  return diagnostic;
}

/// Gives what the syntax trees took back to the system: they are thirty times as large as the text, and what is made of
/// them stands behind them in the heap. Not for small sets: it looks through all that the process has freed.
void release(std::vector<dsl::ast::File> trees) {
  std::size_t bytes = 0;
  for (const dsl::ast::File& file : trees) bytes += file.text.size();
  trees = {};
  constexpr std::size_t kLarge = 256 << 10;
  if (bytes > kLarge) malloc_trim(0);
}

bool is_test_file(const std::string& name) { return name.ends_with(".test.rules"); }

}  // namespace

std::optional<std::string> read_rule_file(const std::string& path) {
  std::error_code failed;
  if (fs::is_directory(path, failed)) {
    errno = EISDIR;
    return std::nullopt;
  }
  std::ifstream in(path, std::ios::binary);
  if (!in) return std::nullopt;
  std::string text;
  std::size_t size = 0;
  do {
    text.resize(std::max<std::size_t>(size * 2, 1 << 14));
    in.read(text.data() + size, static_cast<std::streamsize>(text.size() - size));
    size += static_cast<std::size_t>(in.gcount());
  } while (in);
  if (in.bad()) return std::nullopt;
  text.resize(size);
  text.shrink_to_fit();
  return text;
}

std::vector<std::string> rule_files(const std::string& path, TestFiles test_files, Diagnostics& diagnostics) {
  std::error_code failed;
  if (!fs::is_directory(path, failed)) return {path};
  std::vector<std::string> files;
  for (const fs::directory_entry& entry : fs::directory_iterator(path, failed)) {
    const std::string name = entry.path().filename().string();
    // A name with a dot in front is an editor's or a half-copied file.
    if (name.starts_with('.') || !name.ends_with(".rules")) continue;
    // A link that leads nowhere is a rule file that cannot be read; what is no file (a pipe) is none.
    std::error_code unknown;
    const fs::file_type type = entry.status(unknown).type();
    if (type != fs::file_type::regular && type != fs::file_type::not_found) continue;
    if (test_files == TestFiles::kLeaveOut && is_test_file(name)) continue;
    files.push_back(entry.path().string());
  }
  if (failed) diagnostics.push_back(unreadable(path, "cannot read the rule directory: " + failed.message()));
  std::sort(files.begin(), files.end());
  return files;
}

namespace {

/// Checks what was parsed as one set. What did parse is checked all the same where something did not: all mistakes of a
/// set come in one go.
void check(Loaded& loaded, std::vector<dsl::ast::File> trees, const std::vector<ActionSchema>& actions,
           const FieldPlan* before, bool texts) {
  const bool readable = !has_errors(loaded.diagnostics);
  dsl::Checked checked = dsl::check(trees, {actions, texts}, before);
  loaded.diagnostics.insert(loaded.diagnostics.end(), checked.diagnostics.begin(), checked.diagnostics.end());
  std::stable_sort(loaded.diagnostics.begin(), loaded.diagnostics.end(), [](const Diagnostic& a, const Diagnostic& b) {
    return std::tie(a.file, a.line, a.column) < std::tie(b.file, b.line, b.column);
  });
  if (readable) loaded.rules = std::move(checked.rules);
  release(std::move(trees));
}

void parse(const std::string& file, std::string text, Loaded& loaded, std::vector<dsl::ast::File>& trees) {
  dsl::Parsed parsed = dsl::parse(file, std::move(text));
  loaded.diagnostics.insert(loaded.diagnostics.end(), parsed.diagnostics.begin(), parsed.diagnostics.end());
  trees.push_back(std::move(parsed.file));
  loaded.files.push_back(file);
}

Diagnostic unreadable_file(const std::string& file) {
  return unreadable(file, "cannot read the rule file: " + std::string(std::strerror(errno)));
}

}  // namespace

Loaded load_rules(const std::string& path, TestFiles test_files, const std::vector<ActionSchema>& actions,
                  const FieldPlan* before, bool texts) {
  Loaded loaded;
  std::vector<dsl::ast::File> trees;
  for (const std::string& file : rule_files(path, test_files, loaded.diagnostics)) {
    if (std::optional<std::string> text = read_rule_file(file)) {
      parse(file, *std::move(text), loaded, trees);
    } else {
      loaded.diagnostics.push_back(unreadable_file(file));
      trees.push_back(dsl::unreadable(file));
    }
  }
  check(loaded, std::move(trees), actions, before, texts);
  return loaded;
}

std::vector<state::RuleText> read_rules(const std::string& path, TestFiles test_files, Diagnostics& diagnostics) {
  std::vector<state::RuleText> files;
  for (const std::string& file : rule_files(path, test_files, diagnostics)) {
    std::string name = fs::path(file).filename().string();
    if (std::optional<std::string> text = read_rule_file(file)) {
      files.push_back({std::move(name), *std::move(text)});
    } else {
      diagnostics.push_back(unreadable_file(file));
    }
  }
  return files;
}

Loaded check_rules(const std::string& path, std::vector<state::RuleText> files,
                   const std::vector<ActionSchema>& actions, const FieldPlan* before) {
  Loaded loaded;
  std::vector<dsl::ast::File> trees;
  std::error_code failed;
  const bool one_file = fs::is_regular_file(path, failed);
  for (state::RuleText& file : files) {
    parse(one_file ? path : (fs::path(path) / file.name).string(), std::move(file.text), loaded, trees);
  }
  check(loaded, std::move(trees), actions, before, false);
  return loaded;
}

}  // namespace cepd::app
