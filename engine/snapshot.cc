#include "engine/snapshot.h"

#include "state/layout.h"

namespace cepd::engine {
namespace {

using state::Reader;
using state::Writer;

void append_ordered(std::string& out, const MatchId& hash) {
  state::append_ordered(out, hash.high);
  state::append_ordered(out, hash.low);
}

}  // namespace

Error corrupt_record(const char* what) {
  return error(Errc::kCorrupt, std::string("stored ") + what + " does not read back");
}

std::string encode_partial_key(const PartialKey& key) {
  std::string out;
  append_ordered(out, key.key);
  append_ordered(out, key.owner);
  return out;
}

std::optional<PartialKey> decode_partial_key(std::string_view stored) {
  constexpr std::size_t kNumber = sizeof(std::uint64_t);
  if (stored.size() != 4 * kNumber) return std::nullopt;
  const auto number = [&](std::size_t place) { return state::read_ordered(stored.substr(place * kNumber)); };
  return PartialKey{{number(0), number(1)}, {number(2), number(3)}};
}

MatchId key_id(std::span<const Value> key) { return hash_match_id(canonical_key(key)); }

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
  if (!in.at_end()) return corrupt_record("field plan");
  return plan;
}

std::string encode_rules(const std::vector<dsl::plan::Rule>& rules, const std::vector<RuleRecord>& records) {
  Writer out;
  out.number(rules.size());
  for (std::size_t i = 0; i < rules.size(); ++i) {
    out.match_id(rules[i].fingerprint);
    out.number(records[i].since);
    out.byte(records[i].alone ? 1 : 0);
    out.number(records[i].limit_since);
    out.number(records[i].timeouts_since);
  }
  return out.take();
}

Result<boost::unordered_flat_map<MatchId, RuleRecord, MatchIdHash>> decode_rules(std::string_view record) {
  Reader in(record);
  boost::unordered_flat_map<MatchId, RuleRecord, MatchIdHash> rules;
  const std::size_t count = in.count();
  for (std::size_t i = 0; i < count && in.ok(); ++i) {
    RuleRecord& rule = rules[in.match_id()];
    rule.since = in.number();
    rule.alone = in.byte() != 0;
    rule.limit_since = in.number();
    rule.timeouts_since = in.number();
  }
  if (!in.at_end()) return corrupt_record("list of rules");
  return rules;
}

std::string encode_limits(const EngineOptions& options) {
  Writer out;
  out.number(options.max_partial_matches);
  out.signed_number(options.state_ttl ? options.state_ttl->count() : -1);
  return out.take();
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
  if (!in.at_end()) return corrupt_record("waiting event");
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
  if (!in.at_end()) return corrupt_record("watermarks");
  return {};
}

}  // namespace cepd::engine
