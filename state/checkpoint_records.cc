#include "state/checkpoint_records.h"

#include <algorithm>
#include <iterator>
#include <random>

#include "state/layout.h"

namespace cepd::state {
namespace {

// Where an undo record says whether there was a value.
constexpr std::uint8_t kWasAbsent = 0, kWasThere = 1;
constexpr std::size_t kHashSize = 32;

Error corrupt(const std::string& what) { return error(Errc::kCorrupt, "a stored " + what + " does not read back"); }

void write(Writer& out, const StateSum& sum) {
  out.text(sum.hash.bytes());
  out.number(sum.records);
  out.number(sum.bytes);
}

StateSum read_sum(Reader& in) {
  StateSum sum;
  const std::string_view hash = in.text();
  if (hash.size() == kHashSize) {
    sum.hash = MultisetHash::from_bytes(hash);
  } else {
    in.fail();
  }
  sum.records = in.number();
  sum.bytes = in.number();
  return sum;
}

std::chrono::microseconds read_micros(Reader& in) { return std::chrono::microseconds(in.signed_number()); }

}  // namespace

bool is_checkpoint_space(Space space) {
  return std::find(std::begin(kCheckpointSpaces), std::end(kCheckpointSpaces), space) != std::end(kCheckpointSpaces);
}

bool is_live_space(Space space) {
  return std::find(std::begin(kLiveSpaces), std::end(kLiveSpaces), space) != std::end(kLiveSpaces);
}

std::string encode(const CheckpointInfo& info) {
  Writer out;
  out.time(info.time);
  out.number(info.journal_sequence);
  out.number(info.outbox_next);
  write(out, info.checkpointed);
  write(out, info.live);
  out.number(info.changes);
  out.number(info.bytes);
  out.number(info.undo_bytes);
  out.signed_number(info.duration.count());
  out.signed_number(info.longest_slice.count());
  return seal(ordered_key(info.number), out.take());
}

Result<CheckpointInfo> decode_checkpoint(std::string_view key, std::string_view record) {
  const auto body = unseal(key, record);
  if (!body || key.size() != sizeof(std::uint64_t)) return corrupt("checkpoint's record");
  CheckpointInfo info;
  info.number = read_ordered(key);
  Reader in(*body);
  info.time = in.time();
  info.journal_sequence = in.number();
  info.outbox_next = in.number();
  info.checkpointed = read_sum(in);
  info.live = read_sum(in);
  info.changes = in.number();
  info.bytes = in.number();
  info.undo_bytes = in.number();
  info.duration = read_micros(in);
  info.longest_slice = read_micros(in);
  if (!in.at_end()) return corrupt("checkpoint's record");
  return info;
}

Result<std::vector<CheckpointInfo>> list_checkpoints(StateBackend& backend) {
  std::vector<CheckpointInfo> found;
  CEPD_TRY(backend.scan(Space::kCheckpoints, {}, [&](std::string_view key, std::string_view record) -> Status {
    auto info = decode_checkpoint(key, record);
    if (!info) return std::move(info).error();
    found.push_back(std::move(*info));
    return {};
  }));
  return found;
}

std::string undo_key(std::uint64_t number, Space space, std::string_view key) {
  return ordered_key(number) + static_cast<char>(space) + std::string(key);
}

void put_undo(WriteBatch& batch, std::uint64_t number, Space space, std::string_view key,
              const std::optional<std::string>& before) {
  std::string body(1, static_cast<char>(before ? kWasThere : kWasAbsent));
  if (before) body += *before;
  std::string at = undo_key(number, space, key);
  std::string record = seal(at, body);
  batch.put(Space::kUndo, std::move(at), std::move(record));
}

Result<UndoRecord> decode_undo(std::string_view key, std::string_view record) {
  const auto body = unseal(key, record);
  if (!body || body->empty() || key.size() <= kUndoPrefix) return corrupt("undo record");
  UndoRecord undo;
  undo.number = read_ordered(key);
  undo.space = static_cast<Space>(key[kUndoPrefix - 1]);
  undo.key = key.substr(kUndoPrefix);
  const auto kind = static_cast<std::uint8_t>(body->front());
  if (kind == kWasThere) undo.before = body->substr(1);
  if (kind > kWasThere || (kind == kWasAbsent && body->size() > 1)) return corrupt("undo record");
  if (!is_checkpoint_space(undo.space) && !is_live_space(undo.space)) return corrupt("undo record");
  return undo;
}

Result<std::vector<UndoRecord>> read_undo(StateBackend& backend, std::string_view prefix, std::size_t most_bytes,
                                          const UndoRecord* after) {
  // The next key that there can be.
  const std::string from =
      after == nullptr ? std::string(prefix) : undo_key(after->number, after->space, after->key) + '\0';
  std::vector<UndoRecord> records;
  std::size_t bytes = 0;
  CEPD_TRY(backend.scan_from(Space::kUndo, from, [&](std::string_view key, std::string_view record) -> Result<bool> {
    if (bytes >= most_bytes || !key.starts_with(prefix)) return false;
    auto undo = decode_undo(key, record);
    if (!undo) return std::move(undo).error();
    bytes += key.size() + record.size();
    records.push_back(std::move(*undo));
    return true;
  }));
  return records;
}

void put_identity(WriteBatch& batch, std::string_view identity) {
  batch.put(Space::kMeta, std::string(kIdentityKey), seal(kIdentityKey, identity));
}

Result<std::string> identity_of(StateBackend& backend) {
  const auto stored = backend.get(Space::kMeta, kIdentityKey);
  if (!stored) return stored.error();
  if (*stored) {
    const auto identity = unseal(kIdentityKey, **stored);
    if (!identity) return corrupt("identity");
    return std::string(*identity);
  }
  std::string identity(16, '\0');
  std::random_device random;
  for (char& byte : identity) byte = static_cast<char>(random());
  WriteBatch batch;
  put_identity(batch, identity);
  CEPD_TRY(backend.commit(batch));
  return identity;
}

void put_number(WriteBatch& batch, std::string_view key, std::uint64_t number) {
  Writer out;
  out.number(number);
  batch.put(Space::kMeta, std::string(key), seal(key, out.take()));
}

Result<std::uint64_t> decode_number(std::string_view key, std::string_view record) {
  const auto body = unseal(key, record);
  Reader in(body.value_or(std::string_view()));
  const std::uint64_t number = in.number();
  if (!in.at_end()) return corrupt("number (" + std::string(key) + ")");
  return number;
}

Result<std::optional<std::uint64_t>> get_number(StateBackend& backend, std::string_view key) {
  auto record = backend.get(Space::kMeta, key);
  if (!record) return std::move(record).error();
  if (!*record) return std::nullopt;
  auto number = decode_number(key, **record);
  if (!number) return std::move(number).error();
  return *number;
}

void put_sum(WriteBatch& batch, const StateSum& sum) {
  Writer out;
  write(out, sum);
  batch.put(Space::kMeta, std::string(kLiveKey), seal(kLiveKey, out.take()));
}

Result<std::optional<StateSum>> get_sum(StateBackend& backend) {
  auto record = backend.get(Space::kMeta, kLiveKey);
  if (!record) return std::move(record).error();
  if (!*record) return std::nullopt;
  const auto body = unseal(kLiveKey, **record);
  Reader in(body.value_or(std::string_view()));
  const StateSum sum = read_sum(in);
  if (!in.at_end()) return corrupt("sum of the outbox");
  return sum;
}

Result<StateSum> sum_of(StateBackend& backend, const Space* begin, const Space* end) {
  StateSum sum;
  for (const Space* space = begin; space != end; ++space) {
    CEPD_TRY(backend.scan(*space, {}, [&](std::string_view key, std::string_view value) -> Status {
      sum.add(*space, key, value);
      return {};
    }));
  }
  return sum;
}

}  // namespace cepd::state
