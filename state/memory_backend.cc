#include "state/memory_backend.h"

#include <array>
#include <map>
#include <mutex>
#include <shared_mutex>

#include "base/check.h"

namespace cepd::state {
namespace {

class MemoryBackend final : public StateBackend {
 public:
  Result<std::optional<std::string>> get(Space space, std::string_view key) override {
    const std::shared_lock lock(mutex_);
    const Map& map = at(space);
    const auto it = map.find(key);
    return it == map.end() ? std::nullopt : std::optional(it->second);
  }

  Status scan(Space space, std::string_view prefix, const Visitor& visit) override {
    const std::shared_lock lock(mutex_);
    const Map& map = at(space);
    for (auto it = map.lower_bound(prefix); it != map.end() && it->first.starts_with(prefix); ++it) {
      CEPD_TRY(visit(it->first, it->second));
    }
    return {};
  }

  Status scan_from(Space space, std::string_view from, const RangeVisitor& visit) override {
    const std::shared_lock lock(mutex_);
    const Map& map = at(space);
    for (auto it = map.lower_bound(from); it != map.end(); ++it) {
      Result<bool> more = visit(it->first, it->second);
      if (!more) return std::move(more).error();
      if (!*more) break;
    }
    return {};
  }

  Result<std::optional<std::string>> last_key(Space space) override {
    const std::shared_lock lock(mutex_);
    const Map& map = at(space);
    return map.empty() ? std::nullopt : std::optional(map.rbegin()->first);
  }

  Result<SpaceSize> size(Space space) override {
    const std::shared_lock lock(mutex_);
    SpaceSize size;
    for (const auto& [key, value] : at(space)) {
      ++size.entries;
      size.bytes += key.size() + value.size();
    }
    return size;
  }

  Status commit(const WriteBatch& batch) override {
    const std::lock_guard lock(mutex_);
    for (const WriteBatch::Change& change : batch.changes()) {
      Map& map = at(change.space);
      switch (change.kind) {
        case WriteBatch::Change::Kind::kPut:
          CEPD_CHECK(key_fits(change.space, change.key));
          map.insert_or_assign(change.key, change.value);
          break;
        case WriteBatch::Change::Kind::kErase:
          map.erase(change.key);
          break;
        case WriteBatch::Change::Kind::kClear:
          map.clear();
          break;
      }
    }
    return {};
  }

  std::string_view name() const override { return "memory"; }

 private:
  // std::string compares as unsigned bytes, the order the interface asks for.
  using Map = std::map<std::string, std::string, std::less<>>;
  Map& at(Space space) { return spaces_[static_cast<std::size_t>(space)]; }

  std::shared_mutex mutex_;
  std::array<Map, kSpaceCount> spaces_;
};

}  // namespace

std::unique_ptr<StateBackend> memory_backend() { return std::make_unique<MemoryBackend>(); }

}  // namespace cepd::state
