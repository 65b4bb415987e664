#pragma once
/// MQTT topic filters in which levels may have names: `sensors/{site}/{device}/temp` is the filter
/// `sensors/+/+/temp`, and what stands at a named level becomes a field of the event.

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace cepd::adapters {

class TopicPattern {
 public:
  /// What is wrong with it, for a person; empty when nothing is.
  static std::string mistake(std::string_view text);

  /// Requires that mistake() finds none.
  explicit TopicPattern(std::string_view text);

  /// As brokers write it: `$share/…/` of a shared subscription included, names replaced by +.
  const std::string& filter() const { return filter_; }
  std::vector<std::string> names() const;

  /// Appends name and level of each name to `out` where the pattern matches the topic; else false. The levels point
  /// into `topic`, the names into this.
  bool capture(std::string_view topic, std::vector<std::pair<std::string_view, std::string_view>>& out) const;

 private:
  struct Level {
    enum class Kind : unsigned char { kText, kAny, kRest };
    Kind kind;
    std::string text;  ///< of kText the level, of kAny its name or empty
  };
  std::string filter_;
  std::vector<Level> levels_;  // without $share/GROUP
};

}  // namespace cepd::adapters
