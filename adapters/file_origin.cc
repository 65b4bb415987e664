#include "adapters/file_origin.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <sstream>
#include <utility>

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace cepd::adapters {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kLongestBeginning = 4096;

FileDescriptor open_to_read(const std::string& path) {
  return FileDescriptor(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
}

/// Up to `size` bytes of the file's beginning; fewer where it has fewer.
std::string beginning(int fd, std::size_t size) {
  std::string bytes(size, '\0');
  std::size_t have = 0;
  while (have < size) {
    const ssize_t got = ::pread(fd, bytes.data() + have, size - have, static_cast<off_t>(have));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    have += static_cast<std::size_t>(got);
  }
  bytes.resize(have);
  return bytes;
}

/// Calls `visit` for the regular files of the directory that `path` is in.
template <class Visit>
void each_beside(const std::string& path, const Visit& visit) {
  const fs::path directory = fs::path(path).parent_path();
  std::error_code failed;
  for (fs::directory_iterator at(directory.empty() ? "." : directory, failed), end; !failed && at != end;
       at.increment(failed)) {
    std::error_code unknown;
    if (at->is_regular_file(unknown)) visit(*at);
  }
}

enum class Likeness : unsigned char { kNone, kBeginning, kSame };

Likeness likeness(int fd, const FileOrigin& origin) {
  struct stat about {};
  if (::fstat(fd, &about) != 0 || !S_ISREG(about.st_mode)) return Likeness::kNone;
  if (static_cast<std::uint64_t>(about.st_size) < origin.length) return Likeness::kNone;
  const std::string bytes = beginning(fd, origin.length);
  if (XXH3_64bits(bytes.data(), bytes.size()) != origin.hash) return Likeness::kNone;
  return about.st_ino == origin.inode ? Likeness::kSame : Likeness::kBeginning;
}

}  // namespace

std::optional<FileOrigin> FileOrigin::of(int fd, std::int64_t first) {
  struct stat about {};
  if (::fstat(fd, &about) != 0 || !S_ISREG(about.st_mode)) return std::nullopt;
  std::string bytes = beginning(fd, kLongestBeginning);
  const std::size_t text = bytes.find_first_not_of(" \t\r\n");
  if (text == std::string::npos) return std::nullopt;
  if (const std::size_t end = bytes.find('\n', text); end != std::string::npos) bytes.resize(end + 1);
  return FileOrigin{first, about.st_ino, bytes.size(), XXH3_64bits(bytes.data(), bytes.size())};
}

std::optional<FileOrigin> FileOrigin::parse(std::string_view text) {
  std::istringstream in{std::string(text)};
  FileOrigin origin;
  in >> origin.first >> origin.inode >> origin.length >> origin.hash;
  if (!in || in.peek() != std::istringstream::traits_type::eof() || origin.length > kLongestBeginning)
    return std::nullopt;
  return origin;
}

std::string FileOrigin::text() const {
  return std::to_string(first) + ' ' + std::to_string(inode) + ' ' + std::to_string(length) + ' ' +
         std::to_string(hash);
}

std::optional<FoundFile> find_file(const std::string& path, const FileOrigin& origin) {
  std::optional<FoundFile> found;
  Likeness best = Likeness::kNone;
  const auto look_at = [&](const std::string& name, bool has_name) {
    FileDescriptor file = open_to_read(name);
    if (!file) return;
    const Likeness like = likeness(file.get(), origin);
    if (like <= best) return;
    best = like;
    found = FoundFile{std::move(file), has_name};
  };
  look_at(path, true);
  each_beside(path, [&](const fs::directory_entry& each) {
    if (best != Likeness::kSame) look_at(each.path().string(), false);
  });
  return found;
}

std::vector<std::string> written_since(const std::string& path, int fd) {
  std::vector<std::string> found;
  struct stat known {};
  if (::fstat(fd, &known) != 0) return found;
  const std::string name = fs::path(path).filename().string();
  each_beside(path, [&](const fs::directory_entry& each) {
    const std::string file = each.path().filename().string();
    struct stat about {};
    if (file == name || !file.starts_with(name) || ::stat(each.path().c_str(), &about) != 0) return;
    const auto when = [](const struct stat& of) { return std::pair(of.st_mtim.tv_sec, of.st_mtim.tv_nsec); };
    if (about.st_ino != known.st_ino && when(about) > when(known)) found.push_back(each.path().string());
  });
  std::sort(found.begin(), found.end());
  return found;
}

}  // namespace cepd::adapters
