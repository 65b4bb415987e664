#include "app/key_question.h"

#include <algorithm>
#include <boost/algorithm/string/join.hpp>
#include <charconv>
#include <optional>

#include "base/diagnostic.h"
#include "dsl/plan_words.h"

namespace cepd::app {
namespace {

/// Enough to find what was meant; more keys only cost memory.
constexpr std::size_t kMostSeen = 100'000;

/// At commas outside double quotes.
std::vector<std::string> split(const std::string& text) {
  std::vector<std::string> parts(1);
  bool quoted = false;
  for (const char c : text) {
    if (c == '"') quoted = !quoted;
    if (c == ',' && !quoted) {
      parts.emplace_back();
    } else {
      parts.back() += c;
    }
  }
  return parts;
}

std::string written(const Value& value) {
  std::string out;
  append_text(out, value);
  return out;
}

/// Null when the text is no number.
Value number(const std::string& text) {
  const char* end = text.data() + text.size();
  std::int64_t integer = 0;
  if (const auto read = std::from_chars(text.data(), end, integer); read.ec == std::errc{} && read.ptr == end) {
    return Value::integer(integer);
  }
  double real = 0;
  const auto read = std::from_chars(text.data(), end, real);
  return read.ec == std::errc{} && read.ptr == end ? Value::real(real) : Value::null();
}

std::string names_of(const dsl::plan::Rule& rule) {
  std::vector<std::string> names;
  for (const FieldPath& path : rule.key) names.push_back(to_string(path) + "=…");
  return boost::algorithm::join(names, ",");
}

}  // namespace

bool KeyQuestion::Part::fits(const Value& value) const {
  if (quoted && value.kind() != Kind::kString) return false;
  return written(value) == text || (value.is_number() && compare(value, number(text)) == Ordering::kEqual);
}

Result<KeyQuestion> KeyQuestion::parse(const std::string& text, const dsl::plan::Rule& rule) {
  KeyQuestion question(rule);
  const auto refuse = [](const std::string& what) { return error(Errc::kInvalidArgument, what); };
  if (rule.key.empty()) {
    if (text.empty() || text == "-") return question;
    return refuse("the rule " + rule.name + " has no KEY: write - in its place");
  }
  if (text.empty()) return refuse("name the key: " + names_of(rule));
  // A rule with one key field takes the whole text, commas too.
  const std::vector<std::string> pieces = rule.key.size() == 1 ? std::vector{text} : split(text);
  if (pieces.size() != rule.key.size()) {
    return refuse("the key of " + rule.name + " has " + std::to_string(rule.key.size()) + " fields: " + names_of(rule));
  }
  std::vector<std::string> fields;
  for (const FieldPath& path : rule.key) fields.push_back(to_string(path));
  std::vector<std::optional<Part>> parts(fields.size());
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    std::size_t at = i;
    std::string value = pieces[i];
    if (const std::size_t equals = value.find('='); equals != std::string::npos && value.front() != '"') {
      const std::string name = value.substr(0, equals);
      const auto found = std::find(fields.begin(), fields.end(), name);
      const std::string hint = did_you_mean(name, fields);
      // One field alone may have values with an equals sign.
      if (found == fields.end() && (fields.size() > 1 || !hint.empty())) {
        return refuse(name + " is no key field of " + rule.name + ": " + (hint.empty() ? names_of(rule) : hint));
      }
      if (found != fields.end()) {
        at = static_cast<std::size_t>(found - fields.begin());
        value.erase(0, equals + 1);
      }
    }
    const bool quoted = value.size() >= 2 && value.front() == '"' && value.back() == '"';
    if (quoted) value = value.substr(1, value.size() - 2);
    if (parts[at]) return refuse("two values for " + fields[at]);
    parts[at] = Part{std::move(value), quoted};
  }
  for (std::optional<Part>& part : parts) question.parts_.push_back(*std::move(part));
  return question;
}

bool KeyQuestion::wanted(std::span<const Value> values) {
  std::string id;
  for (const Value& value : values) append_canonical(id, value);
  if (!found_id_.empty()) return id == found_id_;
  if (values.empty()) return true;
  const bool fits = std::equal(values.begin(), values.end(), parts_.begin(),
                               [](const Value& value, const Part& part) { return part.fits(value); });
  if (fits) {
    found_id_ = id;
    found_words_ = words_of(values);
    return true;
  }
  if (seen_.size() < kMostSeen) {
    std::vector<std::string> texts;
    for (const Value& value : values) texts.push_back(written(value));
    const std::string text = boost::algorithm::join(texts, ",");
    constexpr std::size_t kMostListed = 5;
    if (seen_.insert(text).second && first_seen_.size() < kMostListed) first_seen_.push_back(text);
  }
  return false;
}

std::string KeyQuestion::words_of(std::span<const Value> values) const {
  std::string out;
  for (std::size_t i = 0; i < values.size(); ++i) {
    out += (i == 0 ? "" : ", ") + to_string(rule_->key[i]) + " = " + dsl::in_words(values[i]);
  }
  return out;
}

std::string KeyQuestion::words() const {
  if (!found_words_.empty()) return found_words_;
  std::string out;
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    out += (i == 0 ? "" : ", ") + to_string(rule_->key[i]) + " = " + parts_[i].text;
  }
  return out;
}

std::string KeyQuestion::suggestion() const {
  if (seen_.empty()) return "no event has the key " + names_of(*rule_);
  std::vector<std::string> asked;
  for (const Part& part : parts_) asked.push_back(part.text);
  const std::string hint =
      did_you_mean(boost::algorithm::join(asked, ","), std::vector<std::string>(seen_.begin(), seen_.end()));
  const std::string list = boost::algorithm::join(first_seen_, "  ");
  return (hint.empty() ? "" : hint + " ") + "there are: " + list + (seen_.size() > first_seen_.size() ? "  …" : "");
}

}  // namespace cepd::app
