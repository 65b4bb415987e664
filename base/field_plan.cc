#include "base/field_plan.h"

#include <algorithm>
#include <atomic>
#include <utility>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/check.h"

namespace cepd {
namespace {

struct Slot {
  std::size_t index;
  bool added;
};

Slot add_path(std::vector<FieldPath>& paths, const FieldPath& path) {
  const auto it = std::find(paths.begin(), paths.end(), path);
  if (it != paths.end()) return {static_cast<std::size_t>(it - paths.begin()), false};
  paths.push_back(path);
  return {paths.size() - 1, true};
}

}  // namespace

std::string_view field_type_name(FieldType type) {
  switch (type) {
    case FieldType::kBool:
      return "bool";
    case FieldType::kInt:
      return "int";
    case FieldType::kDouble:
      return "double";
    case FieldType::kString:
      return "string";
    case FieldType::kTimestamp:
      return "timestamp";
    case FieldType::kDuration:
      return "duration";
  }
  return "?";
}

std::optional<FieldType> parse_field_type(std::string_view name) {
  for (const FieldType type : kFieldTypes) {
    if (field_type_name(type) == name) return type;
  }
  return std::nullopt;
}

std::size_t FieldPlan::NameHash::operator()(std::string_view name) const {
  return static_cast<std::size_t>(XXH3_64bits(name.data(), name.size()));
}

FieldPlan::FieldPlan() { types_.emplace_back(); }

void FieldPlan::changed() {
  static std::atomic<std::uint64_t> last{0};  // 0 is that of new plans, which are all equal
  version_ = last.fetch_add(1, std::memory_order_relaxed) + 1;
}

TypeId FieldPlan::add_type(const std::string& name) {
  if (const auto it = ids_.find(name); it != ids_.end()) return it->second;
  const TypeId id{static_cast<std::uint32_t>(types_.size())};
  Type type;
  type.name = name;
  type.paths = types_.front().paths;
  types_.push_back(std::move(type));
  ids_.emplace(name, id);
  changed();
  return id;
}

std::size_t FieldPlan::add_field(TypeId type, const FieldPath& path) {
  if (type == kOtherType) {
    for (Type& each : types_) {
      if (add_path(each.paths, path).added) changed();
    }
  }
  const Slot slot = add_path(types_[index(type)].paths, path);
  if (slot.added) changed();
  return slot.index;
}

void FieldPlan::set_named(TypeId type) {
  if (std::exchange(types_[index(type)].named, true)) return;
  changed();
}

void FieldPlan::declare(TypeId type, std::vector<DeclaredField> fields) {
  types_[index(type)].declared = std::move(fields);
  changed();
}

void FieldPlan::begin_set() {
  for (Type& type : types_) {
    type.named = false;
    type.declared.reset();
  }
  changed();
}

bool FieldPlan::continues(const FieldPlan& before) const {
  if (version_ == before.version_) return true;
  if (types_.size() < before.types_.size()) return false;
  return std::equal(before.types_.begin(), before.types_.end(), types_.begin(), [](const Type& old, const Type& now) {
    return old.name == now.name && old.paths.size() <= now.paths.size() &&
           std::equal(old.paths.begin(), old.paths.end(), now.paths.begin());
  });
}

std::optional<TypeId> FieldPlan::find(std::string_view name) const {
  const auto it = ids_.find(name);
  if (it == ids_.end()) return std::nullopt;
  return it->second;
}

std::optional<std::size_t> FieldPlan::slot(TypeId type, const FieldPath& path) const {
  const auto& paths = types_[index(type)].paths;
  const auto it = std::find(paths.begin(), paths.end(), path);
  if (it == paths.end()) return std::nullopt;
  return static_cast<std::size_t>(it - paths.begin());
}

}  // namespace cepd
