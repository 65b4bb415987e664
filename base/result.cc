#include "base/result.h"

#include <cstdio>
#include <cstdlib>

#include "base/check.h"

namespace cepd {

void check_failed(const char* condition, const char* file, int line) {
  std::fprintf(stderr, "cepd: internal error at %s:%d: %s\n", file, line, condition);
  std::abort();
}

// value() on an error is a mistake of the program: every Result is tested before it is read.
void throw_exception_from_error(const Error& error, const boost::source_location& where) {
  check_failed(("value of a failed result: " + error.message).c_str(), where.file_name(),
               static_cast<int>(where.line()));
}

}  // namespace cepd
