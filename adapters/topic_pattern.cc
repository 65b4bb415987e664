#include "adapters/topic_pattern.h"

#include <algorithm>
#include <cctype>
#include <set>

namespace cepd::adapters {
namespace {

constexpr std::size_t kLongest = 65'535;  // bytes of a topic, in MQTT
constexpr std::string_view kShare = "$share/";

std::vector<std::string_view> levels_of(std::string_view topic) {
  std::vector<std::string_view> levels;
  for (std::size_t begin = 0; begin <= topic.size();) {
    const std::size_t end = std::min(topic.find('/', begin), topic.size());
    levels.push_back(topic.substr(begin, end - begin));
    begin = end + 1;
  }
  return levels;
}

bool is_name(std::string_view text) {
  const auto letter = [](unsigned char c) { return std::isalpha(c) != 0 || c == '_'; };
  return !text.empty() && letter(static_cast<unsigned char>(text.front())) &&
         std::ranges::all_of(text, [&](unsigned char c) { return letter(c) || std::isdigit(c) != 0; });
}

bool is_capture(std::string_view level) { return level.size() > 2 && level.front() == '{' && level.back() == '}'; }

}  // namespace

std::string TopicPattern::mistake(std::string_view text) {
  if (text.empty()) return "a topic filter must not be empty";
  if (text.size() > kLongest) return "a topic filter is at most 65535 bytes long";
  std::vector<std::string_view> levels = levels_of(text);
  if (text.starts_with(kShare)) {
    if (levels.size() < 3 || levels[1].empty() || levels[1].find_first_of("+#{}") != std::string_view::npos ||
        (levels.size() == 3 && levels[2].empty()))
      return "a shared subscription is $share/GROUP/FILTER";
    levels.erase(levels.begin(), levels.begin() + 2);
  }
  std::set<std::string_view> names;
  for (std::size_t i = 0; i < levels.size(); ++i) {
    const std::string_view level = levels[i];
    if (level.find_first_of("+#") != std::string_view::npos && level.size() > 1)
      return "+ and # must be whole levels of a topic filter";
    if (level == "#" && i + 1 != levels.size()) return "# must be the last level of a topic filter";
    if (level.find_first_of("{}") == std::string_view::npos) continue;
    if (!is_capture(level) || !is_name(level.substr(1, level.size() - 2)))
      return "{name} must be a whole level of a topic filter, and the name letters, digits and _";
    if (!names.insert(level).second) return std::string(level) + " stands twice in one topic filter";
  }
  return {};
}

TopicPattern::TopicPattern(std::string_view text) {
  std::size_t skip = text.starts_with(kShare) ? 2 : 0;
  for (const std::string_view level : levels_of(text)) {
    if (!filter_.empty() || !levels_.empty()) filter_ += '/';
    const bool named = skip == 0 && is_capture(level);
    filter_ += named ? "+" : level;
    if (skip > 0) {
      --skip;
    } else if (named) {
      levels_.push_back({Level::Kind::kAny, std::string(level.substr(1, level.size() - 2))});
    } else if (level == "+") {
      levels_.push_back({Level::Kind::kAny, {}});
    } else if (level == "#") {
      levels_.push_back({Level::Kind::kRest, {}});
    } else {
      levels_.push_back({Level::Kind::kText, std::string(level)});
    }
  }
}

std::vector<std::string> TopicPattern::names() const {
  std::vector<std::string> names;
  for (const Level& level : levels_) {
    if (level.kind == Level::Kind::kAny && !level.text.empty()) names.push_back(level.text);
  }
  return names;
}

bool TopicPattern::capture(std::string_view topic,
                           std::vector<std::pair<std::string_view, std::string_view>>& out) const {
  const std::size_t before = out.size();
  const auto fail = [&] {
    out.resize(before);
    return false;
  };
  bool more = true;  // a level of the topic is left; `topic` begins with it
  for (const Level& level : levels_) {
    if (level.kind == Level::Kind::kRest) return true;  // "a/#" matches "a" as well
    if (!more) return fail();
    const std::size_t end = std::min(topic.find('/'), topic.size());
    const std::string_view here = topic.substr(0, end);
    if (level.kind == Level::Kind::kText ? here != level.text : false) return fail();
    if (level.kind == Level::Kind::kAny && !level.text.empty()) out.emplace_back(level.text, here);
    more = end < topic.size();
    topic.remove_prefix(more ? end + 1 : end);
  }
  return more ? fail() : true;
}

}  // namespace cepd::adapters
