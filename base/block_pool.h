#pragma once
/// Memory for events and partial matches: blocks by size, used again. Events are made by one thread and often dropped
/// by another (a lane), so each thread keeps some free blocks of its own and exchanges whole chains of them with a
/// shared store.

#include <cstddef>

namespace cepd {

class BlockPool {
 public:
  /// `bytes` as given to allocate(). Any thread.
  static void* allocate(std::size_t bytes);
  static void release(void* block, std::size_t bytes);
  /// Bytes of all blocks that are allocated and not released, of all threads, about. Any thread.
  static std::size_t in_use();
};

/// For containers whose memory comes and goes with events.
template <class T>
struct PoolAllocator {
  using value_type = T;

  PoolAllocator() = default;
  template <class Other>
  PoolAllocator(const PoolAllocator<Other>&) {}

  T* allocate(std::size_t count) { return static_cast<T*>(BlockPool::allocate(count * sizeof(T))); }
  void deallocate(T* block, std::size_t count) { BlockPool::release(block, count * sizeof(T)); }
  bool operator==(const PoolAllocator&) const { return true; }
};

}  // namespace cepd
