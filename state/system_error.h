#pragma once
#include <string>

#include "base/result.h"

namespace cepd::state {

/// The error for an errno value: kNoSpace where the disk (or a quota, or the largest size of a file) is full, else kIo.
/// The message is `what` and the system's text.
Error system_error(const std::string& what, int number);

}  // namespace cepd::state
