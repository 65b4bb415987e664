#include "state/lmdb_backend.h"

#include <lmdb.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <limits>
#include <mutex>
#include <shared_mutex>
#include <utility>

#include "base/check.h"
#include "base/fault.h"
#include "state/damage_guard.h"
#include "state/system_error.h"

namespace cepd::state {
namespace {

template <auto function>
struct Closer {
  template <class T>
  void operator()(T* handle) const {
    function(handle);
  }
};
using Environment = std::unique_ptr<MDB_env, Closer<mdb_env_close>>;
using Transaction = std::unique_ptr<MDB_txn, Closer<mdb_txn_abort>>;
using Cursor = std::unique_ptr<MDB_cursor, Closer<mdb_cursor_close>>;

MDB_val to_val(std::string_view bytes) {
  // LMDB takes a mutable pointer and does not write through it.
  return {bytes.size(), const_cast<char*>(bytes.data())};
}
std::string_view to_view(const MDB_val& val) { return {static_cast<const char*>(val.mv_data), val.mv_size}; }

/// LMDB wants its map in whole pages of the system; 64 KiB are that everywhere.
std::size_t whole_pages(std::size_t bytes) { return (bytes + 0xFFFF) & ~std::size_t{0xFFFF}; }

std::string in_mib(std::size_t bytes) { return std::to_string(bytes >> 20) + " MiB"; }

class LmdbBackend final : public StateBackend {
 public:
  LmdbBackend(LmdbOptions options, DirectoryLock lock)
      : lock_(std::move(lock)), options_(std::move(options)), file_(options_.directory + "/data.mdb") {
    options_.largest_map_size_bytes = whole_pages(options_.largest_map_size_bytes);
    options_.first_map_size_bytes =
        std::min(whole_pages(options_.first_map_size_bytes), options_.largest_map_size_bytes);
  }

  Status open() { return open(options_.first_map_size_bytes); }

  Result<std::optional<std::string>> get(Space space, std::string_view key) override;
  Status scan(Space space, std::string_view prefix, const Visitor& visit) override;
  Status scan_from(Space space, std::string_view from, const RangeVisitor& visit) override;
  Result<std::optional<std::string>> last_key(Space space) override;
  Result<SpaceSize> size(Space space) override;
  Status commit(const WriteBatch& batch) override;
  std::string_view name() const override { return "lmdb"; }

 private:
  using Databases = std::array<std::optional<MDB_dbi>, kSpaceCount>;

  Status open(std::size_t map_size);
  Error failure(const std::string& what, int code) const;
  Status usable() const;
  /// A read of one space: keeps the map where it is, and what LMDB needs for it.
  struct Reading {
    std::shared_lock<std::shared_mutex> map;
    Transaction transaction;
    Cursor cursor;  // closed before its transaction; none when the space does not exist yet
    std::optional<MDB_dbi> database;
  };
  Status begin_reading(Transaction& transaction) const;
  Result<Reading> read(Space space) const;
  Result<Reading> read_with_cursor(Space space) const;
  Status open_databases();
  /// data.mdb is never shorter than the map, so a shorter one at the next start is one that was cut off, which must
  /// not be read: pages past a file's end are a SIGBUS.
  Status extend_file(std::size_t size) const;
  /// Makes the map larger by twice the bytes of a batch, at least twice as large, at most `largest`.
  Status grow(std::size_t bytes, std::size_t largest);
  /// LMDB reports a write that the disk took in part as EIO; with less room than the batch needs that was the cause.
  bool disk_full(std::size_t bytes) const;
  /// The whole batch in one transaction; an LMDB code, so that the caller can tell a full map.
  int apply(const WriteBatch& batch);
  static int apply(MDB_txn* transaction, const Databases& databases, const WriteBatch::Change& change);

  DirectoryLock lock_;
  LmdbOptions options_;
  const std::string file_;
  std::mutex commit_;  // one commit at a time
  /// Held by reads, and alone by what changes the two below, which only commits do. LMDB must not have a transaction
  /// under way when its map changes.
  mutable std::shared_mutex map_;
  Environment environment_;  // null only when it could not be mapped again after a failed growth
  Databases databases_;      // of the spaces that exist; all do after the first commit
};

Error LmdbBackend::failure(const std::string& what, int code) const {
  const std::string context = what + " " + file_;
  if (code > 0) return system_error(context, code);  // LMDB's own codes are negative
  switch (code) {
    case MDB_INVALID:
    case MDB_CORRUPTED:
    case MDB_PAGE_NOTFOUND:
    case MDB_VERSION_MISMATCH:
    case MDB_INCOMPATIBLE:
      return error(Errc::kCorrupt, context + ": " + mdb_strerror(code) +
                                       "; put it back from a copy, or move it away to start with empty state");
    case MDB_MAP_FULL:
      return error(Errc::kNoSpace, context + ": the state is full at " + in_mib(options_.largest_map_size_bytes) +
                                       ": raise state.map_size and start cepd again, nothing is lost");
    default:
      return error(Errc::kIo, context + ": " + mdb_strerror(code));
  }
}

Status LmdbBackend::open(std::size_t map_size) {
  const UsingFile using_file(file_);
  databases_ = {};
  environment_.reset();
  MDB_env* environment = nullptr;
  if (const int code = mdb_env_create(&environment)) return failure("cannot open", code);
  Environment opened(environment);
  int code = mdb_env_set_maxdbs(environment, kSpaceCount);
  if (code == 0) code = mdb_env_set_mapsize(environment, map_size);
  // Without thread-local reader slots any thread may read, one after the other.
  if (code == 0) code = mdb_env_open(environment, options_.directory.c_str(), MDB_NOTLS, 0640);
  if (code != 0) return failure("cannot open", code);
  environment_ = std::move(opened);

  MDB_envinfo info{};
  MDB_stat statistics{};
  int fd = -1;
  struct stat file {};
  mdb_env_info(environment, &info);
  mdb_env_stat(environment, &statistics);
  mdb_env_get_fd(environment, &fd);
  if (::fstat(fd, &file) != 0) return failure("cannot open", errno);
  const std::size_t needed = (info.me_last_pgno + 1) * statistics.ms_psize;
  if (static_cast<std::size_t>(file.st_size) < needed)
    return error(Errc::kCorrupt, file_ + " was cut off: it has " + std::to_string(file.st_size) + " of " +
                                     std::to_string(needed) +
                                     " bytes; put it back from a copy, or move it away to start with empty state");
  CEPD_TRY(extend_file(info.me_mapsize));
  return open_databases();
}

Status LmdbBackend::extend_file(std::size_t size) const {
  int fd = -1;
  struct stat file {};
  mdb_env_get_fd(environment_.get(), &fd);
  if (::fstat(fd, &file) != 0) return failure("cannot grow", errno);
  if (static_cast<std::size_t>(file.st_size) >= size) return {};
  if (::ftruncate(fd, static_cast<off_t>(size)) != 0 || ::fsync(fd) != 0) return failure("cannot grow", errno);
  return {};
}

Status LmdbBackend::usable() const {
  if (environment_) {
    // A file that was removed takes writes as before, and they are gone with the process.
    mdb_filehandle_t fd = -1;
    struct stat file {};
    mdb_env_get_fd(environment_.get(), &fd);
    if (::fstat(fd, &file) == 0 && file.st_nlink > 0) return {};
    return error(Errc::kIo, file_ + " was removed while cepd runs; restart cepd");
  }
  return error(Errc::kIo, file_ + " is closed: memory for it could not be mapped; restart cepd");
}

Status LmdbBackend::begin_reading(Transaction& transaction) const {
  CEPD_TRY(usable());
  MDB_txn* begun = nullptr;
  if (const int code = mdb_txn_begin(environment_.get(), nullptr, MDB_RDONLY, &begun))
    return failure("cannot read", code);
  transaction.reset(begun);
  return {};
}

Status LmdbBackend::open_databases() {
  Transaction transaction;
  CEPD_TRY(begin_reading(transaction));
  MDB_dbi names = 0;
  MDB_stat statistics{};
  int code = mdb_dbi_open(transaction.get(), nullptr, 0, &names);
  if (code == 0) code = mdb_stat(transaction.get(), names, &statistics);
  if (code != 0) return failure("cannot read", code);
  for (int i = 0; i < kSpaceCount; ++i) {
    MDB_dbi database = 0;
    code = mdb_dbi_open(transaction.get(), space_name(static_cast<Space>(i)).data(), 0, &database);
    if (code != 0 && code != MDB_NOTFOUND) return failure("cannot read", code);
    if (code == 0) databases_[static_cast<std::size_t>(i)] = database;
  }
  if (statistics.ms_entries > 0 && !databases_[static_cast<std::size_t>(Space::kMeta)])
    return error(Errc::kCorrupt,
                 file_ + " holds no cepd state but something else; give cepd " + "another state.directory");
  // Handles opened in a transaction live on only when it commits.
  if (const int committed = mdb_txn_commit(transaction.release())) return failure("cannot read", committed);
  return {};
}

Result<LmdbBackend::Reading> LmdbBackend::read(Space space) const {
  Reading reading;
  reading.map = std::shared_lock(map_);
  CEPD_TRY(begin_reading(reading.transaction));
  reading.database = databases_[static_cast<std::size_t>(space)];
  return Result<Reading>(std::move(reading));
}

Result<LmdbBackend::Reading> LmdbBackend::read_with_cursor(Space space) const {
  auto reading = read(space);
  if (!reading || !reading->database) return reading;
  MDB_cursor* opened = nullptr;
  if (const int code = mdb_cursor_open(reading->transaction.get(), *reading->database, &opened))
    return failure("cannot read", code);
  reading->cursor.reset(opened);
  return reading;
}

Result<std::optional<std::string>> LmdbBackend::get(Space space, std::string_view key) {
  const UsingFile using_file(file_);
  const auto reading = read(space);
  if (!reading) return reading.error();
  if (!reading->database || key.empty()) return std::nullopt;
  MDB_val wanted = to_val(key);
  MDB_val found{};
  const int code = mdb_get(reading->transaction.get(), *reading->database, &wanted, &found);
  if (code == MDB_NOTFOUND) return std::nullopt;
  if (code != 0) return failure("cannot read", code);
  return std::string(to_view(found));
}

Status LmdbBackend::scan(Space space, std::string_view prefix, const Visitor& visit) {
  return scan_from(space, prefix, [&](std::string_view key, std::string_view value) -> Result<bool> {
    if (!key.starts_with(prefix)) return false;
    CEPD_TRY(visit(key, value));
    return true;
  });
}

Status LmdbBackend::scan_from(Space space, std::string_view from, const RangeVisitor& visit) {
  const UsingFile using_file(file_);
  const auto reading = read_with_cursor(space);
  if (!reading) return reading.error();
  if (!reading->cursor) return {};
  MDB_val key = to_val(from);
  MDB_val value{};
  int code = mdb_cursor_get(reading->cursor.get(), &key, &value, from.empty() ? MDB_FIRST : MDB_SET_RANGE);
  while (code == 0) {
    Result<bool> more = visit(to_view(key), to_view(value));
    if (!more) return std::move(more).error();
    if (!*more) return {};
    code = mdb_cursor_get(reading->cursor.get(), &key, &value, MDB_NEXT);
  }
  if (code != MDB_NOTFOUND) return failure("cannot read", code);
  return {};
}

Result<std::optional<std::string>> LmdbBackend::last_key(Space space) {
  const UsingFile using_file(file_);
  const auto reading = read_with_cursor(space);
  if (!reading) return reading.error();
  if (!reading->cursor) return std::nullopt;
  MDB_val key{};
  MDB_val value{};
  const int code = mdb_cursor_get(reading->cursor.get(), &key, &value, MDB_LAST);
  if (code == MDB_NOTFOUND) return std::nullopt;
  if (code != 0) return failure("cannot read", code);
  return std::string(to_view(key));
}

Result<SpaceSize> LmdbBackend::size(Space space) {
  const UsingFile using_file(file_);
  const auto reading = read(space);
  if (!reading) return reading.error();
  if (!reading->database) return SpaceSize{};
  MDB_stat statistics{};
  if (const int code = mdb_stat(reading->transaction.get(), *reading->database, &statistics))
    return failure("cannot read", code);
  const std::size_t pages = statistics.ms_branch_pages + statistics.ms_leaf_pages + statistics.ms_overflow_pages;
  return SpaceSize{statistics.ms_entries, pages * statistics.ms_psize};
}

Status LmdbBackend::commit(const WriteBatch& batch) {
  if (batch.empty()) return {};
  const std::lock_guard one_at_a_time(commit_);
  const UsingFile using_file(file_);
  CEPD_TRY(usable());
  if (const int number = fault(FaultPoint::kCommit)) return failure("cannot write", number);
  const std::size_t bytes = batch.bytes();
  const bool puts = std::any_of(batch.changes().begin(), batch.changes().end(), [](const WriteBatch::Change& change) {
    return change.kind == WriteBatch::Change::Kind::kPut;
  });
  // Even an erase writes copies of the pages it touches; in a full map it must be able to make room.
  const std::size_t largest = puts ? options_.largest_map_size_bytes : std::numeric_limits<std::size_t>::max() / 2;
  while (true) {
    const int code = apply(batch);
    if (code == 0) return {};
    if (code != MDB_MAP_FULL) return failure("cannot write", code == EIO && disk_full(bytes) ? ENOSPC : code);
    CEPD_TRY(grow(bytes, largest));
  }
}

int LmdbBackend::apply(const WriteBatch& batch) {
  MDB_txn* begun = nullptr;
  if (const int code = mdb_txn_begin(environment_.get(), nullptr, 0, &begun)) return code;
  Transaction transaction(begun);
  Databases databases = databases_;
  for (int i = 0; i < kSpaceCount; ++i) {
    auto& database = databases[static_cast<std::size_t>(i)];
    if (database) continue;
    MDB_dbi created = 0;
    if (const int code = mdb_dbi_open(begun, space_name(static_cast<Space>(i)).data(), MDB_CREATE, &created))
      return code;
    database = created;
  }
  for (const WriteBatch::Change& change : batch.changes()) {
    if (const int code = apply(begun, databases, change)) return code;
  }
  if (const int code = mdb_txn_commit(transaction.release())) return code;
  if (databases != databases_) {
    const std::lock_guard alone(map_);
    databases_ = databases;
  }
  return 0;
}

int LmdbBackend::apply(MDB_txn* transaction, const Databases& databases, const WriteBatch::Change& change) {
  const MDB_dbi database = *databases[static_cast<std::size_t>(change.space)];
  MDB_val key = to_val(change.key);
  MDB_val value = to_val(change.value);
  switch (change.kind) {
    case WriteBatch::Change::Kind::kPut:
      CEPD_CHECK(key_fits(change.space, change.key));
      return mdb_put(transaction, database, &key, &value, 0);
    case WriteBatch::Change::Kind::kErase: {
      const int code = change.key.empty() ? MDB_NOTFOUND : mdb_del(transaction, database, &key, nullptr);
      return code == MDB_NOTFOUND ? 0 : code;
    }
    case WriteBatch::Change::Kind::kClear:
      return mdb_drop(transaction, database, 0);
  }
  return EINVAL;
}

Status LmdbBackend::grow(std::size_t bytes, std::size_t largest) {
  MDB_envinfo info{};
  mdb_env_info(environment_.get(), &info);
  const std::size_t now = info.me_mapsize;
  // Copy-on-write: what changes is written beside what was there, so twice the batch is wanted at least.
  const std::size_t wanted = std::min(whole_pages(std::max(now * 2, now + bytes * 2)), largest);
  if (wanted <= now) return failure("cannot write", MDB_MAP_FULL);
  CEPD_TRY(extend_file(wanted));
  const std::lock_guard alone(map_);
  if (const int code = mdb_env_set_mapsize(environment_.get(), wanted)) {
    // The old map is gone by now; only opening anew brings it back.
    Error reason = failure("cannot map " + in_mib(wanted) + " of", code);
    if (Status reopened = open(now); !reopened) {
      environment_.reset();
      return reopened;
    }
    reason.code = Errc::kNoSpace;
    return reason;
  }
  return {};
}

bool LmdbBackend::disk_full(std::size_t bytes) const {
  constexpr std::uint64_t kLeast = 1 << 20;  // trees and free lists are written beside the batch
  struct statvfs disk {};
  if (::statvfs(options_.directory.c_str(), &disk) != 0) return false;
  return std::uint64_t{disk.f_bavail} * disk.f_frsize < std::max<std::uint64_t>(bytes, kLeast);
}

}  // namespace

Result<std::unique_ptr<StateBackend>> open_lmdb(const LmdbOptions& options, DirectoryLock lock) {
  auto backend = std::make_unique<LmdbBackend>(options, std::move(lock));
  CEPD_TRY(backend->open());
  return Result<std::unique_ptr<StateBackend>>(std::move(backend));
}

}  // namespace cepd::state
