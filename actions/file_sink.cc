/// `file(path?)`: one JSON line a call, in the order of the outbox and durable before the call counts as delivered.
///
/// Each call stands there once, whatever crashed in between: what a crash left written and not known to be delivered
/// comes again first, in the order in which it was written. So the file is read back for as long as calls are found in
/// it, and no more from the first one on that is not.

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <system_error>
#include <unordered_set>
#include <utility>

#include "actions/action_type.h"
#include "actions/file_tail.h"
#include "actions/json_body.h"

namespace cepd::actions {
namespace {

class FileDescriptor {
 public:
  explicit FileDescriptor(int fd) : fd_(fd) {}
  FileDescriptor(const FileDescriptor&) = delete;
  FileDescriptor& operator=(const FileDescriptor&) = delete;
  ~FileDescriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  int get() const { return fd_; }

 private:
  const int fd_;
};

Outcome retry(const std::string& path, const char* what) {
  const int code = errno;
  return {Delivery::kRetry, "cannot " + std::string(what) + " " + path + ": " + std::generic_category().message(code)};
}

enum class Before : unsigned char { kWasWritten, kMayBeTorn };

/// The file is opened for each line, so that it may be renamed or removed at any time (log rotation); the wait for the
/// disk dwarfs the open. The lock is for two actions (or two daemons) that share a file.
Outcome append_line(const std::string& path, std::string line, Before before) {
  const FileDescriptor file(::open(path.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC | O_NOCTTY, 0640));
  if (file.get() < 0) return retry(path, "open");
  struct stat status {};
  if (::fstat(file.get(), &status) != 0) return retry(path, "read the state of");
  if (!S_ISREG(status.st_mode)) return {Delivery::kRetry, path + " is no regular file"};
  while (::flock(file.get(), LOCK_EX) != 0) {
    if (errno != EINTR) return retry(path, "lock");
  }
  if (::fstat(file.get(), &status) != 0) return retry(path, "read the state of");
  if (before == Before::kMayBeTorn) {
    auto size = cut_torn_line(file.get(), static_cast<std::size_t>(status.st_size));
    if (!size) return {Delivery::kRetry, path + ": " + size.error().message};
    status.st_size = static_cast<off_t>(*size);
  }
  // Somebody else's line without its end: start on a new one.
  char last = '\n';
  if (status.st_size > 0 && ::pread(file.get(), &last, 1, status.st_size - 1) != 1) return retry(path, "read");
  if (last != '\n') line.insert(0, 1, '\n');

  Outcome outcome;
  const ssize_t written = ::write(file.get(), line.data(), line.size());
  if (std::cmp_not_equal(written, line.size())) {
    if (written >= 0) errno = ENOSPC;  // a short write to a regular file
    outcome = retry(path, "write to");
  } else if (::fdatasync(file.get()) != 0) {
    outcome = retry(path, "sync");
  }
  // What failed comes again: neither half a line may stay nor a whole one of which nobody knows whether it will last.
  if (outcome.delivery != Delivery::kDone && written > 0 && ::ftruncate(file.get(), status.st_size) != 0) {
    outcome.detail += "; the line stays there";
  }
  return outcome;
}

/// A line of an earlier run was perhaps never synced.
Outcome sync(const std::string& path) {
  const FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK));
  if (file.get() < 0) return errno == ENOENT ? Outcome{} : retry(path, "open");
  return ::fdatasync(file.get()) == 0 ? Outcome{} : retry(path, "sync");
}

class FileSink final : public Sink {
 public:
  explicit FileSink(std::string path) : path_(std::move(path)) {}

  Outcome deliver(const state::OutboxRecord& record) override {
    const bool configured = !path_.empty();
    const std::string path = configured ? path_ : std::string(argument_text(record, "path"));
    if (path.empty()) return {Delivery::kRejected, "the call gives no path, and none is configured"};
    if (!all_new_) {
      if (Outcome read = read_back(path); read.delivery != Delivery::kDone) return read;
      if (written_.contains(record.idempotency_key)) return {};
    }
    JsonObject line = configured ? match_body(record, {}) : match_body(record, {"path"});
    line.text("idempotency_key", record.idempotency_key);
    Outcome outcome =
        append_line(path, std::move(line).finish() + "\n", all_new_ ? Before::kWasWritten : Before::kMayBeTorn);
    // After a failure it is not certain what stands there.
    all_new_ = outcome.delivery == Delivery::kDone;
    read_path_.clear();
    written_.clear();
    return outcome;
  }

 private:
  Outcome read_back(const std::string& path) {
    if (read_path_ == path) return {};
    auto keys = written_keys(path);
    if (!keys) return {Delivery::kRetry, std::move(keys).error().message};
    if (Outcome synced = sync(path); synced.delivery != Delivery::kDone) return synced;
    written_ = std::move(*keys);
    read_path_ = path;
    return {};
  }

  const std::string path_;  // empty: the call's
  bool all_new_ = false;    // no call that comes was written before
  std::string read_path_;   // the file that written_ is of; empty: none
  std::unordered_set<std::string> written_;
};

std::string configured_path(const config::Options& options) {
  return options.given("path") ? options.text("path") : std::string();
}

std::vector<config::OptionRow> rows() {
  return {{.name = "path",
           .type = config::OptionType::kPath,
           .default_text = "",
           .help = "File to append to, made when it does not exist. Without it each call gives its own `path`."}};
}

ActionSchema schema(std::string_view action, const config::Options& options) {
  ActionSchema schema{.name = std::string(action), .parameters = {}, .open = true};
  if (configured_path(options).empty()) {
    schema.parameters.push_back(text_parameter(
        "path", true,
        "File to append to; relative to the daemon's working directory. Or configure the option `path`."));
  }
  return schema;
}

std::unique_ptr<Sink> open(std::string_view, const config::Options& options) {
  return std::make_unique<FileSink>(configured_path(options));
}

}  // namespace

const ActionType& file_type() {
  static const ActionType type{"file",  "Appends the match and the call's arguments to a file, one JSON object a line.",
                               rows,    schema,
                               nullptr, open};
  return type;
}

}  // namespace cepd::actions
