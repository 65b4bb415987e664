#pragma once
/// Chunks of bytes -> one message a line.

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>

#include "adapters/source.h"

namespace cepd::adapters {

/// Of a line over the limit this much is pushed, for the dead-letter file.
inline constexpr std::size_t kTooLongKept = 4096;

/// Splits at '\n' (a '\r' before it goes too), numbers every line, and pushes those that are not blank. Waits while the
/// queue is full. For one thread.
class LinePusher {
 public:
  /// The next line has number `next`; lines up to number `skip_through` are counted but not pushed.
  LinePusher(SourceId source, MessageQueue& queue, std::size_t max_line, std::int64_t next, std::int64_t skip_through);

  /// False when the queue was closed: nothing more can be pushed.
  [[nodiscard]] bool feed(std::string_view chunk);
  /// Takes what came after the last '\n' as a line.
  [[nodiscard]] bool finish();
  /// Forgets what came after the last '\n'. True if there was any.
  bool discard_partial();
  /// Lines from here on are pushed and numbered from `next`.
  void restart_at(std::int64_t next);

  /// What begins now is another file, and `which` says which once its first line is there that is pushed:
  /// Message::origin of that one, where it is not empty.
  void begin_file(std::function<std::string()> which) { which_ = std::move(which); }

  /// Number of the line that begins next, or has begun.
  std::int64_t next() const { return next_; }
  bool in_line() const { return overlong_ || !partial_.empty(); }

 private:
  void keep(std::string_view piece);
  bool take(std::string_view line, bool too_long);

  const SourceId source_;
  MessageQueue& queue_;
  const std::size_t max_line_;
  std::int64_t next_;
  std::int64_t skip_through_;
  std::string partial_;                 // beginning of a line whose end has not come
  std::function<std::string()> which_;  // not yet told
  bool overlong_ = false;               // that line is over the limit: `partial_` is its first bytes only
};

}  // namespace cepd::adapters
