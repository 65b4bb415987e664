#pragma once
#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace cepd {

/// XXH3-128 over what a match is made of (language-details.md section 5): the same match has the same id in every
/// replay.
struct MatchId {
  std::uint64_t high = 0;
  std::uint64_t low = 0;
  auto operator<=>(const MatchId&) const = default;
};
struct MatchIdHash {
  std::size_t operator()(const MatchId& id) const { return static_cast<std::size_t>(id.low); }
};
MatchId hash_match_id(std::string_view canonical);
std::string to_string(const MatchId& id);  // 32 hex digits
std::optional<MatchId> parse_match_id(std::string_view hex);

/// A source, by its configured name. Cheap to copy; orders and compares by name. Names are kept for the life of the
/// process.
class SourceId {
 public:
  SourceId() : name_(no_name()) {}
  explicit SourceId(std::string_view name) : name_(interned(name)) {}
  const std::string& name() const { return *name_; }
  bool operator==(const SourceId& other) const { return name_ == other.name_; }
  std::strong_ordering operator<=>(const SourceId& other) const {
    return name_ == other.name_ ? std::strong_ordering::equal : name_->compare(*other.name_) <=> 0;
  }

 private:
  static const std::string* interned(std::string_view name);
  static const std::string* no_name();  // without a look-up: every new event begins with it
  const std::string* name_;             // interned: equal names have equal pointers
};

/// Where an event stands in its source. Orders events of equal time.
struct SourcePosition {
  SourceId source;
  std::int32_t partition = 0;
  std::int64_t offset = 0;  // file: 0-based line; Kafka: offset; others: a count kept in the state
  auto operator<=>(const SourcePosition&) const = default;
  bool operator==(const SourcePosition&) const = default;
};

/// Index into FieldPlan's types.
enum class TypeId : std::uint32_t {};
inline constexpr TypeId kOtherType{0};  // a type that no rule names

}  // namespace cepd
