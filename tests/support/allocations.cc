#include "tests/support/allocations.h"

#include <cstdlib>
#include <new>

namespace {

thread_local std::uint64_t calls = 0;

void* counted(std::size_t bytes) {
  ++calls;
  return std::malloc(bytes == 0 ? 1 : bytes);
}

void* counted(std::size_t bytes, std::align_val_t alignment) {
  ++calls;
  const auto align = static_cast<std::size_t>(alignment);
  return std::aligned_alloc(align, (bytes + align - 1) / align * align);
}

void* or_throw(void* block) {
  if (block == nullptr) throw std::bad_alloc();
  return block;
}

}  // namespace

std::uint64_t cepd::test::Allocations::all() { return calls; }

// All forms, also those that the library would base on the others: a sanitizer has its own of each.
void* operator new(std::size_t bytes) { return or_throw(counted(bytes)); }
void* operator new[](std::size_t bytes) { return or_throw(counted(bytes)); }
void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept { return counted(bytes); }
void* operator new[](std::size_t bytes, const std::nothrow_t&) noexcept { return counted(bytes); }
void* operator new(std::size_t bytes, std::align_val_t alignment) { return or_throw(counted(bytes, alignment)); }
void* operator new[](std::size_t bytes, std::align_val_t alignment) { return or_throw(counted(bytes, alignment)); }
void* operator new(std::size_t bytes, std::align_val_t alignment, const std::nothrow_t&) noexcept {
  return counted(bytes, alignment);
}
void* operator new[](std::size_t bytes, std::align_val_t alignment, const std::nothrow_t&) noexcept {
  return counted(bytes, alignment);
}
void operator delete(void* block) noexcept { std::free(block); }
void operator delete[](void* block) noexcept { std::free(block); }
void operator delete(void* block, std::size_t) noexcept { std::free(block); }
void operator delete[](void* block, std::size_t) noexcept { std::free(block); }
void operator delete(void* block, std::align_val_t) noexcept { std::free(block); }
void operator delete[](void* block, std::align_val_t) noexcept { std::free(block); }
void operator delete(void* block, std::size_t, std::align_val_t) noexcept { std::free(block); }
void operator delete[](void* block, std::size_t, std::align_val_t) noexcept { std::free(block); }
void operator delete(void* block, const std::nothrow_t&) noexcept { std::free(block); }
void operator delete[](void* block, const std::nothrow_t&) noexcept { std::free(block); }
void operator delete(void* block, std::align_val_t, const std::nothrow_t&) noexcept { std::free(block); }
void operator delete[](void* block, std::align_val_t, const std::nothrow_t&) noexcept { std::free(block); }
