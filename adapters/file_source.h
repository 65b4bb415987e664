#pragma once
/// JSON lines from a file. The offset of a message is the 0-based number of its line; blank lines count too.
///
/// One thread reads and waits while the queue is full. Whole: from the first line (or the one after the last that was
/// taken) to the end, of which a last line without '\n' is part. Follow: then waits for more; only lines with their
/// '\n' are taken. A file renamed away is read to its end, then the new one of that name from its beginning, as soon as
/// something is in it; a file that got shorter is read from its beginning again. Line numbers go on counting through
/// both. On a resume the file that was read before (go_on_in()) is looked for under all names of its directory and read
/// on, then the one of the source's name; where it is gone, or has fewer lines than were read, that one is a new file.

#include <atomic>
#include <string>
#include <thread>

#include "adapters/file_origin.h"
#include "adapters/source.h"
#include "adapters/stop_signal.h"

namespace cepd::adapters {

struct FileSourceOptions {
  std::string path;
  bool follow = false;
  std::size_t max_line = 1U << 20;  ///< bytes, without the '\n'; of a longer line the beginning is pushed as too_long
};

class FileSource final : public Source {
 public:
  FileSource(std::string name, FileSourceOptions options);
  ~FileSource() override;

  Status start(MessageQueue& queue, const Positions& taken) override;
  void go_on_in(const std::string& origin, bool alone) override;
  void stop() override;
  bool finished() const override { return state_ == State::kFinished; }
  bool replayable() const override { return true; }
  bool bounded() const override { return !options_.follow; }
  std::string status() const override;
  SourceId id() const override { return id_; }

 private:
  enum class State : unsigned char { kStopped, kReading, kWaiting, kMissing, kFailed, kFinished };

  std::optional<FoundFile> find_again(std::int64_t skip_through) const;
  std::int64_t begin_at(bool found, std::int64_t skip_through) const;
  void read_whole(MessageQueue& queue, std::int64_t skip_through);
  void follow(MessageQueue& queue, std::int64_t skip_through);

  const SourceId id_;
  const FileSourceOptions options_;
  std::optional<FileOrigin> origin_;  // of what was read before
  bool alone_ = false;
  StopSignal stop_;
  std::atomic<State> state_ = State::kStopped;
  std::thread thread_;
};

}  // namespace cepd::adapters
