#include "adapters/stdin_source.h"

#include <spdlog/spdlog.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>
#include <vector>

#include "adapters/line_pusher.h"
#include "adapters/source_type.h"

namespace cepd::adapters {
namespace {

constexpr std::size_t kChunk = 64U << 10;

std::vector<config::OptionRow> rows() {
  return {{.name = "max_line",
           .type = config::OptionType::kBytes,
           .default_text = "1MiB",
           .help = "Longest line in bytes; longer ones go to the dead-letter file.",
           .min = 1024,
           .max = 256LL << 20}};
}

std::unique_ptr<Source> make(const std::string& name, const config::Options& options) {
  return std::make_unique<StdinSource>(name, static_cast<std::size_t>(options.integer("max_line")));
}

}  // namespace

const SourceType& stdin_type() {
  static constexpr SourceType kType{"stdin", "JSON lines of standard input, to its end.", rows, nullptr, make};
  return kType;
}

StdinSource::StdinSource(std::string name, std::size_t max_line, int fd) : id_(name), max_line_(max_line), fd_(fd) {}

StdinSource::~StdinSource() {
  if (thread_.joinable()) stop();
}

Status StdinSource::start(MessageQueue& queue, const Positions& taken) {
  state_ = State::kReading;
  thread_ = std::thread([this, &queue, next = last_taken(taken, id_) + 1] { state_ = read(queue, next); });
  return {};
}

void StdinSource::stop() {
  stop_.stop();
  if (thread_.joinable()) thread_.join();
}

std::string StdinSource::status() const {
  switch (state_) {
    case State::kStopped:
      return "stopped";
    case State::kReading:
      return "reading";
    case State::kFailed:
      return "failed";
    case State::kFinished:
      return "finished";
  }
  return "?";
}

StdinSource::State StdinSource::read(MessageQueue& queue, std::int64_t next) const {
  LinePusher lines(id_, queue, max_line_, next, next - 1);
  std::string buffer(kChunk, '\0');
  while (true) {
    // A terminal or pipe may never have anything more: read only when there is something, so that stop() is heard.
    if (!stop_.wait_readable(fd_)) {
      if (stop_.stopped()) return State::kStopped;
      continue;
    }
    const ssize_t size = ::read(fd_, buffer.data(), buffer.size());
    if (size > 0) {
      if (!lines.feed(std::string_view(buffer).substr(0, static_cast<std::size_t>(size)))) return State::kStopped;
    } else if (size == 0) {
      return lines.finish() ? State::kFinished : State::kStopped;
    } else if (errno != EINTR && errno != EAGAIN) {
      spdlog::error("source {}: standard input: {}", id_.name(), std::strerror(errno));
      return State::kFailed;
    }
  }
}

}  // namespace cepd::adapters
