/// Which rules an event meets, under which keys.

#include <algorithm>

#include "engine/lane.h"

namespace cepd::engine {

namespace plan = dsl::plan;

/// False where a field is missing. Sets the key's place in its table.
bool Lane::read_key(const List<plan::FieldRef>& fields, const Event& event, EventKey& key) const {
  key.values.clear();
  for (const plan::FieldRef& ref : fields) {
    key.values.push_back(nfa::read_property(ref, event, rules_->network->fields()));
    if (key.values.back().is_null() || key.values.back().kind() == Kind::kJson) return false;
  }
  key.hash = hash_key(key.values);
  return true;
}

bool Lane::is_mine(std::uint32_t rule, const KeyProbe& key) const {
  if (options_.lanes == 1) return true;
  return (key.key.empty() ? rules_->lane_of_unkeyed[rule] : key.hash % options_.lanes) == index_;
}

void Lane::collect(const EventPtr& event, const nfa::TypeDispatch& dispatch) {
  for (const nfa::KeyWay& way : dispatch.ways) collect(event, way);
  for (const nfa::RuleInput* input : dispatch.several) collect_several(event, *input);
}

void Lane::collect(const EventPtr& event, const nfa::KeyWay& way) {
  if (keys_.size() == key_count_) keys_.emplace_back();
  EventKey& key = keys_[key_count_];
  if (!read_key(way.key, *event, key)) {
    if (index_ == 0) count_missing(*event, way);
    if (traced_ && way.find(*traced_) != nullptr) runtimes_[*traced_].trace()->without_key(event);
    return;
  }
  if (!key.values.empty() && !is_mine(0, key.probe())) return;
  key.table = way.table;
  key.known = find_key(way.table, key.probe(), event->time);
  const std::size_t number = key_count_++;
  starts_.clear();
  way.starts.find(*event, starts_);
  find_readers(event, way, number);
  // Rules with something under way, rules that may start, and rules that may go on from a prefix, all in their order. A
  // rule that is watched is told of every event.
  const std::span<const KeyEntry::OfOwner> parts =
      key.known == nullptr ? std::span<const KeyEntry::OfOwner>() : key.known->parts();
  auto part = parts.begin();
  auto start = starts_.begin();
  auto reader = readers_.begin();
  const auto none = static_cast<std::uint32_t>(way.rules.size());
  while (true) {
    const std::uint32_t starting = start == starts_.end() ? none : std::min(start->place(), none);
    const std::uint32_t reading = reader == readers_.end() ? none : reader->first.place();
    const std::uint32_t place = std::min(starting, reading);
    const std::uint32_t rule = place == none ? KeyPart::kPrefix : way.rules[place].rule;
    const bool has_part = part != parts.end() && part->owner <= rule && part->owner < KeyPart::kPrefix;
    if (!has_part && place == none) break;
    const bool found = place != none && (!has_part || part->owner == rule);
    if (!found && !part->waits && !traced_) {
      ++part;
      continue;
    }
    const nfa::RuleEntry* entry = found ? &way.rules[place] : way.find(part->owner);
    const bool starts = found && starting == place;
    PrefixState* from = found && reading == place ? reader->second : nullptr;
    if (entry != nullptr && (found || entry->moves || traced_) &&
        add_item(event, *entry, has_part ? static_cast<KeyState*>(part->part) : nullptr, number, starts, from)) {
      items_.back().offer.start_accepted = starts && start->accepted();
      items_.back().offer.from_accepted = from != nullptr && reader->first.accepted();
    }
    if (starts) ++start;
    if (from != nullptr) ++reader;
    if (has_part) ++part;
  }
  for (; start != starts_.end(); ++start) {
    add_prefix_item(*event, way.prefixes[start->place() - none], nullptr, number, start->accepted());
  }
  if (!traced_) return;
  const nfa::RuleEntry* entry = way.find(*traced_);
  if (entry == nullptr || (key.known != nullptr && key.known->find_rule(*traced_) != nullptr)) return;
  const auto starting = [&](nfa::StartIndex::Found each) {
    return each.place() < none && way.rules[each.place()].rule == *traced_;
  };
  if (std::none_of(starts_.begin(), starts_.end(), starting)) add_item(event, *entry, nullptr, number, true, nullptr);
}

/// Who may take further what waits in the prefixes of the key: rules are put into readers_, longer prefixes into
/// prefix_items_.
void Lane::find_readers(const EventPtr& event, const nfa::KeyWay& way, std::size_t key) {
  readers_.clear();
  const KeyEntry* known = keys_[key].known;
  if (known == nullptr) return;
  // There may be many, and none of what is read of them in a cache: it is asked for some steps before it is read.
  constexpr std::size_t kFar = 8, kNear = 4;
  const auto parts = known->prefixes();
  const std::size_t rules = way.rules.size(), starts = starts_.size();
  const auto continuation_of = [&](std::size_t i) { return way.continuation(parts[i].owner & ~KeyPart::kPrefix); };
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (i + kFar < parts.size()) {
      static_cast<const PrefixState*>(parts[i + kFar].part)->prefetch();
      __builtin_prefetch(continuation_of(i + kFar));
    }
    if (i + kNear < parts.size()) {
      static_cast<const PrefixState*>(parts[i + kNear].part)->prefetch_readers();
      if (const auto* near = continuation_of(i + kNear)) near->prefetch();
    }
    const nfa::Continuation* continuation = continuation_of(i);
    if (continuation == nullptr) continue;
    auto* state = static_cast<PrefixState*>(parts[i].part);
    if (state->set.empty()) continue;
    continuation->find(*event, starts_);
    for (std::size_t place = starts; place < starts_.size(); ++place) {
      const nfa::StartIndex::Found found = starts_[place];
      if (found.place() < rules) {
        const std::uint32_t rule = way.rule_of[found.place()];
        if (state->part_above(state->taken_by(rule)).head == nullptr) continue;
        readers_.emplace_back(found, state);
        __builtin_prefetch(&way.rules[found.place()]);
        runtimes_[rule].prefetch();
      } else {
        add_prefix_item(*event, way.prefixes[found.place() - rules], state, key, found.accepted());
      }
    }
    starts_.erase(starts_.begin() + static_cast<std::ptrdiff_t>(starts), starts_.end());
  }
  std::sort(readers_.begin(), readers_.end());
}

void Lane::set_trace(std::uint32_t rule, Trace* trace) {
  runtimes_[rule].set_trace(trace);
  traced_ = trace == nullptr ? std::nullopt : std::optional(rule);
}

void Lane::count_missing(const Event& event, const nfa::KeyWay& way) {
  if (!event.shadow) {
    ++missing_by_way_[way.number];
    return;
  }
  for (const nfa::RuleEntry& entry : way.rules) {
    RuleRuntime& runtime = runtimes_[entry.rule];
    if (runtime.rule().status == plan::Status::kShadow) ++runtime.counts().missing_key;
  }
}

void Lane::add_prefix_item(const Event& event, std::uint32_t prefix, PrefixState* from, std::size_t key,
                           bool accepted) {
  const nfa::Prefix& of = rules_->prefixes()[prefix];
  if ((!event.shadow || of.shadow) && is_mine(of.rule, keys_[key].probe())) {
    prefix_items_.push_back({prefix, from, key, accepted});
  }
}

/// `way`: of several in which the rule reads keys from the event. False: it does not meet the event.
bool Lane::add_item(const EventPtr& event, const nfa::RuleEntry& entry, KeyState* state, std::size_t key, bool starts,
                    PrefixState* from, const nfa::Entry* way) {
  if (event->shadow && runtimes_[entry.rule].rule().status != plan::Status::kShadow) return false;
  if (!is_mine(entry.rule, keys_[key].probe())) return false;
  const bool input = entry.input && (!entry.has_from || passes_from(entry.rule, *entry.from, way, *event));
  if (entry.input && !input) {
    if (Trace* trace = runtimes_[entry.rule].trace()) trace->filtered(keys_[key].values, event);
  }
  if (!input && entry.unless == 0) return false;
  // Elements take nothing from an event that is no input.
  Offer offer;
  offer.shown = &event;
  offer.elements = input ? entry.elements : 0;
  offer.unless = entry.unless;
  offer.input = input;
  offer.starts = starts && input;
  offer.from = from;
  items_.push_back({entry.rule, state, key, offer});
  return true;
}

bool Lane::passes_from(std::uint32_t rule, const nfa::RuleInput& input, const nfa::Entry* way, const Event& event) {
  const nfa::Scope scope{&event, {}, {}, {}, &rules_->network->fields()};
  return std::any_of(input.from.begin(), input.from.end(), [&](const plan::EventTest* from) {
    if (way != nullptr && way->of_from && !nfa::same_fields(from->key, way->key)) return false;
    return nfa::holds(from->conditions, scope, work_.scratch, runtimes_[rule].errors());
  });
}

/// A rule that reads keys from the event in several ways meets it once for each key.
void Lane::collect_several(const EventPtr& event, const nfa::RuleInput& input) {
  if (event->shadow && runtimes_[input.rule].rule().status != plan::Status::kShadow) return;
  const std::size_t first = items_.size();
  bool any_key = false;
  for (const nfa::Entry& way : input.entries) {
    if (keys_.size() == key_count_) keys_.emplace_back();
    EventKey& key = keys_[key_count_];
    if (!read_key(way.key, *event, key)) continue;
    any_key = true;
    key.table = rules_->dispatch.table(input.rule);
    key.known = find_key(key.table, key.probe(), event->time);
    const std::size_t number = key_count_++;
    const nfa::RuleEntry entry{input.rule, way.input, input.has_from, true, way.elements, way.unless, &input};
    const bool starts = (way.elements & rules_->network->automaton(input.rule).starting) != 0;
    KeyState* state = key.known == nullptr ? nullptr : key.known->find_rule(input.rule);
    if (!add_item(event, entry, state, number, starts, nullptr, &way)) continue;
    const auto same =
        std::find_if(items_.begin() + static_cast<std::ptrdiff_t>(first), std::prev(items_.end()),
                     [&](const Item& item) { return compare_keys(keys_[item.key].values, keys_[number].values) == 0; });
    if (same == std::prev(items_.end())) continue;
    const Offer& again = items_.back().offer;
    same->offer.elements |= again.elements;
    same->offer.unless |= again.unless;
    same->offer.input = same->offer.input || again.input;
    same->offer.starts = same->offer.starts || again.starts;
    items_.pop_back();
  }
  if (any_key) return;
  if (index_ == 0) ++runtimes_[input.rule].counts().missing_key;
  if (Trace* trace = runtimes_[input.rule].trace()) trace->without_key(event);
}

}  // namespace cepd::engine
