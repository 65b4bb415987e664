/// How one lane hands over what changed, a part at a time, while it goes on.

#include <utility>

#include "base/check.h"
#include "engine/lane.h"
#include "engine/snapshot.h"

namespace cepd::engine {

using state::Space;

void Lane::begin_save(std::uint64_t plan, std::uint64_t sequence) {
  saving_plan_ = plan;
  saving_before_ = sequence;
  // The parts themselves are not touched: there may be a million.
  saving_ = std::exchange(changed_, {});
  saving_list_ = changed_list_++;
  may_evict_ = 0;
  for (const std::string& key : gone_) written_.erase(Space::kPartial, key);
  if (stored_) erased_.merge(gone_);
  gone_.clear();
}

void Lane::saved() {
  CEPD_CHECK(saving_.empty());
  erased_ = {};
  // Those that were touched are looked at twice.
  may_evict_ = 2 * clock_.slots();
}

bool Lane::save_some(state::WriteBatch& batch, std::size_t most_bytes) {
  for (std::size_t bytes = 0; !saving_.empty() && bytes < most_bytes; saving_.pop_back()) {
    if (saving_.back() != nullptr) bytes += write(*saving_.back());
  }
  batch.append(std::exchange(written_, {}));
  return !saving_.empty();
}

/// Returns how many bytes it takes.
std::size_t Lane::write(KeyPart& part) {
  std::string key = stored_key(part);
  std::string record = encode_part(part, *rules_, {due_of(part), saving_plan_, saving_before_});
  const std::size_t bytes = key.size() + record.size();
  written_.put(Space::kPartial, std::move(key), std::move(record));
  part.stored = true;
  saving_[part.changed_slot] = nullptr;
  part.changed_in = 0;
  return bytes;
}

/// A rule that takes an event may change what waits in its prefixes.
void Lane::before_change_with_prefixes(KeyState& state) {
  if (saving_.empty()) return;
  before_change(state);
  const nfa::Prefixes& prefixes = rules_->prefixes();
  for (std::uint32_t at = prefixes.of_rule(state.owner); at != nfa::Prefix::kNone; at = prefixes[at].parent) {
    if (PrefixState* waiting = state.entry->find_prefix(at)) before_change(*waiting);
  }
}

/// The part goes.
void Lane::forget(KeyPart& part) {
  CEPD_CHECK(part.changed_in != saving_list_ || saving_.empty());  // it was written before it changed
  if (part.changed_in == changed_list_) changed_[part.changed_slot] = nullptr;
  if (part.stored) gone_.insert(stored_key(part));
}

/// Also of one that is not in the queue because it is being fired.
EventTime Lane::due_of(const KeyPart& part) const {
  if (part.of_prefix()) return due_of(static_cast<const PrefixState&>(part));
  return runtimes_[part.owner].due(static_cast<const KeyState&>(part));
}

EventTime Lane::due_of(const PrefixState& state) const {
  return state.set.empty() ? kMaxTime
                           : saturating_add(state.set.newest().time, rules_->prefixes()[state.prefix()].within);
}

std::string Lane::stored_key(const KeyPart& part) const {
  return encode_partial_key({key_id(part.key()), rules_->id_of(part.owner)});
}

}  // namespace cepd::engine
