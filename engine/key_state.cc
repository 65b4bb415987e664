#include "engine/key_state.h"

#include <bit>
#include <utility>

namespace cepd::engine {
namespace {

constexpr std::uint64_t kMix = 0x9E3779B97F4A7C15;

}  // namespace

std::uint64_t hash_key(std::span<const Value> key) {
  std::uint64_t hash = 0;
  for (const Value& value : key) hash = std::rotl(hash, 29) * kMix + equality_hash(value);
  return hash;
}

int compare_keys(std::span<const Value> a, std::span<const Value> b) {
  for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
    if (a[i].kind() == Kind::kString && b[i].kind() == Kind::kString) {
      if (const int order = a[i].text().compare(b[i].text()); order != 0) return order < 0 ? -1 : 1;
    } else if (const int order = key_order(a[i], b[i]); order != 0) {
      return order < 0 ? -1 : 1;
    }
  }
  return 0;
}

KeyEntry::KeyEntry(const KeyProbe& probe) : hash_(probe.hash) {
  for (const Value& value : probe.key) key_.push_back(value.copied_to(arena_));
}

KeyEntry::~KeyEntry() { take(); }

std::string KeyEntry::canonical() const {
  std::string out;
  for (const Value& value : key_) append_canonical(out, value);
  return out;
}

KeyState* KeyEntry::find(std::uint32_t rule) const {
  for (KeyState* state = first_; state != nullptr && state->rule <= rule; state = state->next) {
    if (state->rule == rule) return state;
  }
  return nullptr;
}

KeyState& KeyEntry::add(std::uint32_t rule) {
  auto state = std::make_unique<KeyState>();
  state->rule = rule;
  return add(std::move(state));
}

KeyState& KeyEntry::add(std::unique_ptr<KeyState> owned) {
  KeyState* state = owned.release();
  state->entry = this;
  KeyState** place = &first_;
  while (*place != nullptr && (*place)->rule < state->rule) place = &(*place)->next;
  state->next = *place;
  *place = state;
  return *state;
}

void KeyEntry::erase(KeyState& state) {
  KeyState** place = &first_;
  while (*place != &state) place = &(*place)->next;
  *place = state.next;
  delete &state;
}

std::vector<std::unique_ptr<KeyState>> KeyEntry::take() {
  std::vector<std::unique_ptr<KeyState>> out;
  for (KeyState* state = std::exchange(first_, nullptr); state != nullptr;) {
    out.emplace_back(state);
    state = std::exchange(state->next, nullptr);
  }
  return out;
}

KeyTable::~KeyTable() {
  for (KeyEntry* entry : entries_) delete entry;
}

KeyEntry* KeyTable::find(const KeyProbe& probe) const {
  const auto it = entries_.find(probe);
  return it == entries_.end() ? nullptr : *it;
}

KeyEntry& KeyTable::find_or_add(const KeyProbe& probe) {
  if (KeyEntry* entry = find(probe)) return *entry;
  auto* entry = new KeyEntry(probe);
  entries_.insert(entry);
  return *entry;
}

void KeyTable::erase(KeyEntry& entry) {
  entries_.erase(&entry);
  delete &entry;
}

std::vector<std::unique_ptr<KeyEntry>> KeyTable::take() {
  std::vector<std::unique_ptr<KeyEntry>> out(entries_.begin(), entries_.end());
  entries_.clear();
  return out;
}

}  // namespace cepd::engine
