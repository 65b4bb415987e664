#pragma once
/// Which fields of which event types the rules read: the decoder takes those and leaves the rest.
///
/// A plan only grows: a plan made for a new set of rules from the running one keeps every type id and slot, so that
/// events decoded before a reload stay readable. Immutable once a Network holds it; safe to share between threads then.

#include <boost/unordered/unordered_flat_map.hpp>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/ids.h"
#include "base/path.h"
#include "base/value.h"

namespace cepd {

/// Declared type of a field: `EVENT cart_add (item string, price double?)`.
enum class FieldType : std::uint8_t { kBool, kInt, kDouble, kString, kTimestamp, kDuration };
inline constexpr FieldType kFieldTypes[] = {FieldType::kBool,   FieldType::kInt,       FieldType::kDouble,
                                            FieldType::kString, FieldType::kTimestamp, FieldType::kDuration};
std::string_view field_type_name(FieldType type);
std::optional<FieldType> parse_field_type(std::string_view name);

struct DeclaredField {
  std::string name;
  FieldType type = FieldType::kString;
  bool nullable = false;
};

class FieldPlan {
 public:
  struct Type {
    std::string name;
    std::vector<FieldPath> paths;  ///< index is the slot
    std::optional<std::vector<DeclaredField>> declared;
    bool named = false;  ///< some rule of the current set names it (false: only kept for events decoded earlier)
  };

  FieldPlan();

  /// The id of `name`, added if new.
  TypeId add_type(const std::string& name);
  /// The slot of `path` in events of `type`, added if new. For kOtherType it is added to every type, also to ones added
  /// later.
  std::size_t add_field(TypeId type, const FieldPath& path);
  void declare(TypeId type, std::vector<DeclaredField> fields);
  void set_named(TypeId type);
  /// Starts the next set of rules on top of this plan: ids and slots stay, declarations and `named` are forgotten.
  void begin_set();

  std::optional<TypeId> find(std::string_view name) const;
  std::optional<std::size_t> slot(TypeId type, const FieldPath& path) const;
  const Type& type(TypeId id) const { return types_[index(id)]; }
  const std::vector<Type>& types() const { return types_; }  // [0] is kOtherType, named ""

  /// Every type id and slot of `before` is the same here.
  bool continues(const FieldPlan& before) const;

  /// Two plans of one version in a process are equal: a change gives a plan a version that no plan had before. For what
  /// is made from a plan and kept.
  std::uint64_t version() const { return version_; }

 private:
  struct NameHash {
    using is_transparent = void;
    using is_avalanching = void;
    std::size_t operator()(std::string_view name) const;
  };

  static std::size_t index(TypeId id) { return static_cast<std::size_t>(id); }
  void changed();

  std::vector<Type> types_;
  boost::unordered_flat_map<std::string, TypeId, NameHash, std::equal_to<>> ids_;
  std::uint64_t version_ = 0;
};

}  // namespace cepd
