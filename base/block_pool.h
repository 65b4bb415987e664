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
};

}  // namespace cepd
