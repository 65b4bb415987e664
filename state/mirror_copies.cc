#include "state/mirror_copies.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/check.h"
#include "state/changes_since.h"
#include "state/layout.h"

namespace cepd::state {
namespace {

/// Of chunks on their way to the store together.
constexpr std::size_t kTogether = std::size_t{4} << 20;

/// The copies from one that has all up to this one.
std::vector<std::uint64_t> chain_of(const std::map<std::uint64_t, MirrorManifest>& published, std::uint64_t number) {
  std::vector<std::uint64_t> chain;
  for (std::uint64_t at = number; at != 0;) {
    const auto found = published.find(at);
    if (found == published.end()) return {};
    chain.push_back(at);
    at = found->second.previous;
  }
  std::reverse(chain.begin(), chain.end());
  return chain;
}

}  // namespace

MirrorCopies::MirrorCopies(StateBackend& backend, MirrorStore& store, std::string identity, std::size_t keep)
    : backend_(backend), store_(store), identity_(std::move(identity)), keep_(keep) {
  CEPD_CHECK(keep > 0);
}

/// What is published may be gone (the store was emptied), or be there from before.
Status MirrorCopies::read_manifests() {
  const auto numbers = store_.numbers();
  if (!numbers) return numbers.error();
  std::map<std::uint64_t, MirrorManifest> published;
  for (const std::uint64_t number : *numbers) {
    if (const auto known = published_.find(number); known != published_.end()) {
      published.insert(std::move(*known));
      continue;
    }
    const std::string name = manifest_name(number);
    auto record = store_.read({&name, 1});
    if (!record) return std::move(record).error();
    if (!record->front()) continue;
    auto manifest = decode_manifest(number, *record->front());
    if (!manifest && manifest.error().code == Errc::kVersion) return std::move(manifest).error();
    if (manifest) published.emplace(number, std::move(*manifest));
  }
  published_ = std::move(published);
  return {};
}

/// The latest copy of an earlier checkpoint that is still kept here; 0: there is none.
Result<std::uint64_t> MirrorCopies::find_previous(std::uint64_t number, const std::vector<CheckpointInfo>& kept) const {
  if (published_.empty()) return 0;
  const auto foreign = [](std::uint64_t other) {
    return error(Errc::kInvalidArgument,
                 "the mirror holds copy " + std::to_string(other) +
                     " of another state: nothing is written over it (`cepd state restore` takes it up; another "
                     "`instance` keeps both)");
  };
  for (const auto& [other, manifest] : published_) {
    if (manifest.identity != identity_ || other > number) return foreign(other);
  }
  std::uint64_t previous = 0;
  for (const CheckpointInfo& info : kept) {
    const auto copy = published_.find(info.number);
    if (copy == published_.end()) continue;
    const CheckpointInfo& there = copy->second.checkpoint;
    if (there.checkpointed != info.checkpointed || there.live != info.live) return foreign(info.number);
    if (info.number < number) previous = info.number;
  }
  return chain_of(published_, previous).empty() ? 0 : previous;
}

/// Reading a long chain takes longer than what is saved by not writing everything again.
bool MirrorCopies::wants_full(std::uint64_t previous) const {
  if (previous == 0) return true;
  const std::vector<std::uint64_t> chain = chain_of(published_, previous);
  if (chain.size() <= keep_) return false;
  std::uint64_t changed = 0;
  for (const std::uint64_t each : chain) changed += published_.at(each).stored_bytes();
  const std::uint64_t full = published_.at(chain.front()).stored_bytes();
  return chain.size() > 2 * keep_ || changed > 2 * full;
}

Result<MirrorCopies::Added> MirrorCopies::add(std::uint64_t number) {
  CEPD_TRY(read_manifests());
  const auto kept = list_checkpoints(backend_);
  if (!kept) return kept.error();
  auto previous = find_previous(number, *kept);
  if (!previous) return std::move(previous).error();
  if (published_.contains(number)) return Added{};
  const auto info = std::find_if(kept->begin(), kept->end(), [&](const auto& each) { return each.number == number; });
  if (info == kept->end()) return error(Errc::kNotFound, "checkpoint " + std::to_string(number) + " is not kept");

  MirrorManifest manifest;
  manifest.identity = identity_;
  manifest.checkpoint = *info;
  manifest.previous = wants_full(*previous) ? 0 : *previous;
  std::vector<Blob> together;
  std::size_t bytes = 0;
  const auto send = [&]() -> Status {
    bytes = 0;
    return together.empty() ? Status{} : store_.write(std::exchange(together, {}));
  };
  ChunkWriter writer([&](std::string chunk) -> Status {
    manifest.chunks.push_back({sha256(chunk), chunk.size()});
    bytes += chunk.size();
    together.push_back({chunk_name(number, manifest.chunks.size() - 1), std::move(chunk)});
    return bytes < kTogether ? Status{} : send();
  });
  const auto visit = [&](WriteBatch::Change change) -> Status {
    ++manifest.changes;
    manifest.bytes += change.key.size() + change.value.size();
    return writer.add(change);
  };
  CEPD_TRY(manifest.previous == 0 ? visit_checkpoint(backend_, number, visit)
                                  : visit_changes(backend_, manifest.previous, number, visit));
  CEPD_TRY(writer.finish());
  CEPD_TRY(send());
  CEPD_TRY(
      store_.publish(number, {manifest_name(number), encode(manifest)}, chunk_names(number, manifest.chunks.size())));
  const Added added{manifest.changes, manifest.bytes, manifest.stored_bytes(), manifest.previous == 0};
  published_.emplace(number, std::move(manifest));
  CEPD_TRY(trim());
  return added;
}

/// Drops what none of those that are kept stands on.
Status MirrorCopies::trim() {
  if (published_.size() <= keep_) return {};
  const auto oldest_kept = std::prev(published_.end(), static_cast<std::ptrdiff_t>(keep_));
  const std::vector<std::uint64_t> chain = chain_of(published_, oldest_kept->first);
  const std::uint64_t needed = chain.empty() ? oldest_kept->first : chain.front();
  while (published_.begin()->first < needed) {
    const auto& [number, manifest] = *published_.begin();
    std::vector<std::string> names = chunk_names(number, manifest.chunks.size());
    names.push_back(manifest_name(number));
    CEPD_TRY(store_.remove(number, names));
    published_.erase(published_.begin());
  }
  return {};
}

}  // namespace cepd::state
