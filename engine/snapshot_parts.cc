/// Partial matches as they are stored: events, cells and runs, each written once and named by its place.

#include <algorithm>
#include <boost/unordered/unordered_flat_map.hpp>

#include "engine/snapshot.h"
#include "state/layout.h"

namespace cepd::engine {
namespace {

using state::Reader;
using state::Writer;

void write_event(Writer& out, const Event& event) {
  out.number(static_cast<std::uint64_t>(event.type));
  out.text(event.other_type());
  out.time(event.time);
  out.number(event.sequence);
  out.position(event.position);
  out.byte(static_cast<std::uint8_t>((event.maker() != nullptr ? 1 : 0) | (event.shadow ? 2 : 0)));
  if (event.maker() != nullptr) out.match_id(*event.maker());
  out.number(event.fields().size());
  for (const Value& field : event.fields()) out.value(field);
}

EventPtr read_event(Reader& in, const StoredPlan& plan) {
  EventDraft event;
  const StoredPlan::Type* type = plan.find(in.number());
  if (type == nullptr) {
    in.fail();
    return event.build();
  }
  event.type = type->present;
  event.other_type = in.text();
  // A type that no rule names any more is only told apart by its name.
  if (event.type == kOtherType && event.other_type.empty()) event.other_type = type->name;
  event.time = in.time();
  event.sequence = in.number();
  event.position = in.position();
  const std::uint8_t flags = in.byte();
  if ((flags & 1) != 0) event.maker = in.match_id();
  event.shadow = (flags & 2) != 0;
  const std::size_t fields = in.count();
  for (std::size_t i = 0; i < fields && in.ok(); ++i) {
    const Value value = in.value();
    const auto slot = i < type->slots.size() ? type->slots[i] : std::nullopt;
    if (!slot) continue;
    if (event.fields.size() <= *slot) event.fields.resize(*slot + 1);
    event.fields[*slot] = value;
  }
  return event.build();
}

void write_times(Writer& out, const Times& times) {
  out.number(times.size());
  for (const EventTime time : times) out.time(time);
}

void read_times(Reader& in, Times& times) {
  const std::size_t count = in.count();
  for (std::size_t i = 0; i < count && in.ok(); ++i) times.push_back(in.time());
}

// ---- events, cells and runs: each is written once and named by its place ----

class StateWriter {
 public:
  explicit StateWriter(Writer& out) : out_(out) {}

  void runs(std::initializer_list<const Runs*> lists) {
    for (const auto* list : lists) {
      for (const Run& run : *list) find({run.set.head().get()});
    }
    found();
    for (const auto* list : lists) {
      out_.number(list->size());
      for (const Run& each : *list) run(each);
    }
  }

  void set(const MatchSet& set) {
    find({set.head().get()});
    found();
    out_.number(place(set.head().get()));
  }

 private:
  void found() {
    out_.number(events_.size());
    for (const Event* event : events_) write_event(out_, *event);
    out_.number(cells_.size());
    for (const SetPart& each : cells_) cell(*each.head, each.floor);
  }

  /// A cell comes after those it hangs on. Parts above a floor become sets of their own.
  void find(SetPart part) {
    std::vector<SetPart> open{part};
    while (!open.empty()) {
      const auto [cell, floor] = open.back();
      if (cell == nullptr || cell_place_.contains(cell)) {
        open.pop_back();
        continue;
      }
      const auto known = [&](const Cell* other) { return other == nullptr || cell_place_.contains(other); };
      const Cell* older = cell->older(floor);
      if (known(cell->before.get()) && known(older)) {
        open.pop_back();
        cell_place_.emplace(cell, cells_.size() + 1);
        cells_.push_back({cell, floor});
        if (cell->event != nullptr && event_place_.emplace(cell->event->sequence, events_.size()).second) {
          events_.push_back(cell->event.get());
        }
        continue;
      }
      if (!known(older)) open.push_back({older, floor});
      if (!known(cell->before.get())) open.push_back({cell->before.get(), cell->floor});
    }
  }

  std::uint64_t place(const Cell* cell) const { return cell == nullptr ? 0 : cell_place_.at(cell); }

  void cell(const Cell& cell, std::uint64_t floor) {
    out_.number(cell.event == nullptr ? 0 : event_place_.at(cell.event->sequence) + 1);
    out_.number(static_cast<std::uint64_t>(cell.element));
    out_.number(place(cell.before.get()));
    out_.number(place(cell.older(floor)));
    out_.number(cell.count);
  }

  void run(const Run& run) {
    out_.number(place(run.set.head().get()));
    out_.number(static_cast<std::uint64_t>(run.state));
    out_.number(run.count);
    out_.number(run.members);
    out_.number(run.branches);
    out_.number(run.violated);
    out_.byte(static_cast<std::uint8_t>((run.ended ? 1 : 0) | (run.first_completed ? 2 : 0)));
    out_.number(run.groups.size());
    for (const GroupProgress& group : run.groups) {
      out_.number(group.repeats);
      out_.time(group.start);
    }
    out_.time(run.due);
    out_.time(run.last_time);
    out_.number(run.last_sequence);
    out_.number(run.bound.size());
    for (const Bound& bound : run.bound) {
      out_.number(static_cast<std::uint64_t>(bound.element));
      out_.number(event_place_.at(bound.event->sequence));
    }
  }

  Writer& out_;
  boost::unordered_flat_map<std::uint64_t, std::size_t> event_place_;  // by sequence
  std::vector<const Event*> events_;
  boost::unordered_flat_map<const Cell*, std::size_t> cell_place_;  // from 1: 0 is none
  std::vector<SetPart> cells_;                                      // with the floors that they stand above
};

class StateReader {
 public:
  StateReader(Reader& in, const StoredPlan& plan, const nfa::Automaton& automaton, bool sets)
      : in_(in), automaton_(automaton), sets_(sets) {
    const std::size_t events = in_.count();
    for (std::size_t i = 0; i < events && in_.ok(); ++i) events_.push_back(read_event(in_, plan));
    const std::size_t cells = in_.count();
    for (std::size_t i = 0; i < cells && in_.ok(); ++i) cells_.push_back(cell());
  }

  MatchSet set() {
    CellPtr head = cell_at(in_.number());
    if (head == nullptr || head->newer != nullptr) in_.fail();
    if (!in_.ok()) return {};
    CellListPtr list = list_of(head.get());
    return MatchSet::restored(std::move(head), std::move(list));
  }

  Runs runs() {
    Runs out;
    const std::size_t count = in_.count();
    for (std::size_t i = 0; i < count && in_.ok(); ++i) out.push_back(run());
    return out;
  }

 private:
  CellPtr cell_at(std::uint64_t place) {
    if (place > cells_.size()) in_.fail();
    return place == 0 || !in_.ok() ? nullptr : cells_[place - 1];
  }

  const EventPtr* event_at(std::uint64_t place) {
    if (place >= events_.size()) in_.fail();
    return in_.ok() ? &events_[place] : nullptr;
  }

  dsl::plan::ElementId element() {
    const std::uint64_t element = in_.number();
    if (element >= automaton_.guard_within.size()) in_.fail();
    return dsl::plan::ElementId(static_cast<std::uint16_t>(element));
  }

  CellPtr cell() {
    EventPtr event;
    if (const std::uint64_t place = in_.number(); place > 0) {
      if (const EventPtr* found = event_at(place - 1)) event = *found;
    }
    const dsl::plan::ElementId to = element();
    CellPtr before = cell_at(in_.number());
    CellPtr next = cell_at(in_.number());
    const std::uint64_t count = in_.number();
    if (event == nullptr && before == nullptr) in_.fail();
    // A cell is the next one of one set only.
    if (next != nullptr && next->newer != nullptr) in_.fail();
    if (!in_.ok()) return nullptr;
    CellListPtr list = list_of(before.get());
    CellPtr cell = restored_cell(std::move(event), to, std::move(before), std::move(list), std::move(next), count);
    if (Cell* older = cell->next.get(); older != nullptr) {
      list = list_of(older);
      lists_.emplace(cell.get(), list != nullptr ? std::move(list) : new_list(older));
    }
    return cell;
  }

  /// Null: the cell is the oldest of its list.
  CellListPtr list_of(const Cell* cell) const {
    const auto found = lists_.find(cell);
    return found == lists_.end() ? nullptr : found->second;
  }

  /// What conditions may read is bound by each partial match of the run, so by the first one too; its cells keep the
  /// events.
  /// Of a run that is one partial match all its events are.
  bool holds(const Cell* cell, const BoundList& bound) const {
    std::size_t left = bound.size();
    bool all = cell->next == nullptr;
    for (; cell != nullptr; cell = cell->before.get()) {
      const bool same =
          left > 0 && cell->event.get() == bound[left - 1].event && cell->element == bound[left - 1].element;
      if (same) --left;
      all = all && same;
    }
    return left == 0 && (sets_ || all);
  }

  Run run() {
    Run run;
    run.set = set();
    const std::uint64_t state = in_.number();
    if (state >= automaton_.states.size()) in_.fail();
    run.state = nfa::StateId(static_cast<std::uint16_t>(state));
    run.count = static_cast<std::uint32_t>(in_.number());
    run.members = in_.number();
    run.branches = in_.number();
    run.violated = in_.number();
    const std::uint8_t flags = in_.byte();
    run.ended = (flags & 1) != 0;
    run.first_completed = (flags & 2) != 0;
    const std::size_t groups = in_.count();
    if (groups != automaton_.groups.size()) in_.fail();
    for (std::size_t i = 0; i < groups && in_.ok(); ++i) {
      const auto repeats = static_cast<std::uint32_t>(in_.number());
      run.groups.push_back({repeats, in_.time()});
    }
    run.due = in_.time();
    run.last_time = in_.time();
    run.last_sequence = in_.number();
    const std::size_t bound = in_.count();
    for (std::size_t i = 0; i < bound && in_.ok(); ++i) {
      const dsl::plan::ElementId to = element();
      if (const EventPtr* event = event_at(in_.number())) run.bound.push_back({to, event->get()});
    }
    if (in_.ok() && !holds(run.set.head().get(), run.bound)) in_.fail();
    return run;
  }

  Reader& in_;
  const nfa::Automaton& automaton_;
  const bool sets_;
  std::vector<EventPtr> events_;
  std::vector<CellPtr> cells_;
  boost::unordered_flat_map<const Cell*, CellListPtr> lists_;  // that a cell is of
};

void write_sequences(Writer& out, const Sequences& sequences) {
  out.number(sequences.size());
  for (const std::uint64_t sequence : sequences.sorted()) out.number(sequence);
}

void read_sequences(Reader& in, Sequences& sequences) {
  const std::size_t count = in.count();
  for (std::size_t i = 0; i < count && in.ok(); ++i) sequences.insert(in.number());
}

void encode_state(Writer& out, const KeyState& state) {
  static const KeyState::Rare kNothing;
  out.number(state.last_input);
  out.byte(state.sets ? 1 : 0);
  const KeyState::Rare& rare = state.rare ? *state.rare : kNothing;
  write_times(out, rare.acted);
  write_times(out, rare.acted_on_timeout);
  out.number(rare.marks.oldest);
  write_sequences(out, rare.marks.starts);
  write_sequences(out, rare.marks.used);
  StateWriter(out).runs({&state.runs, &rare.expired});
  out.time(state.marked_until);
}

std::unique_ptr<KeyState> decode_state(Reader& in, const StoredPlan& plan, const nfa::Automaton& automaton) {
  auto state = std::make_unique<KeyState>();
  state->last_input = in.number();
  const std::uint8_t sets = in.byte();
  if (sets > 1) in.fail();
  state->sets = sets != 0;
  KeyState::Rare rare;
  read_times(in, rare.acted);
  read_times(in, rare.acted_on_timeout);
  rare.marks.oldest = in.number();
  read_sequences(in, rare.marks.starts);
  read_sequences(in, rare.marks.used);
  StateReader reader(in, plan, automaton, state->sets);
  state->runs = reader.runs();
  rare.expired = reader.runs();
  state->marked_until = in.time();
  if (!rare.empty()) state->rare = std::make_unique<KeyState::Rare>(std::move(rare));
  return state;
}

void encode_prefix(Writer& out, const PrefixState& state, const LaneRules& rules) {
  out.number(state.added);
  out.number(state.readers.size());
  for (const PrefixState::Reader& reader : state.readers) {
    out.match_id(rules.id_of(reader.owner));
    out.number(reader.taken.sequence);
    out.number(reader.taken.added);
  }
  StateWriter(out).set(state.set);
}

std::unique_ptr<PrefixState> decode_prefix(Reader& in, const StoredPlan& plan, const nfa::Automaton& automaton,
                                           const Owners& owners) {
  auto state = std::make_unique<PrefixState>();
  state->added = in.number();
  const std::size_t readers = in.count();
  for (std::size_t i = 0; i < readers && in.ok(); ++i) {
    const auto owner = owners.find(in.match_id());
    Taken taken;
    taken.sequence = in.number();
    taken.added = in.number();
    if (owner != owners.end()) state->note_taken(owner->second, taken);
  }
  state->set = StateReader(in, plan, automaton, true).set();
  return state;
}

}  // namespace

std::string encode_part(const KeyPart& part, const LaneRules& rules, const PartHead& head) {
  Writer out;
  out.time(head.due);
  out.number(head.plan);
  out.number(head.before);
  out.number(part.key().size());
  for (const Value& value : part.key()) out.value(value);
  if (part.of_prefix()) {
    encode_prefix(out, static_cast<const PrefixState&>(part), rules);
  } else {
    encode_state(out, static_cast<const KeyState&>(part));
  }
  return out.take();
}

Result<PartHead> decode_head(Reader& in) {
  PartHead head;
  head.due = in.time();
  head.plan = in.number();
  head.before = in.number();
  if (!in.ok()) return corrupt_record("partial matches");
  return head;
}

std::vector<Value> decode_key(Reader& in) {
  std::vector<Value> key;
  const std::size_t values = in.count();
  for (std::size_t i = 0; i < values && in.ok(); ++i) key.push_back(in.value());
  return key;
}

Result<StoredPart> decode_part(Reader& in, const StoredPlan& plan, const LaneRules& rules, const Owners& owners,
                               std::uint32_t owner) {
  StoredPart stored;
  stored.key = decode_key(in);
  const nfa::Automaton& automaton = rules.network->automaton(rules.rule_of(owner));
  if ((owner & KeyPart::kPrefix) != 0) {
    stored.part = decode_prefix(in, plan, automaton, owners);
  } else {
    stored.part = decode_state(in, plan, automaton);
  }
  if (!in.at_end()) return corrupt_record("partial matches");
  stored.part->owner = owner;
  stored.part->stored = true;
  return stored;
}

void rename_readers(PrefixState& state, const std::function<std::optional<std::uint32_t>(std::uint32_t)>& owner_now) {
  const auto before = std::exchange(state.readers, {});
  for (const PrefixState::Reader& reader : before) {
    if (const auto owner = owner_now(reader.owner)) state.note_taken(*owner, reader.taken);
  }
}

}  // namespace cepd::engine
