#include "state/journal.h"

#include <algorithm>
#include <utility>

#include "state/layout.h"

namespace cepd::state {
namespace {

// Kinds of entries on disk. They never change; the variant's order may.
constexpr std::uint8_t kMessage = 1, kTook = 2, kFuture = 3, kIdle = 4, kAdvance = 5, kReload = 6, kBegins = 7,
                       kOrigin = 8;
// Flags of a message.
constexpr std::uint8_t kTooLong = 1, kDroppedAsFuture = 2;

template <class... Visitors>
struct Overloaded : Visitors... {
  using Visitors::operator()...;
};
template <class... Visitors>
Overloaded(Visitors...) -> Overloaded<Visitors...>;

void write(Writer& out, const JournalEntry& entry) {
  std::visit(Overloaded{
                 [&](const JournalMessage& message) {
                   out.byte(kMessage);
                   out.position(message.position);
                   out.text(message.topic);
                   out.byte(static_cast<std::uint8_t>((message.too_long ? kTooLong : 0) |
                                                      (message.future ? kDroppedAsFuture : 0)));
                   out.text(message.bytes);
                 },
                 [&](const JournalTook& took) {
                   out.byte(kTook);
                   out.position({took.source, took.partition, took.through});
                 },
                 [&](const JournalFuture& future) {
                   out.byte(kFuture);
                   out.position(future.position);
                 },
                 [&](const JournalIdle& idle) {
                   out.byte(kIdle);
                   out.text(idle.source.name());
                   out.signed_number(idle.partition);
                 },
                 [&](const JournalOrigin& origin) {
                   out.byte(kOrigin);
                   out.text(origin.source.name());
                   out.text(origin.origin);
                 },
                 [&](const JournalBegins& begins) {
                   out.byte(kBegins);
                   out.position({begins.source, begins.partition, begins.next});
                 },
                 [&](const JournalAdvance& advance) {
                   out.byte(kAdvance);
                   out.time(advance.watermark);
                 },
                 [&](const JournalReload& reload) {
                   out.byte(kReload);
                   out.number(reload.files.size());
                   for (const RuleText& file : reload.files) {
                     out.text(file.name);
                     out.text(file.text);
                   }
                 },
             },
             entry);
}

JournalEntry read_entry(Reader& in) {
  switch (in.byte()) {
    case kMessage: {
      JournalMessage message;
      message.position = in.position();
      message.topic = in.text();
      const std::uint8_t flags = in.byte();
      if (flags > (kTooLong | kDroppedAsFuture)) in.fail();
      message.too_long = flags & kTooLong;
      message.future = flags & kDroppedAsFuture;
      message.bytes = in.text();
      return message;
    }
    case kTook: {
      const SourcePosition position = in.position();
      return JournalTook{position.source, position.partition, position.offset};
    }
    case kFuture:
      return JournalFuture{in.position()};
    case kIdle: {
      JournalIdle idle;
      idle.source = SourceId(in.text());
      idle.partition = static_cast<std::int32_t>(in.signed_number());
      return idle;
    }
    case kOrigin: {
      JournalOrigin origin;
      origin.source = SourceId(in.text());
      origin.origin = in.text();
      return origin;
    }
    case kBegins: {
      const SourcePosition position = in.position();
      return JournalBegins{position.source, position.partition, position.offset};
    }
    case kAdvance:
      return JournalAdvance{in.time()};
    case kReload: {
      JournalReload reload;
      for (std::size_t left = in.count(); left > 0 && in.ok(); --left) {
        std::string name(in.text());
        reload.files.push_back({std::move(name), std::string(in.text())});
      }
      return reload;
    }
    default:
      in.fail();
      return JournalAdvance{};
  }
}

std::size_t size_of(const JournalEntry& entry) {
  std::size_t size = sizeof(JournalRecord);
  if (const auto* message = std::get_if<JournalMessage>(&entry)) size += message->topic.size() + message->bytes.size();
  if (const auto* reload = std::get_if<JournalReload>(&entry)) {
    for (const RuleText& file : reload->files) size += file.name.size() + file.text.size();
  }
  return size;
}

}  // namespace

std::string encode(const JournalRecord& record) {
  Writer out;
  out.time(record.written);
  write(out, record.entry);
  return seal(ordered_key(record.sequence), out.take());
}

Result<JournalRecord> decode_journal(std::string_view key, std::string_view value) {
  const auto corrupt = [](const std::string& which) {
    return error(Errc::kCorrupt, "entry " + which + " of the stored journal does not read back");
  };
  if (key.size() != sizeof(std::uint64_t)) return corrupt("without a number");
  JournalRecord record;
  record.sequence = read_ordered(key);
  const auto body = unseal(key, value);
  if (!body) return corrupt(std::to_string(record.sequence));
  Reader in(*body);
  record.written = in.time();
  record.entry = read_entry(in);
  if (!in.at_end()) return corrupt(std::to_string(record.sequence));
  return record;
}

Result<Journal> Journal::open(StateBackend& backend, std::uint64_t at_least) {
  auto last = backend.last_key(Space::kJournal);
  if (!last) return std::move(last).error();
  if (!*last) return Journal(at_least + 1);
  if ((*last)->size() != sizeof(std::uint64_t))
    return error(Errc::kCorrupt, "the last entry of the stored journal does not read back");
  return Journal(std::max(read_ordered(**last), at_least) + 1);
}

std::uint64_t Journal::append(JournalEntry entry, EventTime now) {
  if (const auto* took = std::get_if<JournalTook>(&entry); took != nullptr && !pending_.empty()) {
    auto* before = std::get_if<JournalTook>(&pending_.back().entry);
    if (before != nullptr && before->source == took->source && before->partition == took->partition) {
      before->through = took->through;
      return pending_.back().sequence;
    }
  }
  pending_bytes_ += size_of(entry);
  pending_.push_back({next_, now, std::move(entry)});
  return next_++;
}

void Journal::drain(WriteBatch& batch) {
  for (const JournalRecord& record : pending_) batch.put(Space::kJournal, ordered_key(record.sequence), encode(record));
  pending_.clear();
  pending_bytes_ = 0;
}

Result<std::vector<JournalRecord>> read_journal(StateBackend& backend, std::uint64_t behind, std::size_t most_bytes) {
  std::vector<JournalRecord> records;
  std::size_t bytes = 0;
  std::uint64_t expected = behind + 1;
  CEPD_TRY(backend.scan_from(
      Space::kJournal, ordered_key(expected), [&](std::string_view key, std::string_view value) -> Result<bool> {
        if (bytes >= most_bytes && !records.empty()) return false;
        auto record = decode_journal(key, value);
        if (!record) return std::move(record).error();
        if (record->sequence != expected)
          return error(Errc::kCorrupt, "the stored journal lacks the entries " + std::to_string(expected) + " to " +
                                           std::to_string(record->sequence - 1));
        ++expected;
        bytes += key.size() + value.size();
        records.push_back(std::move(*record));
        return true;
      }));
  return records;
}

Result<bool> trim_journal(StateBackend& backend, WriteBatch& batch, std::uint64_t through, EventTime older_than,
                          std::size_t most) {
  bool more = false;
  CEPD_TRY(backend.scan_from(Space::kJournal, {}, [&](std::string_view key, std::string_view value) -> Result<bool> {
    auto record = decode_journal(key, value);
    if (!record) return std::move(record).error();
    if (record->sequence > through || record->written >= older_than) return false;
    if (most == 0) {
      more = true;
      return false;
    }
    --most;
    batch.erase(Space::kJournal, std::string(key));
    return true;
  }));
  return more;
}

const config::OptionTable& journal_option_table() {
  using config::OptionType;
  static const config::OptionTable table{
      "journal",
      "Input that cannot be read again, and what else the outcome depends on, durable before it is acknowledged.",
      {
          {.name = "max_wait",
           .type = OptionType::kDuration,
           .default_text = "5ms",
           .help = "Longest time that input waits for other input to be made durable in the same commit. Larger: fewer "
                   "commits, later acknowledgement.",
           .min = 0,
           .max = 10'000'000},
          {.name = "retain",
           .type = OptionType::kDuration,
           .default_text = "0s",
           .help = "How long the journal keeps what the oldest kept checkpoint no longer needs.",
           .min = 0,
           .max = std::int64_t{366} * 86'400'000'000},
          {.name = "retain_bytes",
           .type = OptionType::kBytes,
           .default_text = "1GiB",
           .help = "Most bytes of the journal beyond which retain is not heeded. What a kept checkpoint needs stays.",
           .min = 0,
           .max = std::int64_t{1} << 40},
      }};
  return table;
}

}  // namespace cepd::state
