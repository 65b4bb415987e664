#include <algorithm>
#include <iterator>
#include <utility>

#include "state/layout.h"
#include "state/mirror_copies.h"

namespace cepd::state {
namespace {

/// Of chunks asked for together.
constexpr std::size_t kTogether = 8;

Error damaged(const MirrorManifest& of, const std::string& what) {
  return error(Errc::kCorrupt, "copy " + std::to_string(of.checkpoint.number) + " " + what);
}

Result<MirrorManifest> read_manifest(MirrorStore& store, std::uint64_t number) {
  const std::string name = manifest_name(number);
  auto record = store.read({&name, 1});
  if (!record) return std::move(record).error();
  if (!record->front()) return error(Errc::kCorrupt, "copy " + std::to_string(number) + " has lost its manifest");
  return decode_manifest(number, *record->front());
}

/// From the one that has all.
Result<std::vector<MirrorManifest>> read_chain(MirrorStore& store, std::uint64_t number) {
  std::vector<MirrorManifest> chain;
  for (std::uint64_t at = number; at != 0; at = chain.back().previous) {
    auto manifest = read_manifest(store, at);
    if (!manifest) return std::move(manifest).error();
    chain.push_back(std::move(*manifest));
  }
  std::reverse(chain.begin(), chain.end());
  return chain;
}

Status put_chunks(MirrorStore& store, StateBackend& backend, const MirrorManifest& manifest) {
  const std::vector<std::string> names = chunk_names(manifest.checkpoint.number, manifest.chunks.size());
  for (std::size_t i = 0; i < names.size(); i += kTogether) {
    const std::span<const std::string> some = std::span(names).subspan(i, std::min(kTogether, names.size() - i));
    auto chunks = store.read(some);
    if (!chunks) return std::move(chunks).error();
    for (std::size_t j = 0; j < chunks->size(); ++j) {
      if (!(*chunks)[j]) return damaged(manifest, "lacks " + some[j]);
      auto changes = decode_chunk(*(*chunks)[j], manifest.chunks[i + j]);
      if (!changes) return damaged(manifest, "is damaged: " + some[j] + " is not what was written");
      WriteBatch batch;
      for (WriteBatch::Change& change : *changes) {
        if (change.kind == WriteBatch::Change::Kind::kPut) {
          batch.put(change.space, std::move(change.key), std::move(change.value));
        } else {
          batch.erase(change.space, std::move(change.key));
        }
      }
      CEPD_TRY(backend.commit(batch));
    }
  }
  return {};
}

Status clear(StateBackend& backend) {
  WriteBatch batch;
  for (const Space space : kCheckpointSpaces) batch.clear(space);
  for (const Space space : kLiveSpaces) batch.clear(space);
  return backend.commit(batch);
}

/// Makes the spaces what they were, and sees that they are.
Result<MirrorManifest> put_copy(MirrorStore& store, StateBackend& backend, std::uint64_t number) {
  CEPD_TRY(clear(backend));
  auto chain = read_chain(store, number);
  if (!chain) return std::move(chain).error();
  for (const MirrorManifest& manifest : *chain) CEPD_TRY(put_chunks(store, backend, manifest));
  MirrorManifest& copy = chain->back();
  const CheckpointInfo& wanted = copy.checkpoint;
  const auto checkpointed = sum_of(backend, std::begin(kCheckpointSpaces), std::end(kCheckpointSpaces));
  if (!checkpointed) return checkpointed.error();
  const auto live = sum_of(backend, std::begin(kLiveSpaces), std::end(kLiveSpaces));
  if (!live) return live.error();
  if (*checkpointed != wanted.checkpointed || *live != wanted.live)
    return damaged(copy, "does not come to what its checkpoint was");
  return std::move(copy);
}

/// It is the copy that is at fault, and not the way to it.
bool tells_damage(const Error& error) { return error.code == Errc::kCorrupt || error.code == Errc::kVersion; }

}  // namespace

Result<std::vector<MirrorManifest>> list_copies(MirrorStore& store, std::vector<std::string>& problems) {
  const auto numbers = store.numbers();
  if (!numbers) return numbers.error();
  std::vector<MirrorManifest> out;
  for (const std::uint64_t number : *numbers) {
    auto manifest = read_manifest(store, number);
    if (manifest) {
      out.push_back(std::move(*manifest));
    } else if (tells_damage(manifest.error())) {
      problems.push_back(manifest.error().message);
    } else {
      return std::move(manifest).error();
    }
  }
  return out;
}

Result<RestoredCopy> restore_copy(MirrorStore& store, StateBackend& backend, std::optional<std::uint64_t> number) {
  auto numbers = store.numbers();
  if (!numbers) return std::move(numbers).error();
  if (number) {
    if (std::find(numbers->begin(), numbers->end(), *number) == numbers->end())
      return error(Errc::kNotFound, "the mirror has no copy " + std::to_string(*number));
    *numbers = {*number};
  }
  if (numbers->empty()) return error(Errc::kNotFound, "the mirror has no copy");
  RestoredCopy restored;
  for (auto each = numbers->rbegin(); each != numbers->rend(); ++each) {
    auto taken = put_copy(store, backend, *each);
    if (!taken) {
      if (!tells_damage(taken.error())) return std::move(taken).error();
      restored.damaged.push_back(taken.error().message);
      continue;
    }
    const CheckpointInfo& info = restored.checkpoint = taken->checkpoint;
    restored.records = info.checkpointed.records + info.live.records;
    WriteBatch batch;
    put_identity(batch, taken->identity);
    put_number(batch, kBegunKey, info.number);
    put_sum(batch, info.live);
    batch.put(Space::kCheckpoints, ordered_key(info.number), encode(info));
    batch.put(Space::kMeta, std::string(kFormatVersionKey), std::to_string(kFormatVersion));
    CEPD_TRY(backend.commit(batch));
    return restored;
  }
  CEPD_TRY(clear(backend));
  std::string all = "no copy in the mirror is whole";
  for (const std::string& each : restored.damaged) all += "; " + each;
  return error(Errc::kCorrupt, all);
}

}  // namespace cepd::state
