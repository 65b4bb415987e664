#pragma once
/// Everything that the outcome depends on beside rules and replayable input, in the order in which the pump acted. A
/// checkpoint, the journal behind it and the sources that can be replayed make the same matches once more.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/ids.h"
#include "base/result.h"
#include "base/time.h"
#include "config/options.h"
#include "state/backend.h"

namespace cepd::state {

/// A message of a source that cannot be replayed was taken.
struct JournalMessage {
  SourcePosition position;
  std::string topic;
  bool too_long = false;  ///< `bytes` is only its beginning
  bool future = false;    ///< it was dropped, as too far ahead of the clock
  std::string bytes;
  bool operator==(const JournalMessage&) const = default;
};
/// All messages of one partition of a replayable source were taken, from behind the last one that was, to `through`.
struct JournalTook {
  SourceId source;
  std::int32_t partition = 0;
  std::int64_t through = 0;
  bool operator==(const JournalTook&) const = default;
};
/// The next message of a replayable source was taken and dropped, as too far ahead of the clock. In no JournalTook.
struct JournalFuture {
  SourcePosition position;
  bool operator==(const JournalFuture&) const = default;
};
/// The partition was declared idle.
struct JournalIdle {
  SourceId source;
  std::int32_t partition = 0;
  bool operator==(const JournalIdle&) const = default;
};
/// The next message of the source comes from another file than those before (adapters: Message::origin).
struct JournalOrigin {
  SourceId source;
  std::string origin;
  bool operator==(const JournalOrigin&) const = default;
};
/// The partition of a replayable source is read from offset `next` on (for the first time, or after a gap), and time
/// waits for it until its next message or JournalIdle.
struct JournalBegins {
  SourceId source;
  std::int32_t partition = 0;
  std::int64_t next = 0;
  bool operator==(const JournalBegins&) const = default;
};
/// The clock moved the watermark, all partitions being idle.
struct JournalAdvance {
  EventTime watermark{};
  bool operator==(const JournalAdvance&) const = default;
};
/// The rules were replaced by these files.
struct RuleText {
  std::string name;  ///< of the file, in the rule directory
  std::string text;
  bool operator==(const RuleText&) const = default;
};
struct JournalReload {
  std::vector<RuleText> files;
  bool operator==(const JournalReload&) const = default;
};

using JournalEntry = std::variant<JournalMessage, JournalTook, JournalFuture, JournalIdle, JournalBegins, JournalOrigin,
                                  JournalAdvance, JournalReload>;

struct JournalRecord {
  std::uint64_t sequence = 0;  ///< from 1, without gaps
  EventTime written{};         ///< by the wall clock
  JournalEntry entry;
};

/// The value of one record of Space::kJournal, whose key is ordered_key(sequence) (state/layout.h): with a checksum of
/// itself and of its sequence in front.
std::string encode(const JournalRecord& record);
/// Errors: kCorrupt.
Result<JournalRecord> decode_journal(std::string_view key, std::string_view value);

/// The end that is written. The pump's thread only; what drain() gives goes to the Committer.
class Journal {
 public:
  /// Goes on behind the last stored entry and behind `at_least`: the sequence that the last checkpoint has taken in,
  /// whose entry may have been trimmed. Errors: those of the backend; kCorrupt.
  static Result<Journal> open(StateBackend& backend, std::uint64_t at_least);

  /// Returns the entry's sequence. A JournalTook that follows one of the same partition which was not drained yet makes
  /// that one longer instead (cheap enough for each event). Nothing is stored before drain().
  std::uint64_t append(JournalEntry entry, EventTime now);
  std::uint64_t last() const { return next_ - 1; }  ///< sequence of the last entry; 0 when there was none

  /// Puts into `batch` what was appended since the last drain().
  void drain(WriteBatch& batch);
  std::size_t pending_bytes() const { return pending_bytes_; }  ///< of messages and texts, for the caller's bound

 private:
  explicit Journal(std::uint64_t next) : next_(next) {}

  std::uint64_t next_;
  std::vector<JournalRecord> pending_;
  std::size_t pending_bytes_ = 0;
};

/// Reads entries in order, beginning with the one after `behind`, until `most_bytes` are passed; empty at the end.
/// Errors: kCorrupt for an entry that does not read back and for a gap; those of the backend.
Result<std::vector<JournalRecord>> read_journal(StateBackend& backend, std::uint64_t behind,
                                                std::size_t most_bytes = std::size_t{4} << 20);

/// Puts into `batch` the removal of the oldest entries, at most `most` and none behind `through`. Of those it takes
/// what was written before `older_than`. True when there may be more to remove.
Result<bool> trim_journal(StateBackend& backend, WriteBatch& batch, std::uint64_t through, EventTime older_than,
                          std::size_t most);

/// `journal:` in the configuration: max_wait (of the group commit), retain, retain_bytes.
const config::OptionTable& journal_option_table();

}  // namespace cepd::state
