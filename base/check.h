#pragma once
/// CEPD_CHECK(condition): an invariant of the program itself, tested in every build. Never for input from outside.

namespace cepd {
[[noreturn]] void check_failed(const char* condition, const char* file, int line);
}

#define CEPD_CHECK(condition) \
  ((condition) ? static_cast<void>(0) : ::cepd::check_failed(#condition, __FILE__, __LINE__))
