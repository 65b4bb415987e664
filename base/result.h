#pragma once
/// Expected failures. A function that can fail returns Result<T>; exceptions stay inside the .cc file that calls a
/// throwing library.

#include <boost/system/result.hpp>
#include <cstdint>
#include <string>
#include <utility>

namespace cepd {

enum class Errc : std::uint8_t {
  kInvalidArgument,  ///< the caller or the user gave something that cannot be right
  kNotFound,
  kIo,           ///< the operating system or a file refused; the message has errno's text
  kNoSpace,      ///< disk or map is full; may succeed later
  kBusy,         ///< held by another process, or a queue is full; may succeed later
  kCorrupt,      ///< stored bytes do not read back as what they must be
  kVersion,      ///< stored by a format version this build does not know
  kUnavailable,  ///< a service does not answer; may succeed later
  kRejected,     ///< a service answered that it will never accept this
  kInternal,
};

/// What went wrong, in words for the person who runs cepd.
struct Error {
  Errc code = Errc::kInternal;
  std::string message;

  /// The same error with `context + ": "` in front of its message; use it on the way up.
  Error within(const std::string& context) && { return Error{code, context + ": " + message}; }
};

[[noreturn]] void throw_exception_from_error(const Error& error, const boost::source_location& where);

template <class T>
using Result = boost::system::result<T, Error>;
using Status = Result<void>;

inline Error error(Errc code, std::string message) { return Error{code, std::move(message)}; }

}  // namespace cepd

/// Returns the error of a Result from the enclosing function, or goes on.
#define CEPD_TRY(expression)                                                                              \
  do {                                                                                                    \
    if (auto cepd_try_result = (expression); !cepd_try_result) return std::move(cepd_try_result).error(); \
  } while (false)
