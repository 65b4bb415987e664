#include "tests/support/allocations.h"

#include <cstdlib>
#include <new>

namespace {

thread_local std::uint64_t calls = 0;

void* counted(std::size_t bytes) {
  ++calls;
  if (void* block = std::malloc(bytes == 0 ? 1 : bytes)) return block;
  throw std::bad_alloc();
}

void* counted(std::size_t bytes, std::align_val_t alignment) {
  ++calls;
  const auto align = static_cast<std::size_t>(alignment);
  if (void* block = std::aligned_alloc(align, (bytes + align - 1) / align * align)) return block;
  throw std::bad_alloc();
}

}  // namespace

std::uint64_t cepd::test::Allocations::all() { return calls; }

// The library's nothrow and array forms come down to these four and their deletes.
void* operator new(std::size_t bytes) { return counted(bytes); }
void* operator new[](std::size_t bytes) { return counted(bytes); }
void* operator new(std::size_t bytes, std::align_val_t alignment) { return counted(bytes, alignment); }
void* operator new[](std::size_t bytes, std::align_val_t alignment) { return counted(bytes, alignment); }
void operator delete(void* block) noexcept { std::free(block); }
void operator delete[](void* block) noexcept { std::free(block); }
void operator delete(void* block, std::size_t) noexcept { std::free(block); }
void operator delete[](void* block, std::size_t) noexcept { std::free(block); }
void operator delete(void* block, std::align_val_t) noexcept { std::free(block); }
void operator delete[](void* block, std::align_val_t) noexcept { std::free(block); }
void operator delete(void* block, std::size_t, std::align_val_t) noexcept { std::free(block); }
void operator delete[](void* block, std::size_t, std::align_val_t) noexcept { std::free(block); }
