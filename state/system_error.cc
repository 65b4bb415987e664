#include "state/system_error.h"

#include <cerrno>
#include <system_error>

namespace cepd::state {

Error system_error(const std::string& what, int number) {
  const bool full = number == ENOSPC || number == EDQUOT || number == EFBIG;
  return error(full ? Errc::kNoSpace : Errc::kIo, what + ": " + std::generic_category().message(number));
}

}  // namespace cepd::state
