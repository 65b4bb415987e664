#include "engine/snapshot.h"

#include <boost/unordered/unordered_flat_map.hpp>

#include "state/layout.h"

namespace cepd::engine {
namespace {

using state::Reader;
using state::Writer;

Error corrupt(const char* what) { return error(Errc::kCorrupt, std::string("stored ") + what + " does not read back"); }

void append_ordered(std::string& out, const MatchId& hash) {
  state::append_ordered(out, hash.high);
  state::append_ordered(out, hash.low);
}

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

void write_times(Writer& out, const std::deque<EventTime>& times) {
  out.number(times.size());
  for (const EventTime time : times) out.time(time);
}

void read_times(Reader& in, std::deque<EventTime>& times) {
  const std::size_t count = in.count();
  for (std::size_t i = 0; i < count && in.ok(); ++i) times.push_back(in.time());
}

void write_run(Writer& out, const Run& run, const boost::unordered_flat_map<std::uint64_t, std::size_t>& place) {
  out.number(static_cast<std::uint64_t>(run.state));
  out.number(run.count);
  out.number(run.members);
  out.number(run.branches);
  out.number(run.violated);
  out.byte(static_cast<std::uint8_t>((run.adjacent ? 1 : 0) | (run.ended ? 2 : 0) | (run.first_completed ? 4 : 0)));
  out.number(run.groups.size());
  for (const GroupProgress& group : run.groups) {
    out.number(group.repeats);
    out.time(group.start);
  }
  out.time(run.due);
  out.number(run.bound.size());
  for (const Bound& bound : run.bound) {
    out.number(static_cast<std::uint64_t>(bound.element));
    out.number(place.at(bound.event->sequence));
  }
}

Run read_run(Reader& in, const std::vector<EventPtr>& events, const nfa::Automaton& automaton) {
  Run run;
  const std::uint64_t state = in.number();
  if (state >= automaton.states.size()) in.fail();
  run.state = nfa::StateId(static_cast<std::uint16_t>(state));
  run.count = static_cast<std::uint32_t>(in.number());
  run.members = in.number();
  run.branches = in.number();
  run.violated = in.number();
  const std::uint8_t flags = in.byte();
  run.adjacent = (flags & 1) != 0;
  run.ended = (flags & 2) != 0;
  run.first_completed = (flags & 4) != 0;
  const std::size_t groups = in.count();
  if (groups != automaton.groups.size()) in.fail();
  for (std::size_t i = 0; i < groups && in.ok(); ++i) {
    run.groups.push_back({static_cast<std::uint32_t>(in.number()), in.time()});
  }
  run.due = in.time();
  const std::size_t bound = in.count();
  if (bound == 0) in.fail();
  for (std::size_t i = 0; i < bound && in.ok(); ++i) {
    const std::uint64_t element = in.number();
    const std::uint64_t event = in.number();
    if (element >= dsl::plan::kMaxElements || event >= events.size()) {
      in.fail();
      break;
    }
    run.bound.push_back({dsl::plan::ElementId(static_cast<std::uint16_t>(element)), events[event]});
  }
  return run;
}

}  // namespace

std::string partial_prefix(const dsl::plan::Rule& rule) {
  std::string out;
  append_ordered(out, rule.fingerprint);
  return out;
}

std::string partial_key(const dsl::plan::Rule& rule, std::string_view key_id) {
  std::string out = partial_prefix(rule);
  append_ordered(out, hash_match_id(key_id));
  return out;
}

std::string encode_plan(const FieldPlan& plan) {
  Writer out;
  out.number(plan.types().size());
  for (const FieldPlan::Type& type : plan.types()) {
    out.text(type.name);
    out.number(type.paths.size());
    for (const FieldPath& path : type.paths) out.path(path);
  }
  return out.take();
}

Result<StoredPlan> StoredPlan::decode(std::string_view record, const FieldPlan& present) {
  Reader in(record);
  StoredPlan plan;
  const std::size_t types = in.count();
  for (std::size_t i = 0; i < types && in.ok(); ++i) {
    Type type;
    type.name = std::string(in.text());
    type.present = i == 0 ? kOtherType : present.find(type.name).value_or(kOtherType);
    const std::size_t paths = in.count();
    for (std::size_t slot = 0; slot < paths && in.ok(); ++slot)
      type.slots.push_back(present.slot(type.present, in.path()));
    plan.types_.push_back(std::move(type));
  }
  if (!in.at_end()) return corrupt("field plan");
  return plan;
}

std::string encode_key(const KeyState& key) {
  Writer out;
  out.number(key.key.size());
  for (const Value& value : key.key) out.value(value);
  write_times(out, key.acted);
  write_times(out, key.acted_on_timeout);

  // Runs share events: each is written once and named by its place.
  boost::unordered_flat_map<std::uint64_t, std::size_t> place;
  std::vector<const Event*> events;
  for (const auto* runs : {&key.runs, &key.expired}) {
    for (const Run& run : *runs) {
      for (const Bound& bound : run.bound) {
        if (place.emplace(bound.event->sequence, events.size()).second) events.push_back(bound.event.get());
      }
    }
  }
  out.number(events.size());
  for (const Event* event : events) write_event(out, *event);
  for (const auto* runs : {&key.runs, &key.expired}) {
    out.number(runs->size());
    for (const Run& run : *runs) write_run(out, run, place);
  }
  return out.take();
}

Result<std::unique_ptr<KeyState>> decode_key(std::string_view record, const StoredPlan& plan,
                                             const nfa::Automaton& automaton) {
  Reader in(record);
  auto key = std::make_unique<KeyState>();
  const std::size_t values = in.count();
  for (std::size_t i = 0; i < values && in.ok(); ++i) {
    key->key.push_back(in.value().copied_to(key->arena));
    append_canonical(key->id, key->key.back());
  }
  read_times(in, key->acted);
  read_times(in, key->acted_on_timeout);
  std::vector<EventPtr> events;
  const std::size_t event_count = in.count();
  for (std::size_t i = 0; i < event_count && in.ok(); ++i) events.push_back(read_event(in, plan));
  for (auto* runs : {&key->runs, &key->expired}) {
    const std::size_t count = in.count();
    for (std::size_t i = 0; i < count && in.ok(); ++i) runs->push_back(read_run(in, events, automaton));
  }
  if (!in.at_end()) return corrupt("partial matches");
  key->stored = true;
  return key;
}

std::string encode_waiting(const Event& event, const FieldPlan& plan) {
  Writer out;
  out.text(event.type == kOtherType ? event.other_type() : plan.type(event.type).name);
  out.time(event.time);
  out.position(event.position);
  out.text(event.raw());
  return out.take();
}

Result<EventPtr> decode_waiting(std::string_view record, const FieldPlan& present) {
  Reader in(record);
  EventDraft event;
  const std::string_view name = in.text();
  event.type = present.find(name).value_or(kOtherType);
  if (event.type == kOtherType) event.other_type = name;
  event.time = in.time();
  event.position = in.position();
  event.raw = in.text();
  if (!in.at_end()) return corrupt("waiting event");
  return event.build();
}

std::string encode_order(const EventOrder& order, std::uint64_t next_sequence) {
  Writer out;
  out.number(next_sequence);
  out.time(order.watermark_of_input());
  out.number(order.partitions().size());
  for (const auto& [id, partition] : order.partitions()) {
    out.text(id.first.name());
    out.signed_number(id.second);
    out.byte(static_cast<std::uint8_t>((partition.idle ? 1 : 0) | (partition.greatest ? 2 : 0)));
    out.time(partition.greatest.value_or(EventTime{}));
    out.time(partition.floor);
  }
  return out.take();
}

Status decode_order(std::string_view record, EventOrder& order, std::uint64_t& next_sequence) {
  Reader in(record);
  next_sequence = in.number();
  order.restore_watermark(in.time());
  const std::size_t partitions = in.count();
  for (std::size_t i = 0; i < partitions && in.ok(); ++i) {
    const SourceId source(in.text());
    const auto number = static_cast<std::int32_t>(in.signed_number());
    const std::uint8_t flags = in.byte();
    const EventTime greatest = in.time();
    const EventTime floor = in.time();
    order.restore_partition({source, number}, (flags & 2) != 0 ? std::optional(greatest) : std::nullopt, floor,
                            (flags & 1) != 0);
  }
  if (!in.at_end()) return corrupt("watermarks");
  return {};
}

}  // namespace cepd::engine
