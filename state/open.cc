#include "state/open.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <filesystem>
#include <system_error>

#include "state/directory_lock.h"
#include "state/layout.h"
#include "state/lmdb_backend.h"
#include "state/system_error.h"

namespace cepd::state {
namespace {

namespace fs = std::filesystem;

/// Makes the directory's entry for itself and those in it survive a power cut; LMDB syncs its files, not where they
/// stand.
Status sync_directory(const fs::path& directory) {
  const int fd = ::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  // EACCES: a parent that may be passed through and not read was there before us.
  if (fd < 0) return errno == EACCES ? Status{} : system_error("cannot sync " + directory.string(), errno);
  const int number = ::fsync(fd) == 0 ? 0 : errno;
  ::close(fd);
  // EINVAL: the file system cannot sync directories, and has nothing to lose then.
  if (number != 0 && number != EINVAL) return system_error("cannot sync " + directory.string(), number);
  return {};
}

Status make_directory(const fs::path& directory) {
  std::error_code code;
  if (fs::is_directory(directory, code)) return {};
  if (!fs::create_directories(directory, code) && code)
    return system_error("cannot make the state directory " + directory.string(), code.value());
  // What people do stands in the events: not for everyone's eyes.
  fs::permissions(directory, fs::perms::owner_all | fs::perms::group_read | fs::perms::group_exec, code);
  if (code) return system_error("cannot set the permissions of " + directory.string(), code.value());
  return sync_directory(directory.parent_path().empty() ? fs::path(".") : directory.parent_path());
}

Result<bool> is_empty(StateBackend& backend) {
  for (int i = 0; i < kSpaceCount; ++i) {
    bool found = false;
    const Status scanned = backend.scan(static_cast<Space>(i), {}, [&](std::string_view, std::string_view) -> Status {
      found = true;
      return error(Errc::kInternal, "stop");  // one is enough
    });
    if (found) return false;
    CEPD_TRY(scanned);
  }
  return true;
}

/// Whether a directory without any state is given the version.
enum class Versions : std::uint8_t { kNewOrThis, kOnlyThis };

Status check_format_version(StateBackend& backend, const std::string& directory, Versions versions) {
  auto stored = backend.get(Space::kMeta, kFormatVersionKey);
  if (!stored) return std::move(stored).error();
  if (!*stored) {
    if (versions == Versions::kOnlyThis)
      return error(Errc::kCorrupt, "the state in " + directory + " has no format version: it is empty, or an import " +
                                       "that was cut off");
    auto empty = is_empty(backend);
    if (!empty) return std::move(empty).error();
    if (!*empty)
      return error(Errc::kCorrupt, "the state in " + directory + " has no format version but is not empty; put it " +
                                       "back from a copy, or move it away to start with empty state");
    WriteBatch batch;
    batch.put(Space::kMeta, std::string(kFormatVersionKey), std::to_string(kFormatVersion));
    return backend.commit(batch);
  }
  const std::string& text = **stored;
  std::uint32_t version = 0;
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), version);
  if (status != std::errc{} || end != text.data() + text.size())
    return error(Errc::kCorrupt, "the state in " + directory + " has a format version that is no number");
  if (version != kFormatVersion)
    return error(Errc::kVersion, "the state in " + directory + " has format version " + std::to_string(version) +
                                     ", this cepd reads and writes version " + std::to_string(kFormatVersion) +
                                     ": run a cepd of that version, or move the directory away to start with " +
                                     "empty state");
  return {};
}

using Opened = Result<std::unique_ptr<StateBackend>>;

Opened lock_and_open(const LmdbOptions& options) {
  auto lock = DirectoryLock::take(options.directory);
  if (!lock) return std::move(lock).error();
  return open_lmdb(options, std::move(*lock));
}

}  // namespace

const config::OptionTable& option_table() {
  using config::OptionType;
  static const config::OptionTable table{
      "state",
      "Where partial matches, source positions and undelivered actions are kept over a restart.",
      {
          {.name = "backend",
           .type = OptionType::kChoice,
           .default_text = "lmdb",
           .help = "lmdb keeps state on disk; memory forgets everything when cepd stops and needs no directory.",
           .choices = {"memory", "lmdb"}},
          {.name = "directory",
           .type = OptionType::kPath,
           .default_text = "/var/lib/cepd",
           .help = "Directory of the lmdb backend; made when missing. One cepd at a time can use it."},
          {.name = "interval",
           .type = OptionType::kDuration,
           .default_text = "10s",
           .help = "Time between two checkpoints. After a crash what came since the last one is taken once more: from "
                   "the files, and from the journal what came over HTTP, MQTT or standard input.",
           .min = 10'000,
           .max = 86'400'000'000},
          {.name = "min_interval",
           .type = OptionType::kDuration,
           .default_text = "1s",
           .help = "Least time from the end of one checkpoint to the beginning of the next, but at a reload and at the "
                   "end; never more than interval.",
           .min = 0,
           .max = 86'400'000'000},
          {.name = "memory",
           .type = OptionType::kBytes,
           .default_text = "512MiB",
           .help =
               "Of partial matches and their events in memory. Beyond it the keys that were not touched for longest "
               "are kept on disk only (lmdb) until an event or a deadline is theirs; each takes some 50 bytes of "
               "memory then, beside this. The whole process takes about a third more.",
           .min = std::int64_t{1} << 20,
           .max = std::int64_t{1} << 40},
          {.name = "keep",
           .type = OptionType::kInteger,
           .default_text = "10",
           .help = "How many checkpoints can be gone back to with `cepd state rollback`. Each keeps what the next one "
                   "overwrote.",
           .min = 1,
           .max = 1'000},
          {.name = "map_size",
           .type = OptionType::kBytes,
           .default_text = "4GiB",
           .help = "Largest size of the lmdb backend's file in bytes; it starts small and grows. Saves fail when it is "
                   "full, and work again once state has shrunk or this is raised.",
           .min = std::int64_t{1} << 20,
           .max = std::int64_t{1} << 40},
      }};
  return table;
}

LmdbOptions lmdb_options(const config::Options& options) {
  LmdbOptions lmdb;
  lmdb.directory = options.text("directory");
  lmdb.largest_map_size_bytes = static_cast<std::size_t>(options.integer("map_size"));
  return lmdb;
}

Result<std::unique_ptr<StateBackend>> open_backend(const config::Options& options) {
  if (options.text("backend") == "memory") return Opened(memory_backend());

  const LmdbOptions lmdb = lmdb_options(options);
  CEPD_TRY(make_directory(lmdb.directory));
  Opened backend = lock_and_open(lmdb);
  if (!backend) return backend;
  CEPD_TRY(check_format_version(**backend, lmdb.directory, Versions::kNewOrThis));
  CEPD_TRY(sync_directory(lmdb.directory));
  return backend;
}

Result<std::unique_ptr<StateBackend>> open_existing(const LmdbOptions& options) {
  std::error_code code;
  if (!fs::exists(options.directory + "/data.mdb", code))
    return error(Errc::kNotFound, "there is no state in " + options.directory);
  Opened backend = lock_and_open(options);
  if (!backend) return backend;
  CEPD_TRY(check_format_version(**backend, options.directory, Versions::kOnlyThis));
  return backend;
}

Result<std::unique_ptr<StateBackend>> open_empty(const LmdbOptions& options) {
  CEPD_TRY(make_directory(options.directory));
  Opened backend = lock_and_open(options);
  if (!backend) return backend;
  auto empty = is_empty(**backend);
  if (!empty) return std::move(empty).error();
  if (!*empty)
    return error(Errc::kInvalidArgument, "there is state in " + options.directory + ", and it is not written over");
  CEPD_TRY(sync_directory(options.directory));
  return backend;
}

}  // namespace cepd::state
