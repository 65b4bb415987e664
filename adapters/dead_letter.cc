#include "adapters/dead_letter.h"

#include <fcntl.h>
#include <openssl/evp.h>
#include <simdjson.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <mutex>
#include <utility>

#include "adapters/rate_limit.h"
#include "base/value.h"

namespace cepd::adapters {
namespace {

/// Bytes of an event that a record keeps: enough to find the sender, and a 1 GiB line does not fill the disk twice.
constexpr std::size_t kMaxRecord = 64U << 10;
/// Records are written together once this many bytes wait, and on flush().
constexpr std::size_t kBuffer = 64U << 10;
/// While the file cannot be written this much is kept for later; what comes then is counted but not kept.
constexpr std::size_t kMaxUnwritten = 4U << 20;
constexpr std::chrono::seconds kLogEvery{1};

constexpr std::size_t index(DropReason reason) { return static_cast<std::size_t>(reason); }

std::string base64(std::string_view bytes) {
  std::string out((bytes.size() + 2) / 3 * 4 + 1, '\0');  // EVP_EncodeBlock ends it with a zero
  const int size =
      EVP_EncodeBlock(reinterpret_cast<unsigned char*>(out.data()),
                      reinterpret_cast<const unsigned char*>(bytes.data()), static_cast<int>(bytes.size()));
  out.resize(static_cast<std::size_t>(size));
  return out;
}

/// At most kMaxRecord bytes; valid UTF-8 is not cut inside a character.
std::string_view beginning(std::string_view bytes) {
  if (bytes.size() <= kMaxRecord) return bytes;
  std::size_t size = kMaxRecord;
  while (size > kMaxRecord - 4 && (static_cast<unsigned char>(bytes[size]) & 0xC0U) == 0x80U) --size;
  return bytes.substr(0, size);
}

void append_member(std::string& out, std::string_view name, std::string_view text) {
  out += ',';
  append_json_string(out, name);
  out += ':';
  append_json_string(out, text);
}

std::string record(EventTime now, DropReason reason, const SourcePosition& position, std::string_view detail,
                   std::string_view bytes) {
  std::string out = R"({"time":")" + format_rfc3339(now) + '"';
  append_member(out, "source", position.source.name());
  out += ",\"partition\":" + std::to_string(position.partition) + ",\"offset\":" + std::to_string(position.offset);
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

}  // namespace

struct DeadLetterFile::Impl {
  struct PerReason {
    std::atomic<std::uint64_t> count{0};
    RateLimit log{kLogEvery};
    std::string last;  // what the next line says as its example
  };

  Impl(std::string p, int f, const Clock& c) : path(std::move(p)), fd(f), clock(c) {}
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

  void write() {
    while (!unwritten.empty()) {
      const ssize_t written = ::write(fd, unwritten.data(), unwritten.size());
      if (written >= 0) {
        unwritten.erase(0, static_cast<std::size_t>(written));
      } else if (errno != EINTR) {
        if (const auto times = write_log.pass(clock.steady())) {
          spdlog::error("dead letters cannot be written to {}: {} ({} times; {} records lost so far)", path,
                        std::strerror(errno), *times, lost);
        }
        return;
      }
    }
  }

  const std::string path;
  const int fd;  // -1: nothing is kept
  const Clock& clock;
  mutable std::mutex mutex;
  std::array<PerReason, kDropReasonCount> reasons;
  std::string unwritten;
  RateLimit write_log{kLogEvery};
  std::uint64_t lost = 0;
};

DeadLetterFile::DeadLetterFile(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

Result<std::unique_ptr<DeadLetterFile>> DeadLetterFile::open(const std::string& path, const Clock& clock) {
  int fd = -1;
  if (!path.empty()) {
    // It holds what users sent: not for everybody's eyes.
    fd = ::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0640);
    if (fd < 0) return error(Errc::kIo, "dead-letter file " + path + ": " + std::strerror(errno));
    end_cut_line(path, fd);
  }
  return std::unique_ptr<DeadLetterFile>(new DeadLetterFile(std::make_unique<Impl>(path, fd, clock)));
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
                         std::string_view bytes) {
  const std::lock_guard lock(impl_->mutex);
  impl_->note(reason, position, detail);
  if (impl_->fd < 0) return;
  if (impl_->unwritten.size() >= kMaxUnwritten) {
    ++impl_->lost;
  } else {
    impl_->unwritten += record(impl_->clock.now(), reason, position, detail, bytes);
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

std::uint64_t DeadLetterFile::count(DropReason reason) const { return impl_->reasons[index(reason)].count; }

std::uint64_t DeadLetterFile::total() const {
  std::uint64_t total = 0;
  for (const auto& reason : impl_->reasons) total += reason.count;
  return total;
}

}  // namespace cepd::adapters
