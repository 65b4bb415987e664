#pragma once
/// JSON lines from standard input, to its end. Cannot be replayed: offsets only go on counting.
/// One thread reads and waits while the queue is full.

#include <atomic>
#include <string>
#include <thread>

#include "adapters/source.h"
#include "adapters/stop_signal.h"

namespace cepd::adapters {

class StdinSource final : public Source {
 public:
  /// `fd` stays open: it is not this source's.
  StdinSource(std::string name, std::size_t max_line, int fd = 0);
  ~StdinSource() override;

  Status start(MessageQueue& queue, const Positions& taken) override;
  void stop() override;
  bool finished() const override { return state_ == State::kFinished; }
  bool bounded() const override { return true; }
  std::string status() const override;
  SourceId id() const override { return id_; }

 private:
  enum class State : unsigned char { kStopped, kReading, kFailed, kFinished };
  State read(MessageQueue& queue, std::int64_t next) const;

  const SourceId id_;
  const std::size_t max_line_;
  const int fd_;
  StopSignal stop_;
  std::atomic<State> state_ = State::kStopped;
  std::thread thread_;
};

}  // namespace cepd::adapters
