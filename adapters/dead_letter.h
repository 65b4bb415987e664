#pragma once
/// Keeps what could not be matched: one JSON object a line with source, partition, offset, reason, detail, the
/// wall-clock time, and the original bytes (`text`, or `base64` when they are no UTF-8; at most `max_record` of them,
/// with `truncated_from` when cut).

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/drop_reason.h"
#include "base/ids.h"
#include "base/result.h"

namespace cepd::adapters {

class DeadLetterFile {
 public:
  /// Appends to `path`, which is made where it is missing; an empty path keeps nothing and only counts and logs.
  static Result<std::unique_ptr<DeadLetterFile>> open(const std::string& path, const Clock& clock);
  ~DeadLetterFile();

  /// Counts, writes (buffered) and logs; the log line at most once a second for each reason, with how many it stands
  /// for.
  void add(DropReason reason, const SourcePosition& position, std::string_view detail, std::string_view bytes);
  /// Counts and logs only.
  void note(DropReason reason, const SourcePosition& position, std::string_view detail);
  void flush();
  std::uint64_t count(DropReason reason) const;
  std::uint64_t total() const;

 private:
  struct Impl;
  explicit DeadLetterFile(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace cepd::adapters
