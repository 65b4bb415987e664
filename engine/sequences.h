#pragma once

#include <algorithm>
#include <boost/container/small_vector.hpp>
#include <boost/unordered/unordered_flat_set.hpp>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace cepd::engine {

/// A set of sequences of events: most keys have few, some have very many.
class Sequences {
 public:
  bool empty() const { return size() == 0; }
  std::size_t size() const { return many_ ? many_->size() : few_.size(); }
  bool contains(std::uint64_t sequence) const {
    return many_ ? many_->contains(sequence) : std::binary_search(few_.begin(), few_.end(), sequence);
  }
  void insert(std::uint64_t sequence) {
    if (many_) {
      many_->insert(sequence);
      return;
    }
    const auto at = std::lower_bound(few_.begin(), few_.end(), sequence);
    if (at != few_.end() && *at == sequence) return;
    few_.insert(at, sequence);
    if (few_.size() <= kFew) return;
    many_ = std::make_unique<Many>(few_.begin(), few_.end());
    few_.clear();
  }
  /// In rising order.
  std::vector<std::uint64_t> sorted() const {
    std::vector<std::uint64_t> out(few_.begin(), few_.end());
    if (many_) out.assign(many_->begin(), many_->end());
    std::sort(out.begin(), out.end());
    return out;
  }

 private:
  using Many = boost::unordered_flat_set<std::uint64_t>;
  static constexpr std::size_t kFew = 64;

  boost::container::small_vector<std::uint64_t, 4> few_;  // in rising order
  std::unique_ptr<Many> many_;                            // then few_ is empty
};

}  // namespace cepd::engine
