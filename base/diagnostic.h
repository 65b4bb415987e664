#pragma once
/// A mistake (or a doubt) in text that a user wrote: a rule file or the configuration.

#include <string>
#include <string_view>
#include <vector>

namespace cepd {

enum class Severity : unsigned char { kError, kWarning };

struct Diagnostic {
  Severity severity = Severity::kError;
  std::string file;         ///< as the user named it
  unsigned line = 1;        ///< from 1
  unsigned column = 1;      ///< from 1, in code points
  unsigned length = 1;      ///< code points to underline on that line, at least 1
  std::string message;      ///< one line, in the user's words, says what was expected where that is known
  std::string suggestion;   ///< "did you mean payment_fail?", or empty
  std::string source_line;  ///< the line of text the caret stands under, without its line end
};

/// `file:line:column: error: message`, the source line, a caret line, and the suggestion. Ends with a line end.
///
///     cart.rules:3:28: error: expected a duration after WITHIN
///       MATCH cart_add WITHIN soon
///                             ^~~~
///       write it like 5m or 1h30m
std::string format(const Diagnostic& diagnostic);

using Diagnostics = std::vector<Diagnostic>;
bool has_errors(const Diagnostics& diagnostics);

/// Fills line, column, length and source_line from byte offsets [begin, end) into `text`.
Diagnostic diagnostic_at(Severity severity, std::string file, std::string_view text, std::size_t begin, std::size_t end,
                         std::string message, std::string suggestion = {});

/// The candidate nearest to `word` by edit distance (case-insensitive, transposition counts one), if it is near enough
/// to be meant: at most a third of the word's length, and at least one. Empty when none is.
std::string nearest(std::string_view word, const std::vector<std::string>& candidates);

/// `did you mean X?` for nearest(), or empty.
std::string did_you_mean(std::string_view word, const std::vector<std::string>& candidates);

}  // namespace cepd
