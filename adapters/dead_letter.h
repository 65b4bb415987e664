#pragma once
/// Keeps what could not be matched: one JSON object a line with its number in the file (`n`, from 1), the wall-clock
/// time, source, partition, offset, MQTT topic where it has one, reason, detail, and the original bytes (`text`, or
/// `base64` when they are no UTF-8; at most kMostKept of them, with `truncated_from` when cut).
///
/// Two files: beside `path`, which is written to, `path`.1 has what was before. Together they stay below the bound, and
/// what was longest there goes; the numbers go on.

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

/// Bytes of an event that a record keeps.
inline constexpr std::size_t kMostKept = std::size_t{1} << 20;

/// The older of the two files.
std::string dead_letters_before(const std::string& path);

class DeadLetterFile {
 public:
  /// Appends to `path`, which is made where it is missing; an empty path keeps nothing and only counts and logs.
  /// `most_bytes`: of both files, about. Errors: kIo.
  static Result<std::unique_ptr<DeadLetterFile>> open(const std::string& path, const Clock& clock,
                                                      std::size_t most_bytes = std::size_t{256} << 20);
  ~DeadLetterFile();

  /// Counts, writes (buffered) and logs; the log line at most once a second for each reason, with how many it stands
  /// for.
  void add(DropReason reason, const SourcePosition& position, std::string_view detail, std::string_view bytes,
           std::string_view topic = {});
  /// Counts and logs only.
  void note(DropReason reason, const SourcePosition& position, std::string_view detail);
  void flush();
  /// Of the last record that is in the file; 0 for none.
  std::uint64_t last_number() const;
  std::uint64_t count(DropReason reason) const;
  std::uint64_t total() const;

 private:
  struct Impl;
  explicit DeadLetterFile(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace cepd::adapters
