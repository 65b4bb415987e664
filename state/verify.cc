#include "state/verify.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

#include "state/journal.h"
#include "state/layout.h"

namespace cepd::state {
namespace {

/// Goes back from what is stored now, checkpoint by checkpoint, without writing: the value of a key as of a checkpoint
/// is what the first undo record after it says, else what is stored.
class Verifier {
 public:
  explicit Verifier(StateBackend& backend) : backend_(backend) {}

  Result<Verification> run() {
    CEPD_TRY(count());
    CEPD_TRY(read_checkpoints());
    CEPD_TRY(sum_state());
    CEPD_TRY(check_meta());
    CEPD_TRY(find_numbers());
    std::size_t undone = numbers_.size();  // all from there on
    for (auto it = found_.checkpoints.rbegin(); it != found_.checkpoints.rend(); ++it) {
      while (undone > 0 && numbers_[undone - 1] > it->info.number) CEPD_TRY(go_back(--undone));
      it->good = it->info.checkpointed == checkpointed_ && it->info.live == live_;
      if (!it->good)
        problem("checkpoint " + std::to_string(it->info.number) +
                " cannot be gone back to: its records are not what they were");
    }
    // What is about to be dropped still has to read back.
    while (undone > 0) CEPD_TRY(go_back(--undone));
    CEPD_TRY(check_journal());
    return std::move(found_);
  }

 private:
  void problem(std::string text) { found_.problems.push_back(std::move(text)); }
  /// Damage becomes a problem; other errors end it all.
  Status note(const Error& reason) {
    if (reason.code != Errc::kCorrupt) return reason;
    problem(reason.message);
    return {};
  }

  /// A tree that lost a part still says how much was in it.
  Status count() {
    for (int i = 0; i < kSpaceCount; ++i) {
      const auto space = static_cast<Space>(i);
      std::uint64_t found = 0;
      CEPD_TRY(backend_.scan(space, {}, [&found](std::string_view, std::string_view) -> Status {
        ++found;
        return {};
      }));
      auto size = backend_.size(space);
      if (!size) return std::move(size).error();
      if (size->entries != found)
        problem(std::string(space_name(space)) + " has " + std::to_string(found) + " of " +
                std::to_string(size->entries) + " records");
    }
    return {};
  }

  Status read_checkpoints() {
    return backend_.scan(Space::kCheckpoints, {}, [this](std::string_view key, std::string_view record) -> Status {
      auto info = decode_checkpoint(key, record);
      if (!info) return note(info.error());
      found_.checkpoints.push_back({std::move(*info), false});
      return {};
    });
  }

  Status sum_state() {
    auto checkpointed = sum_of(backend_, std::begin(kCheckpointSpaces), std::end(kCheckpointSpaces));
    if (!checkpointed) return std::move(checkpointed).error();
    auto live = sum_of(backend_, std::begin(kLiveSpaces), std::end(kLiveSpaces));
    if (!live) return std::move(live).error();
    checkpointed_ = *checkpointed;
    live_ = *live;
    found_.records += checkpointed_.records + live_.records;
    return {};
  }

  Status check_meta() {
    CEPD_TRY(backend_.scan(Space::kMeta, {}, [this](std::string_view key, std::string_view record) -> Status {
      if (key == kIdentityKey) {
        if (!unseal(key, record)) problem("a stored identity does not read back");
      } else if (key != kFormatVersionKey && key != kBegunKey && key != kLiveKey && key != kRollbackKey) {
        problem("there is a record of a name that cepd does not give");
      }
      return {};
    }));
    for (const std::string_view key : {kBegunKey, kRollbackKey}) {
      const auto number = get_number(backend_, key);
      if (!number) {
        CEPD_TRY(note(number.error()));
      } else if (key == kRollbackKey && *number) {
        problem("a rollback to checkpoint " + std::to_string(**number) + " was cut off; the next start ends it");
      }
    }
    const auto live = get_sum(backend_);
    if (!live) return note(live.error());
    if (*live && !(**live == live_)) problem("the action calls that are stored are not those that were");
    return {};
  }

  /// Of the undo records; ascending.
  Status find_numbers() {
    std::uint64_t next = 0;
    while (true) {
      std::optional<std::uint64_t> number;
      CEPD_TRY(backend_.scan_from(Space::kUndo, ordered_key(next),
                                  [&](std::string_view key, std::string_view) -> Result<bool> {
                                    if (key.size() > kUndoPrefix) number = read_ordered(key);
                                    return false;
                                  }));
      if (!number) return {};
      numbers_.push_back(*number);
      if (*number == UINT64_MAX) return {};
      next = *number + 1;
    }
  }

  /// From the state as of after `numbers_[at]` to that before it.
  Status go_back(std::size_t at) {
    std::string prefix = ordered_key(numbers_[at]);
    std::string from = prefix;
    while (true) {
      std::vector<std::pair<std::string, std::string>> records;
      std::size_t bytes = 0;
      std::optional<std::string> rest;
      CEPD_TRY(
          backend_.scan_from(Space::kUndo, from, [&](std::string_view key, std::string_view value) -> Result<bool> {
            if (!key.starts_with(prefix)) return false;
            if (bytes > kStepBytes) {
              rest = key;
              return false;
            }
            bytes += key.size() + value.size();
            records.emplace_back(key, value);
            return true;
          }));
      for (const auto& [key, value] : records) {
        ++found_.records;
        auto undo = decode_undo(key, value);
        CEPD_TRY(undo ? take_back(*undo, at) : note(undo.error()));
      }
      if (!rest) return {};
      from = std::move(*rest);
    }
  }

  Status take_back(const UndoRecord& undo, std::size_t at) {
    auto after = value_after(undo, at);
    if (!after) return note(after.error());
    StateSum& sum = is_live_space(undo.space) ? live_ : checkpointed_;
    if (*after) sum.remove(undo.space, undo.key, **after);
    if (undo.before) sum.add(undo.space, undo.key, *undo.before);
    return {};
  }

  Result<std::optional<std::string>> value_after(const UndoRecord& undo, std::size_t at) {
    for (std::size_t later = at + 1; later < numbers_.size(); ++later) {
      const std::string key = undo_key(numbers_[later], undo.space, undo.key);
      auto record = backend_.get(Space::kUndo, key);
      if (!record) return std::move(record).error();
      if (!*record) continue;
      auto decoded = decode_undo(key, **record);
      if (!decoded) return std::move(decoded).error();
      return std::move(decoded->before);
    }
    return backend_.get(undo.space, undo.key);
  }

  Status check_journal() {
    std::optional<std::uint64_t> expected;
    CEPD_TRY(backend_.scan(Space::kJournal, {}, [&](std::string_view key, std::string_view value) -> Status {
      ++found_.records;
      auto record = decode_journal(key, value);
      if (!record) {
        expected.reset();
        return note(record.error());
      }
      if (expected && record->sequence != *expected)
        problem("the stored journal lacks the entries " + std::to_string(*expected) + " to " +
                std::to_string(record->sequence - 1));
      if (!expected && !found_.checkpoints.empty()) check_first(record->sequence);
      expected = record->sequence + 1;
      return {};
    }));
    return {};
  }

  void check_first(std::uint64_t sequence) {
    if (first_checked_) return;
    first_checked_ = true;
    const CheckpointInfo& oldest = found_.checkpoints.front().info;
    if (sequence > oldest.journal_sequence + 1)
      problem("the stored journal begins with entry " + std::to_string(sequence) + ", and checkpoint " +
              std::to_string(oldest.number) + " needs those from " + std::to_string(oldest.journal_sequence + 1) +
              " on");
  }

  static constexpr std::size_t kStepBytes = std::size_t{1} << 20;

  StateBackend& backend_;
  Verification found_;
  StateSum checkpointed_, live_;
  std::vector<std::uint64_t> numbers_;
  bool first_checked_ = false;
};

}  // namespace

Result<Verification> verify_state(StateBackend& backend) { return Verifier(backend).run(); }

}  // namespace cepd::state
