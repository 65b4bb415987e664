#pragma once
/// What a crash may have left at the end of a file of JSON lines: calls that were written and are not known to be
/// delivered, and a line that was cut off.

#include <cstddef>
#include <string>
#include <unordered_set>

#include "base/result.h"

namespace cepd::actions {

/// How many lines a file is read back from its end. Many times more than the outbox hands out of one action before it
/// is stored that they are delivered: other actions may have written into the file as well.
inline constexpr std::size_t kReadBackLines = 16'384;

/// The idempotency keys of the last lines of `path` and of the two files that were written to last of those beside it
/// whose names begin as its own does (without its extension): where log rotation has put what was in it. The key is the
/// last member of a line's object. What is missing has none. Errors: kIo.
Result<std::unordered_set<std::string>> written_keys(const std::string& path);

/// Cuts off what follows the last line end, when that is the beginning of a line as the file action writes it; what
/// others have written stays. `fd` is open for reading and writing. Returns the size of the file behind it. Errors:
/// kIo.
Result<std::size_t> cut_torn_line(int fd, std::size_t size);

}  // namespace cepd::actions
