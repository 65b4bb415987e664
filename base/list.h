#pragma once
#include <algorithm>
#include <boost/smart_ptr/intrusive_ptr.hpp>
#include <boost/smart_ptr/intrusive_ref_counter.hpp>
#include <cstddef>
#include <initializer_list>
#include <utility>
#include <vector>

#include "base/check.h"

namespace cepd {

/// A list that its copies share: a copy costs no memory, and equal lists of many owners can be made one. One pointer
/// wide. Whoever changes a list that others share changes a copy of his own.
template <class T>
class List {
 public:
  using value_type = T;
  using const_iterator = const T*;

  List() = default;
  List(std::vector<T> items) : block_(items.empty() ? nullptr : new Block(std::move(items))) {}
  List(std::initializer_list<T> items) : List(std::vector<T>(items)) {}

  const T* data() const { return block_ == nullptr ? nullptr : block_->items.data(); }
  std::size_t size() const { return block_ == nullptr ? 0 : block_->items.size(); }
  bool empty() const { return block_ == nullptr || block_->items.empty(); }
  const T* begin() const { return data(); }
  const T* end() const { return data() + size(); }
  const T& operator[](std::size_t index) const { return data()[index]; }
  const T& at(std::size_t index) const {
    CEPD_CHECK(index < size());
    return data()[index];
  }
  const T& front() const { return data()[0]; }
  const T& back() const { return data()[size() - 1]; }

  /// To change it in place. Pointers to its items stay good unless others share it.
  std::vector<T>& edit() {
    if (block_ == nullptr) {
      block_.reset(new Block({}));
    } else if (block_->use_count() > 1) {
      block_.reset(new Block(block_->items));
    }
    return block_->items;
  }

  /// Both are one list in memory.
  bool is(const List& other) const { return block_ == other.block_; }
  bool operator==(const List& other) const {
    return is(other) || std::equal(begin(), end(), other.begin(), other.end());
  }

 private:
  struct Block : boost::intrusive_ref_counter<Block> {
    explicit Block(std::vector<T> list) : items(std::move(list)) {}
    std::vector<T> items;
  };
  boost::intrusive_ptr<Block> block_;
};

}  // namespace cepd
