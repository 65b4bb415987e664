#include "adapters/file_source.h"

#include <fcntl.h>
#include <spdlog/spdlog.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include "adapters/line_pusher.h"
#include "adapters/source_type.h"

namespace cepd::adapters {
namespace {

constexpr std::size_t kChunk = 256U << 10;
/// Where inotify says nothing (network file systems) the file is looked at this often.
constexpr std::chrono::milliseconds kLookEvery{500};

FileDescriptor open_file(const std::string& path) {
  // Without O_NONBLOCK a named pipe nobody writes to would hold the thread.
  return FileDescriptor(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
}

void begin_file(LinePusher& lines, int fd) {
  lines.begin_file([fd, first = lines.next()] {
    const auto origin = FileOrigin::of(fd, first);
    return origin ? origin->text() : std::string();
  });
}

bool same_file(const struct stat& a, const struct stat& b) { return a.st_dev == b.st_dev && a.st_ino == b.st_ino; }

enum class Read : unsigned char { kEnd, kStopped, kClosed, kFailed };

/// Pushes all there is now. A pipe is read until its writers have closed it.
Read read_all(int fd, LinePusher& lines, const StopSignal& stop, std::string& buffer, std::int64_t* bytes_read) {
  buffer.resize(kChunk);
  while (!stop.stopped()) {
    const ssize_t size = ::read(fd, buffer.data(), buffer.size());
    if (size > 0) {
      if (bytes_read) *bytes_read += size;
      if (!lines.feed(std::string_view(buffer).substr(0, static_cast<std::size_t>(size)))) return Read::kClosed;
    } else if (size == 0) {
      return Read::kEnd;
    } else if (errno == EAGAIN) {
      stop.wait_readable(fd);
    } else if (errno != EINTR) {
      return Read::kFailed;
    }
  }
  return Read::kStopped;
}

/// Waits for changes of a file, or of what its name stands for.
class FileWatch {
 public:
  explicit FileWatch(std::string path) : path_(std::move(path)), inotify_(::inotify_init1(IN_CLOEXEC | IN_NONBLOCK)) {
    const std::size_t slash = path_.rfind('/');
    const std::string directory = slash == std::string::npos ? "." : path_.substr(0, slash + 1);
    // IN_MODIFY is asked for on the file alone: a busy directory must not wake us.
    if (inotify_) ::inotify_add_watch(inotify_.get(), directory.c_str(), IN_CREATE | IN_MOVED_TO);
  }

  /// Call before looking at the file, so that what changes after the look ends the wait. Watches of files that are
  /// gone end by themselves.
  void arm() {
    if (!inotify_) return;
    std::array<char, 4096> events;
    while (::read(inotify_.get(), events.data(), events.size()) > 0) {
    }
    ::inotify_add_watch(inotify_.get(), path_.c_str(), IN_MODIFY | IN_ATTRIB | IN_MOVE_SELF | IN_DELETE_SELF);
  }

  void wait(const StopSignal& stop) const { stop.wait_readable(inotify_.get(), kLookEvery); }

 private:
  const std::string path_;
  FileDescriptor inotify_;
};

std::vector<config::OptionRow> rows() {
  using config::OptionType;
  return {
      {.name = "path",
       .type = OptionType::kPath,
       .default_text = "events.jsonl",
       .help = "File of JSON objects, one a line.",
       .required = true},
      {.name = "follow",
       .type = OptionType::kBool,
       .default_text = "false",
       .help = "Whether to wait for further lines at the end, like `tail -F`, also after the file was rotated: within "
               "its directory, not compressed, and not twice while cepd is away. Otherwise the source ends there."},
      {.name = "max_line",
       .type = OptionType::kBytes,
       .default_text = "1MiB",
       .help = "Longest line in bytes; longer ones go to the dead-letter file.",
       .min = 1024,
       .max = 256LL << 20}};
}

void check(const config::Node& entry, const config::Options& options, Diagnostics& diagnostics) {
  const config::Node* path = entry.find("path");
  if (path && (path->scalar == "-" || options.text("path").empty())) {
    diagnostics.push_back(
        path->problem(Severity::kError, "expected the path of a file", "use `type: stdin` to read standard input"));
  }
}

std::unique_ptr<Source> make(const std::string& name, const config::Options& options) {
  return std::make_unique<FileSource>(
      name, FileSourceOptions{.path = options.text("path"),
                              .follow = options.flag("follow"),
                              .max_line = static_cast<std::size_t>(options.integer("max_line"))});
}

}  // namespace

const SourceType& file_type() {
  static constexpr SourceType kType{"file", "JSON lines of a file, whole or followed as it grows.", rows, check, make};
  return kType;
}

FileSource::FileSource(std::string name, FileSourceOptions options) : id_(name), options_(std::move(options)) {}

FileSource::~FileSource() {
  if (thread_.joinable()) stop();
}

Status FileSource::start(MessageQueue& queue, const Positions& taken) {
  struct stat about {};
  if (::stat(options_.path.c_str(), &about) != 0) {
    if (!options_.follow || errno != ENOENT) return error(Errc::kIo, options_.path + ": " + std::strerror(errno));
  } else if (S_ISDIR(about.st_mode) || (options_.follow && !S_ISREG(about.st_mode))) {
    return error(Errc::kInvalidArgument, options_.path + ": expected a file");
  } else if (!open_file(options_.path)) {
    return error(Errc::kIo, options_.path + ": " + std::strerror(errno));
  }
  state_ = State::kReading;
  const std::int64_t skip_through = last_taken(taken, id_);
  thread_ = std::thread([this, &queue, skip_through] {
    options_.follow && !alone_ ? follow(queue, skip_through) : read_whole(queue, skip_through);
  });
  return {};
}

void FileSource::go_on_in(const std::string& origin, bool alone) {
  origin_ = FileOrigin::parse(origin);
  alone_ = alone;
}

/// The file that was read before, where that is known.
std::optional<FoundFile> FileSource::find_again(std::int64_t skip_through) const {
  if (!origin_) return std::nullopt;
  auto found = find_file(options_.path, *origin_);
  if (!found && !alone_) {
    spdlog::error(
        "source {}: the file that was read before is neither {} nor another one in its directory: lines that it may "
        "have "
        "behind number {} are not read",
        id_.name(), options_.path, skip_through);
  }
  if (found && !found->has_name && !alone_) {
    for (const std::string& file : written_since(options_.path, found->file.get())) {
      spdlog::error("source {}: {} was written after the file that was read last, and is not read: was it rotated too?",
                    id_.name(), file);
    }
  }
  return found;
}

/// Number of the first line of the file that is read first.
std::int64_t FileSource::begin_at(bool found, std::int64_t skip_through) const {
  if (!origin_) return 0;
  return found ? origin_->first : skip_through + 1;
}

void FileSource::stop() {
  stop_.stop();
  if (thread_.joinable()) thread_.join();
}

std::string FileSource::status() const {
  switch (state_) {
    case State::kStopped:
      return "stopped";
    case State::kReading:
      return "reading";
    case State::kWaiting:
      return "waiting for lines";
    case State::kMissing:
      return "waiting for file";
    case State::kFailed:
      return "failed";
    case State::kFinished:
      return "finished";
  }
  return "?";
}

void FileSource::read_whole(MessageQueue& queue, std::int64_t skip_through) {
  auto again = find_again(skip_through);
  if (alone_ && !again) {
    state_ = State::kFinished;
    return;
  }
  LinePusher lines(id_, queue, options_.max_line, begin_at(again.has_value(), skip_through), skip_through);
  std::string buffer;
  FileDescriptor file;
  bool last = alone_ || !again || again->has_name;
  if (again) file = std::move(again->file);
  while (true) {
    if (!file) {
      file = open_file(options_.path);
      begin_file(lines, file.get());
    }
    const Read how = file ? read_all(file.get(), lines, stop_, buffer, nullptr) : Read::kFailed;
    if (how == Read::kFailed) {
      // Not finished: what has not been read must not count as absent.
      spdlog::error("source {}: {}: {}", id_.name(), options_.path, std::strerror(errno));
      state_ = State::kFailed;
      return;
    }
    if (how != Read::kEnd || !lines.finish()) {
      state_ = State::kStopped;
      return;
    }
    if (std::exchange(last, true)) break;
    file.reset();
  }
  if (lines.next() <= skip_through) {
    spdlog::warn("source {}: {} has {} lines, but {} were read before: is it another file?", id_.name(), options_.path,
                 lines.next(), skip_through + 1);
  }
  state_ = State::kFinished;
}

void FileSource::follow(MessageQueue& queue, std::int64_t skip_through) {
  auto known = find_again(skip_through);
  LinePusher lines(id_, queue, options_.max_line, begin_at(known.has_value(), skip_through), skip_through);
  FileWatch watch(options_.path);
  FileDescriptor file;
  if (known) file = std::move(known->file);
  std::int64_t bytes_read = 0;
  bool resuming = skip_through >= 0 && (known || !origin_);
  std::string buffer;
  int last_error = 0;

  const auto failed = [&](int code) {
    if (code != last_error) spdlog::warn("source {}: {}: {}", id_.name(), options_.path, std::strerror(code));
    last_error = code;
    state_ = State::kMissing;
  };
  const auto again_from_beginning = [&](std::int64_t next) {
    lines.restart_at(next);
    begin_file(lines, file.get());
    bytes_read = 0;
    return ::lseek(file.get(), 0, SEEK_SET) == 0;
  };

  for (; !stop_.stopped(); watch.wait(stop_)) {
    watch.arm();
    bool again = true;
    while (again && !stop_.stopped()) {
      again = false;
      if (!file) {
        file = open_file(options_.path);
        bytes_read = 0;
        if (!file) {
          failed(errno);
          break;
        }
        begin_file(lines, file.get());
        if (std::exchange(last_error, 0) != 0) spdlog::info("source {}: reading {}", id_.name(), options_.path);
      }
      // What the name stands for is looked up first: all that was written before it was renamed is read after that.
      struct stat named {};
      const bool has_name = ::stat(options_.path.c_str(), &named) == 0;
      state_ = State::kReading;
      const Read how = read_all(file.get(), lines, stop_, buffer, &bytes_read);
      if (how == Read::kClosed || how == Read::kStopped) {
        state_ = State::kStopped;
        return;
      }
      struct stat opened {};
      if (how == Read::kFailed || ::fstat(file.get(), &opened) != 0) {
        failed(errno);
        break;
      }
      state_ = State::kWaiting;
      last_error = 0;
      if (std::exchange(resuming, false) && lines.next() + (lines.in_line() ? 1 : 0) <= skip_through) {
        spdlog::warn(
            "source {}: {} has {} lines, but {} were read before: it was rotated, reading it from its beginning",
            id_.name(), options_.path, lines.next(), skip_through + 1);
        again = again_from_beginning(skip_through + 1);
      } else if (opened.st_size < bytes_read) {
        const std::int64_t next = lines.next();
        const bool lost = lines.in_line();
        spdlog::warn("source {}: {} was truncated, reading it from its beginning as line {} on{}", id_.name(),
                     options_.path, next, lost ? "; an unfinished line is lost" : "");
        again = again_from_beginning(next);
      } else if (has_name && !same_file(named, opened) && named.st_size > 0) {
        if (!lines.finish()) return;
        spdlog::info("source {}: {} was rotated, reading the new file as line {} on", id_.name(), options_.path,
                     lines.next());
        file.reset();
        again = true;
      }
    }
  }
  state_ = State::kStopped;
}

}  // namespace cepd::adapters
