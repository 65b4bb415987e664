#pragma once
/// How often a thread asks for memory. A binary that uses this has a counting `operator new` in place of the usual one.

#include <cstdint>

namespace cepd::test {

/// Calls of `operator new` by this thread since the object was made.
class Allocations {
 public:
  Allocations() : before_(all()) {}
  std::uint64_t count() const { return all() - before_; }

 private:
  static std::uint64_t all();
  std::uint64_t before_;
};

}  // namespace cepd::test
