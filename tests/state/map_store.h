#pragma once
#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <string>

#include "state/mirror_store.h"

namespace cepd::state {

/// A mirror in memory.
class MapStore final : public MirrorStore {
 public:
  std::map<std::string, std::string> blobs;
  std::set<std::uint64_t> listed;
  std::function<Status()> before_write = [] { return Status(); };

  Status write(std::span<const Blob> some) override {
    CEPD_TRY(before_write());
    for (const Blob& blob : some) blobs[blob.name] = blob.bytes;
    return {};
  }
  Status publish(std::uint64_t number, const Blob& manifest, std::span<const std::string>) override {
    blobs[manifest.name] = manifest.bytes;
    listed.insert(number);
    return {};
  }
  Result<std::vector<std::uint64_t>> numbers() override { return std::vector(listed.begin(), listed.end()); }
  Result<std::vector<std::optional<std::string>>> read(std::span<const std::string> names) override {
    std::vector<std::optional<std::string>> out;
    for (const std::string& name : names) {
      const auto found = blobs.find(name);
      out.push_back(found == blobs.end() ? std::nullopt : std::optional(found->second));
    }
    return out;
  }
  Status remove(std::uint64_t number, std::span<const std::string> names) override {
    listed.erase(number);
    for (const std::string& name : names) blobs.erase(name);
    return {};
  }
};

}  // namespace cepd::state
