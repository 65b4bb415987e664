/// `file(path?)`: one JSON line a call, in the order of the outbox and durable before the call counts as delivered.
/// After a crash between the two the same line comes again with the same `idempotency_key`.

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>
#include <utility>

#include "actions/action_type.h"
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

/// The file is opened for each line, so that it may be renamed or removed at any time (log rotation); the wait for the
/// disk dwarfs the open. The lock is for two actions (or two daemons) that share a file.
Outcome append_line(const std::string& path, std::string line) {
  const FileDescriptor file(::open(path.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC | O_NOCTTY, 0640));
  if (file.get() < 0) return retry(path, "open");
  struct stat status {};
  if (::fstat(file.get(), &status) != 0) return retry(path, "read the state of");
  if (!S_ISREG(status.st_mode)) return {Delivery::kRetry, path + " is no regular file"};
  while (::flock(file.get(), LOCK_EX) != 0) {
    if (errno != EINTR) return retry(path, "lock");
  }
  if (::fstat(file.get(), &status) != 0) return retry(path, "read the state of");
  // A crash of the machine may have left a line without its end: start on a new one.
  char last = '\n';
  if (status.st_size > 0 && ::pread(file.get(), &last, 1, status.st_size - 1) != 1) return retry(path, "read");
  if (last != '\n') line.insert(0, 1, '\n');

  const ssize_t written = ::write(file.get(), line.data(), line.size());
  if (std::cmp_not_equal(written, line.size())) {
    if (written >= 0) errno = ENOSPC;  // a short write to a regular file
    Outcome outcome = retry(path, "write to");
    // Half a line must not stay; should this fail too, the next line starts on a new one.
    if (written > 0 && ::ftruncate(file.get(), status.st_size) != 0) outcome.detail += "; half a line stays";
    return outcome;
  }
  if (::fdatasync(file.get()) != 0) return retry(path, "sync");
  return {};
}

class FileSink final : public Sink {
 public:
  explicit FileSink(std::string path) : path_(std::move(path)) {}

  Outcome deliver(const state::OutboxRecord& record) override {
    const bool configured = !path_.empty();
    const std::string path = configured ? path_ : std::string(argument_text(record, "path"));
    if (path.empty()) return {Delivery::kRejected, "the call gives no path, and none is configured"};
    JsonObject line = configured ? match_body(record, {}) : match_body(record, {"path"});
    line.text("idempotency_key", record.idempotency_key);
    return append_line(path, std::move(line).finish() + "\n");
  }

 private:
  const std::string path_;  // empty: the call's
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

std::unique_ptr<Sink> open(const config::Options& options) {
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
