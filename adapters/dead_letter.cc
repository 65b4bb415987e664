#include "adapters/dead_letter.h"

#include <fcntl.h>
#include <openssl/evp.h>
#include <simdjson.h>
#include <spdlog/spdlog.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <mutex>
#include <optional>
#include <utility>

#include "adapters/rate_limit.h"
#include "base/value.h"

namespace cepd::adapters {
namespace {

/// Records are written together once this many bytes wait, and on flush().
constexpr std::size_t kBuffer = 64U << 10;
/// While the file cannot be written this much is kept for later; what comes then is counted but not kept.
constexpr std::size_t kMaxUnwritten = 8U << 20;
constexpr std::chrono::seconds kLogEvery{1};

/// Each record begins with it.
constexpr std::string_view kNumberMember = "{\"n\":";
/// Read back at a time, to find the last record.
constexpr std::size_t kChunk = std::size_t{256} << 10;

constexpr std::size_t index(DropReason reason) { return static_cast<std::size_t>(reason); }

std::string base64(std::string_view bytes) {
  std::string out((bytes.size() + 2) / 3 * 4 + 1, '\0');  // EVP_EncodeBlock ends it with a zero
  const int size =
      EVP_EncodeBlock(reinterpret_cast<unsigned char*>(out.data()),
                      reinterpret_cast<const unsigned char*>(bytes.data()), static_cast<int>(bytes.size()));
  out.resize(static_cast<std::size_t>(size));
  return out;
}

/// At most kMostKept bytes; valid UTF-8 is not cut inside a character.
std::string_view beginning(std::string_view bytes) {
  if (bytes.size() <= kMostKept) return bytes;
  std::size_t size = kMostKept;
  while (size > kMostKept - 4 && (static_cast<unsigned char>(bytes[size]) & 0xC0U) == 0x80U) --size;
  return bytes.substr(0, size);
}

void append_member(std::string& out, std::string_view name, std::string_view text) {
  out += ',';
  append_json_string(out, name);
  out += ':';
  append_json_string(out, text);
}

std::string record(std::uint64_t number, EventTime now, DropReason reason, const SourcePosition& position,
                   std::string_view detail, std::string_view bytes, std::string_view topic) {
  std::string out = std::string(kNumberMember) + std::to_string(number) + R"(,"time":")" + format_rfc3339(now) + '"';
  append_member(out, "source", position.source.name());
  out += ",\"partition\":" + std::to_string(position.partition) + ",\"offset\":" + std::to_string(position.offset);
  if (!topic.empty()) append_member(out, "topic", topic);
  append_member(out, "reason", drop_reason_name(reason));
  append_member(out, "detail", detail);
  const std::string_view kept = beginning(bytes);
  if (simdjson::validate_utf8(kept.data(), kept.size())) {
    append_member(out, "text", kept);
  } else {
    append_member(out, "base64", base64(kept));
  }
  if (kept.size() < bytes.size()) out += ",\"truncated_from\":" + std::to_string(bytes.size());
  return out += "}\n";
}

/// The number of the last record in a file; 0 where there is none or it cannot be read.
std::uint64_t last_number_in(const std::string& path) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return 0;
  std::uint64_t number = 0;
  std::string tail;
  for (off_t begin = std::max<off_t>(::lseek(fd, 0, SEEK_END), 0); begin > 0 && number == 0;) {
    const auto size = std::min<std::size_t>(kChunk, static_cast<std::size_t>(begin));
    begin -= static_cast<off_t>(size);
    std::string chunk(size, '\0');
    if (::pread(fd, chunk.data(), size, begin) != static_cast<ssize_t>(size)) break;
    tail.insert(0, chunk);
    // The last line that begins as a record does.
    for (std::size_t at = tail.rfind(kNumberMember); at != std::string::npos && number == 0;
         at = at == 0 ? std::string::npos : tail.rfind(kNumberMember, at - 1)) {
      const bool begins_line = at == 0 ? begin == 0 : tail[at - 1] == '\n';
      const char* const digits = tail.data() + at + kNumberMember.size();
      if (!begins_line) continue;
      const auto [end, status] = std::from_chars(digits, tail.data() + tail.size(), number);
      if (status != std::errc{} || end == tail.data() + tail.size() || *end != ',') number = 0;
    }
    // Of what was looked at only the beginning of a line can still belong to one.
    if (number == 0) tail.resize(std::min(tail.size(), kNumberMember.size() + 20));
  }
  ::close(fd);
  return number;
}

/// A record that a full disk cut off must not run into the next one.
void end_cut_line(const std::string& path, int fd) {
  const int reader = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (reader < 0) return;
  char last = '\n';
  const off_t size = ::lseek(reader, 0, SEEK_END);
  if (size > 0 && ::pread(reader, &last, 1, size - 1) == 1 && last != '\n') {
    // Fails when the disk is still full; then the next write does too.
    (void)!::write(fd, "\n", 1);
  }
  ::close(reader);
}

/// For appending; -1 with errno.
int open_file(const std::string& path) {
  // It holds what users sent: not for everybody's eyes.
  return ::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0640);
}

/// None of a device or a pipe: these have no end.
std::optional<std::size_t> size_of(int fd) {
  struct stat status {};
  if (::fstat(fd, &status) != 0 || !S_ISREG(status.st_mode)) return std::nullopt;
  return static_cast<std::size_t>(status.st_size);
}

}  // namespace

std::string dead_letters_before(const std::string& path) { return path + ".1"; }

struct DeadLetterFile::Impl {
  struct PerReason {
    std::atomic<std::uint64_t> count{0};
    RateLimit log{kLogEvery};
    std::string last;  // what the next line says as its example
  };

  Impl(std::string p, int f, const Clock& c, std::size_t most) : path(std::move(p)), most_bytes(most), clock(c), fd(f) {
    if (fd < 0) return;
    const auto size = size_of(fd);
    rotates = size.has_value();
    if (!size) return;
    written = *size;
    number = last_number_in(path);
    if (number == 0) number = last_number_in(dead_letters_before(path));
    in_file = number;
  }
  ~Impl() {
    if (fd >= 0) ::close(fd);
  }

  void log(DropReason reason, std::uint64_t events) {
    spdlog::warn("dropped {} event{}: {}: {}", events, events == 1 ? "" : "s", drop_reason_name(reason),
                 reasons[index(reason)].last);
  }

  void note(DropReason reason, const SourcePosition& position, std::string_view detail) {
    PerReason& counted = reasons[index(reason)];
    ++counted.count;
    counted.last = position.source.name() + " at " + std::to_string(position.offset) + ": " + std::string(detail);
    if (const auto events = counted.log.pass(clock.steady())) log(reason, *events);
  }

  /// What is there becomes the older file, in place of the one before, unless somebody else has taken it away. Where
  /// that fails the file goes on.
  void rotate() {
    if (std::rename(path.c_str(), dead_letters_before(path).c_str()) != 0 && errno != ENOENT) return;
    const int fresh = open_file(path);
    if (fresh < 0) return;  // it is written to under its new name
    ::close(std::exchange(fd, fresh));
    written = 0;
  }

  void write() {
    while (!unwritten.empty()) {
      const ssize_t count = ::write(fd, unwritten.data(), unwritten.size());
      if (count >= 0) {
        unwritten.erase(0, static_cast<std::size_t>(count));
        written += static_cast<std::size_t>(count);
        if (unwritten.empty()) in_file = number;
      } else if (errno != EINTR) {
        if (const auto times = write_log.pass(clock.steady())) {
          spdlog::error("dead letters cannot be written to {}: {} ({} times; {} records lost so far)", path,
                        std::strerror(errno), *times, lost);
        }
        return;
      }
    }
    // Between two records.
    if (rotates && written >= most_bytes / 2) rotate();
  }

  const std::string path;
  const std::size_t most_bytes;
  const Clock& clock;
  int fd;                     // -1: nothing is kept
  bool rotates = false;       // it is a regular file
  std::size_t written = 0;    // into the file, records of earlier runs included
  std::uint64_t number = 0;   // of the last record
  std::uint64_t in_file = 0;  // of the last one that is written
  mutable std::mutex mutex;
  std::array<PerReason, kDropReasonCount> reasons;
  std::string unwritten;
  RateLimit write_log{kLogEvery};
  std::uint64_t lost = 0;
};

DeadLetterFile::DeadLetterFile(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

Result<std::unique_ptr<DeadLetterFile>> DeadLetterFile::open(const std::string& path, const Clock& clock,
                                                             std::size_t most_bytes) {
  int fd = -1;
  if (!path.empty()) {
    fd = open_file(path);
    if (fd < 0) return error(Errc::kIo, "dead-letter file " + path + ": " + std::strerror(errno));
    end_cut_line(path, fd);
  }
  return std::unique_ptr<DeadLetterFile>(new DeadLetterFile(std::make_unique<Impl>(path, fd, clock, most_bytes)));
}

DeadLetterFile::~DeadLetterFile() {
  const std::lock_guard lock(impl_->mutex);
  impl_->write();
  const auto lost = impl_->lost + static_cast<std::uint64_t>(std::ranges::count(impl_->unwritten, '\n'));
  if (lost > 0) spdlog::error("{} dead letters could not be written to {} and are lost", lost, impl_->path);
  for (int i = 0; i < kDropReasonCount; ++i) {
    const auto reason = static_cast<DropReason>(i);
    if (const auto waiting = impl_->reasons[index(reason)].log.waiting()) impl_->log(reason, waiting);
  }
}

void DeadLetterFile::note(DropReason reason, const SourcePosition& position, std::string_view detail) {
  const std::lock_guard lock(impl_->mutex);
  impl_->note(reason, position, detail);
}

void DeadLetterFile::add(DropReason reason, const SourcePosition& position, std::string_view detail,
                         std::string_view bytes, std::string_view topic) {
  const std::lock_guard lock(impl_->mutex);
  impl_->note(reason, position, detail);
  if (impl_->fd < 0) return;
  if (impl_->unwritten.size() >= kMaxUnwritten) {
    ++impl_->lost;
  } else {
    impl_->unwritten += record(++impl_->number, impl_->clock.now(), reason, position, detail, bytes, topic);
  }
  if (impl_->unwritten.size() >= kBuffer) impl_->write();
}

void DeadLetterFile::flush() {
  const std::lock_guard lock(impl_->mutex);
  impl_->write();
  for (int i = 0; i < kDropReasonCount; ++i) {
    const auto reason = static_cast<DropReason>(i);
    if (const auto events = impl_->reasons[index(reason)].log.due(impl_->clock.steady())) impl_->log(reason, *events);
  }
}

std::uint64_t DeadLetterFile::last_number() const {
  const std::lock_guard lock(impl_->mutex);
  return impl_->in_file;
}

std::uint64_t DeadLetterFile::count(DropReason reason) const { return impl_->reasons[index(reason)].count; }

std::uint64_t DeadLetterFile::total() const {
  std::uint64_t total = 0;
  for (const auto& reason : impl_->reasons) total += reason.count;
  return total;
}

}  // namespace cepd::adapters
