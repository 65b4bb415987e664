#include "actions/file_tail.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <filesystem>
#include <functional>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

namespace cepd::actions {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kChunk = std::size_t{256} << 10;
constexpr std::string_view kLineBegin = R"({"id":")";
constexpr std::string_view kKeyMember = R"("idempotency_key":")";
constexpr std::string_view kLineEnd = R"("})";
constexpr std::size_t kRotatedFiles = 2;

Error failed(const std::string& what, int code) {
  return {Errc::kIo, what + ": " + std::generic_category().message(code)};
}

/// Bytes `begin` up to `end`, put before what `text` holds.
Status read_before(int fd, std::size_t begin, std::size_t end, std::string& text) {
  std::string chunk(end - begin, '\0');
  for (std::size_t got = 0; got < chunk.size();) {
    const ssize_t count = ::pread(fd, chunk.data() + got, chunk.size() - got, static_cast<off_t>(begin + got));
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return failed("cannot read back", count < 0 ? errno : EIO);
    got += static_cast<std::size_t>(count);
  }
  text.insert(0, chunk);
  return {};
}

void take_key(std::string_view line, std::unordered_set<std::string>& keys) {
  if (!line.ends_with(kLineEnd)) return;
  line.remove_suffix(kLineEnd.size());
  // The member is the last one, and a key holds no quotation mark.
  const std::size_t at = line.rfind('"');
  if (at == std::string_view::npos || !line.substr(0, at + 1).ends_with(kKeyMember)) return;
  keys.emplace(line.substr(at + 1));
}

Status take_keys(const std::string& path, std::unordered_set<std::string>& keys) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
  if (fd < 0) {
    if (errno == ENOENT || errno == ENOTDIR) return {};
    return failed("cannot open " + path, errno);
  }
  const off_t size = ::lseek(fd, 0, SEEK_END);
  Status status;
  std::string rest;  // beginning with the line that the last chunk began in
  std::size_t lines = 0;
  for (auto end = static_cast<std::size_t>(std::max<off_t>(size, 0)); end > 0 && lines < kReadBackLines;) {
    const std::size_t begin = end - std::min(end, kChunk);
    status = read_before(fd, begin, end, rest);
    if (!status) break;
    // The first line of the chunk may begin in the one before it.
    const std::size_t first = begin == 0 ? 0 : rest.find('\n') + 1;
    std::size_t line = first;
    for (std::size_t line_end; (line_end = rest.find('\n', line)) != std::string::npos; line = line_end + 1, ++lines) {
      take_key(std::string_view(rest).substr(line, line_end - line), keys);
    }
    rest.resize(first);
    end = begin;
  }
  ::close(fd);
  return status;
}

bool is_packed(const fs::path& path) {
  static constexpr std::array<std::string_view, 5> kPacked{".gz", ".bz2", ".xz", ".zst", ".lz4"};
  return std::ranges::find(kPacked, path.extension().string()) != kPacked.end();
}

/// Regular files beside `path` whose names begin as its own, the one written to last first.
std::vector<fs::path> rotated(const fs::path& path) {
  std::vector<std::pair<fs::file_time_type, fs::path>> found;
  std::error_code failure;
  const fs::path directory = path.has_parent_path() ? path.parent_path() : fs::path(".");
  for (const fs::directory_entry& entry : fs::directory_iterator(directory, failure)) {
    const std::string name = entry.path().filename().string();
    if (!name.starts_with(path.stem().string()) || name == path.filename() || is_packed(entry.path())) continue;
    std::error_code gone;
    if (!entry.is_regular_file(gone)) continue;
    if (const auto time = entry.last_write_time(gone); !gone) found.emplace_back(time, entry.path());
  }
  std::ranges::sort(found, std::greater());
  std::vector<fs::path> paths;
  for (const auto& [time, file] : found) {
    if (paths.size() < kRotatedFiles) paths.push_back(file);
  }
  return paths;
}

}  // namespace

Result<std::unordered_set<std::string>> written_keys(const std::string& path) {
  std::unordered_set<std::string> keys;
  CEPD_TRY(take_keys(path, keys));
  for (const fs::path& file : rotated(path)) {
    // Another's file, perhaps, that cannot be read.
    static_cast<void>(take_keys(file.string(), keys));
  }
  return keys;
}

Result<std::size_t> cut_torn_line(int fd, std::size_t size) {
  std::string last;
  std::size_t begin = size;
  while (begin > 0 && last.find('\n') == std::string::npos) {
    const std::size_t before = begin - std::min(begin, kChunk);
    if (Status read = read_before(fd, before, begin, last); !read) return std::move(read).error();
    begin = before;
  }
  last.erase(0, last.rfind('\n') + 1);
  if (last.empty() || !(last.starts_with(kLineBegin) || kLineBegin.starts_with(last))) return size;
  if (::ftruncate(fd, static_cast<off_t>(size - last.size())) != 0) return failed("cannot cut off half a line", errno);
  return size - last.size();
}

}  // namespace cepd::actions
