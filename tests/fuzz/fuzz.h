#pragma once
/// What the fuzz targets share. A target is one function LLVMFuzzerTestOneInput: linked with libFuzzer it is driven by
/// it, otherwise by replay_main.cc, which runs it over files.

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

namespace cepd::fuzz {

inline std::string text_of(const std::uint8_t* data, std::size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

/// A find: what must hold does not.
inline void require(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "does not hold: %s\n", what);
  std::abort();
}

}  // namespace cepd::fuzz
