#include "engine/key_state.h"

#include <algorithm>
#include <bit>
#include <cstring>
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

std::string canonical_key(std::span<const Value> key) {
  std::string out;
  for (const Value& value : key) append_canonical(out, value);
  return out;
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
  std::size_t bytes = 0;
  for (const Value& value : probe.key) bytes += value.is_text() ? value.text().size() : 0;
  CEPD_CHECK(bytes <= UINT32_MAX);
  text_bytes_ = static_cast<std::uint32_t>(bytes);
  if (bytes > 0) text_ = static_cast<char*>(BlockPool::allocate(bytes));
  char* end = text_;
  for (const Value& value : probe.key) {
    key_.push_back(value);
    if (value.kind() != Kind::kString || value.text().empty()) continue;  // no key is JSON
    std::memcpy(end, value.text().data(), value.text().size());
    key_.back() = Value::string({end, value.text().size()});
    end += value.text().size();
  }
}

KeyEntry::~KeyEntry() {
  take();
  if (text_ != nullptr) BlockPool::release(text_, text_bytes_);
}

namespace {

template <class Parts>
auto place_of(Parts& parts, std::uint32_t owner) {
  return std::lower_bound(parts.begin(), parts.end(), owner,
                          [](const KeyEntry::OfOwner& each, std::uint32_t number) { return each.owner < number; });
}

}  // namespace

KeyPart* KeyEntry::find(std::uint32_t owner) const {
  const auto at = place_of(parts_, owner);
  return at != parts_.end() && at->owner == owner ? at->part : nullptr;
}

std::span<const KeyEntry::OfOwner> KeyEntry::prefixes() const {
  if (parts_.empty() || parts_.back().owner < KeyPart::kPrefix) return {};
  const auto first = place_of(parts_, KeyPart::kPrefix) - parts_.begin();
  return parts().subspan(static_cast<std::size_t>(first));
}

void KeyEntry::add(std::unique_ptr<KeyPart> owned) {
  KeyPart* part = owned.release();
  part->entry = this;
  parts_.insert(place_of(parts_, part->owner), OfOwner{part->owner, true, part});
}

void KeyEntry::erase(KeyPart& part) {
  parts_.erase(place_of(parts_, part.owner));
  delete &part;
}

void KeyEntry::set_waits(std::uint32_t owner, bool waits) { place_of(parts_, owner)->waits = waits; }

std::vector<std::unique_ptr<KeyPart>> KeyEntry::take() {
  std::vector<std::unique_ptr<KeyPart>> out;
  for (const OfOwner& each : parts_) out.emplace_back(each.part);
  parts_.clear();
  return out;
}

namespace {

template <class Readers>
auto place_of_reader(Readers& readers, std::uint32_t reader) {
  return std::lower_bound(readers.begin(), readers.end(), reader,
                          [](const PrefixState::Reader& each, std::uint32_t number) { return each.owner < number; });
}

}  // namespace

Taken PrefixState::taken_by(std::uint32_t reader) const {
  const auto at = place_of_reader(readers, reader);
  return at != readers.end() && at->owner == reader ? at->taken : Taken{};
}

MatchSet PrefixState::take(std::uint32_t reader, bool for_good, bool only_one) {
  const Taken before = taken_by(reader);
  if (for_good && only_one && before.sequence == 0) return std::exchange(set, {});
  MatchSet part = set.above(before.sequence, count_above(before));
  if (for_good) note_taken(reader, {set.last_sequence(), added});
  return part;
}

void PrefixState::note_taken(std::uint32_t reader, const Taken& taken) {
  auto at = place_of_reader(readers, reader);
  if (at == readers.end() || at->owner != reader) at = readers.insert(at, {reader, {}});
  at->taken = taken;
}

void PrefixState::forget_readers() {
  if (readers.size() < forget_at) return;
  const std::uint64_t oldest = set.empty() ? UINT64_MAX : set.tail()->event->sequence;
  std::erase_if(readers, [&](const Reader& reader) { return reader.taken.sequence < oldest; });
  forget_at = static_cast<std::uint32_t>(2 * readers.size() + 8);
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

bool KeyState::forget_timeouts() {
  bool some = rare && !rare->expired.empty();
  if (some) rare->expired.clear();
  for (Run& run : runs) some = std::exchange(run.first_completed, false) || some;
  return some;
}

}  // namespace cepd::engine
