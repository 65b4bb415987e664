#pragma once
/// Reads the files that DeadLetterFile writes, also while it does.

#include <cstdint>
#include <optional>
#include <string>

#include "base/drop_reason.h"

namespace cepd::adapters {

/// One record.
struct DeadLetter {
  std::uint64_t number = 0;
  std::string time, source;  ///< RFC 3339; with the topic where it is of several
  std::int64_t partition = 0, offset = 0;
  std::string topic;  ///< of MQTT; empty elsewhere
  std::string reason, detail;
  std::string bytes;                 ///< the original, or its beginning
  std::uint64_t truncated_from = 0;  ///< how long it was where this is the beginning only, and that is known
  std::string line;                  ///< the record itself, without its line end

  /// Of what was over its source's limit only the beginning was ever read.
  bool whole() const { return truncated_from == 0 && reason != drop_reason_name(DropReason::kTooLong); }
};

/// From the oldest record there is, in the order of their numbers. For one thread.
class DeadLetterReader {
 public:
  /// `path` as for DeadLetterFile; `after`: records up to this number are left out.
  explicit DeadLetterReader(std::string path, std::uint64_t after = 0);
  ~DeadLetterReader();
  DeadLetterReader(const DeadLetterReader&) = delete;
  DeadLetterReader& operator=(const DeadLetterReader&) = delete;

  /// None: there is no further one for now. Lines that are no records are skipped.
  std::optional<DeadLetter> next();
  std::uint64_t skipped_lines() const { return skipped_; }

 private:
  bool read_more();
  bool replaced() const;
  void open(const std::string& path);

  const std::string path_;
  int fd_ = -1;
  bool rest_ = false;  // another file is there under the name: this one is read to its end
  std::string buffer_;
  std::size_t at_ = 0;  // in buffer_, what is not yet taken
  std::uint64_t last_;
  std::uint64_t skipped_ = 0;
};

}  // namespace cepd::adapters
