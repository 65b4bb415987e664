#include "state/transfer.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <functional>
#include <string_view>
#include <system_error>
#include <utility>

#include "state/layout.h"
#include "state/multiset_hash.h"
#include "state/system_error.h"

namespace cepd::state {
namespace {

constexpr std::string_view kMagic = "cepd state\n";
// What stands in front of each part of the file.
constexpr std::uint8_t kRecord = 1, kEnd = 2;
constexpr std::size_t kBuffer = std::size_t{1} << 20;
constexpr std::size_t kHashSize = 32;
/// No key and no value is larger (backend.h): what claims to be is damage.
constexpr std::uint64_t kLongestText = std::uint64_t{1} << 30;

/// A file being written under another name until it is whole.
class Output {
 public:
  explicit Output(std::string path) : path_(std::move(path)), fresh_(path_ + ".new") {}
  Output(const Output&) = delete;
  Output& operator=(const Output&) = delete;
  ~Output() {
    if (fd_ < 0) return;
    ::close(fd_);
    ::unlink(fresh_.c_str());
  }

  Status open() {
    if (std::error_code ignored; std::filesystem::exists(path_, ignored))
      return error(Errc::kInvalidArgument, path_ + " exists, and is not written over");
    // What people do stands in the events: not for everyone's eyes.
    fd_ = ::open(fresh_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0640);
    return fd_ < 0 ? failed() : Status{};
  }
  Status write(std::string_view bytes) {
    buffer_ += bytes;
    return buffer_.size() < kBuffer ? Status{} : flush();
  }
  Status finish() {
    CEPD_TRY(flush());
    if (::fsync(fd_) != 0 || ::rename(fresh_.c_str(), path_.c_str()) != 0) return failed();
    const int number = ::close(std::exchange(fd_, -1)) == 0 ? 0 : errno;
    return number == 0 ? Status{} : system_error("cannot write " + path_, number);
  }

 private:
  Status failed() const { return system_error("cannot write " + path_, errno); }
  Status flush() {
    std::string_view rest = buffer_;
    while (!rest.empty()) {
      const ssize_t written = ::write(fd_, rest.data(), rest.size());
      if (written < 0 && errno == EINTR) continue;
      if (written < 0) return failed();
      rest.remove_prefix(static_cast<std::size_t>(written));
    }
    buffer_.clear();
    return {};
  }

  const std::string path_, fresh_;
  std::string buffer_;
  int fd_ = -1;
};

class Input {
 public:
  explicit Input(std::string path) : path_(std::move(path)) {}
  Input(const Input&) = delete;
  Input& operator=(const Input&) = delete;
  ~Input() {
    if (fd_ >= 0) ::close(fd_);
  }

  Status open() {
    fd_ = ::open(path_.c_str(), O_RDONLY | O_CLOEXEC);
    if (fd_ >= 0) return {};
    if (errno == ENOENT) return error(Errc::kNotFound, "there is no file " + path_);
    return system_error("cannot read " + path_, errno);
  }
  /// Exactly so many bytes.
  Result<std::string> take(std::size_t size) {
    while (buffer_.size() - at_ < size) {
      auto more = fill();
      if (!more) return std::move(more).error();
      if (!*more) return damaged();
    }
    std::string bytes = buffer_.substr(at_, size);
    at_ += size;
    return bytes;
  }
  Result<std::uint8_t> byte() {
    auto bytes = take(1);
    if (!bytes) return std::move(bytes).error();
    return static_cast<std::uint8_t>(bytes->front());
  }
  Result<std::uint64_t> number() {
    std::string bytes;
    do {
      auto next = take(1);
      if (!next) return std::move(next).error();
      bytes += *next;
    } while (static_cast<unsigned char>(bytes.back()) >= 0x80 && bytes.size() < 10);
    Reader in(bytes);
    const std::uint64_t number = in.number();
    if (!in.at_end()) return damaged();
    return number;
  }
  Result<std::string> text() {
    auto size = number();
    if (!size) return std::move(size).error();
    if (*size > kLongestText) return damaged();
    return take(*size);
  }
  Result<bool> at_end() {
    if (at_ < buffer_.size()) return false;
    auto more = fill();
    if (!more) return std::move(more).error();
    return !*more;
  }
  Error damaged() const { return error(Errc::kCorrupt, path_ + " is damaged, or no export of cepd's state"); }

 private:
  /// False at the end of the file.
  Result<bool> fill() {
    buffer_.erase(0, at_);
    at_ = 0;
    const std::size_t had = buffer_.size();
    buffer_.resize(had + kBuffer);
    ssize_t size = 0;
    while ((size = ::read(fd_, buffer_.data() + had, kBuffer)) < 0 && errno == EINTR) {
    }
    const int number = errno;
    buffer_.resize(had + static_cast<std::size_t>(std::max<ssize_t>(size, 0)));
    if (size < 0) return system_error("cannot read " + path_, number);
    return size > 0;
  }

  const std::string path_;
  std::string buffer_;
  std::size_t at_ = 0;
  int fd_ = -1;
};

using RecordVisitor = std::function<Status(Space space, std::string key, std::string value)>;

/// Calls `visit` for each record; an error where the file is not what was exported.
Result<Transferred> read_file(const std::string& file, const RecordVisitor& visit) {
  Input in(file);
  CEPD_TRY(in.open());
  auto magic = in.take(kMagic.size());
  if (!magic) return std::move(magic).error();
  if (*magic != kMagic) return in.damaged();
  auto version = in.number();
  if (!version) return std::move(version).error();
  if (*version != kFormatVersion)
    return error(Errc::kVersion, file + " holds state of format version " + std::to_string(*version) +
                                     ", this cepd reads version " + std::to_string(kFormatVersion));
  StateSum sum;
  while (true) {
    auto kind = in.byte();
    if (!kind) return std::move(kind).error();
    if (*kind == kEnd) break;
    auto space = in.byte();
    auto key = space ? in.text() : Result<std::string>(space.error());
    auto value = key ? in.text() : key;
    if (!value) return std::move(value).error();
    if (*kind != kRecord || *space >= kSpaceCount || !key_fits(static_cast<Space>(*space), *key)) return in.damaged();
    sum.add(static_cast<Space>(*space), *key, *value);
    CEPD_TRY(visit(static_cast<Space>(*space), std::move(*key), std::move(*value)));
  }
  auto records = in.number();
  if (!records) return std::move(records).error();
  auto hash = in.take(kHashSize);
  if (!hash) return std::move(hash).error();
  auto end = in.at_end();
  if (!end) return std::move(end).error();
  if (!*end || *records != sum.records || *hash != sum.hash.bytes()) return in.damaged();
  return Transferred{sum.records, sum.bytes};
}

}  // namespace

Result<Transferred> export_state(StateBackend& backend, const std::string& file) {
  Output out(file);
  CEPD_TRY(out.open());
  Writer head;
  head.number(kFormatVersion);
  CEPD_TRY(out.write(std::string(kMagic) + head.take()));
  StateSum sum;
  for (int i = 0; i < kSpaceCount; ++i) {
    const auto space = static_cast<Space>(i);
    CEPD_TRY(backend.scan(space, {}, [&](std::string_view key, std::string_view value) -> Status {
      if (space == Space::kMeta && key == kFormatVersionKey) return {};
      sum.add(space, key, value);
      Writer record;
      record.byte(kRecord);
      record.byte(static_cast<std::uint8_t>(space));
      record.text(key);
      record.text(value);
      return out.write(record.take());
    }));
  }
  Writer end;
  end.byte(kEnd);
  end.number(sum.records);
  CEPD_TRY(out.write(end.take() + sum.hash.bytes()));
  CEPD_TRY(out.finish());
  return Transferred{sum.records, sum.bytes};
}

Result<Transferred> import_state(StateBackend& backend, const std::string& file) {
  const auto checked = read_file(file, [](Space, std::string, std::string) -> Status { return {}; });
  if (!checked) return checked;
  WriteBatch batch;
  std::size_t bytes = 0;
  auto written = read_file(file, [&](Space space, std::string key, std::string value) -> Status {
    bytes += key.size() + value.size();
    batch.put(space, std::move(key), std::move(value));
    if (bytes < kBuffer) return {};
    bytes = 0;
    return backend.commit(std::exchange(batch, {}));
  });
  if (!written) return written;
  batch.put(Space::kMeta, std::string(kFormatVersionKey), std::to_string(kFormatVersion));
  CEPD_TRY(backend.commit(batch));
  return written;
}

}  // namespace cepd::state
