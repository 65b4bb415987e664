#include "adapters/decoder.h"

#include <simdjson.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "adapters/debezium.h"
#include "adapters/field_trie.h"
#include "adapters/json_numbers.h"
#include "adapters/json_values.h"
#include "adapters/record_text.h"

namespace cepd::adapters {
namespace {

using simdjson::dom::element;
using simdjson::dom::element_type;

/// Longer text is refused whatever the source lets through: canonical text of a part of it (at most six bytes for two)
/// must fit the 32-bit size of a Value.
constexpr std::size_t kMaxText = 512U << 20;

/// What a walk found, by slot of its trie.
using Found = std::vector<std::optional<element>>;

/// Walks objects by tries. Of repeated names the last counts: what an earlier one held is forgotten with all below it.
class Walk {
 public:
  Walk(const FieldTrie& trie, Found& found, std::vector<std::uint32_t>& visits, std::uint32_t now)
      : trie_(trie), found_(found), visits_(visits), now_(now) {}

  void object(const FieldTrie::Node& node, const simdjson::dom::object& object) {
    // Not a range-for: the pair that `*it` makes goes through memory, which costs more than the rest of the walk.
    const auto end = object.end();
    for (auto it = object.begin(); it != end; ++it) {
      const auto* edge = FieldTrie::find(node, it.key());
      if (edge == nullptr) continue;
      if (edge->only_slot != FieldTrie::kNoSlot) {
        found_[edge->only_slot] = it.value();
      } else {
        visit(edge->node, it.value());
      }
    }
  }

 private:
  void visit(std::uint32_t id, const element& value) {
    const FieldTrie::Node& node = trie_.node(id);
    if (std::exchange(visits_[id], now_) == now_) forget(node);
    for (const std::uint32_t slot : node.slots) found_[slot] = value;
    if (!node.names.empty() && value.is_object()) object(node, simdjson::dom::object(value));
    if (!node.indexes.empty() && value.is_array()) array(node, simdjson::dom::array(value));
  }

  void array(const FieldTrie::Node& node, const simdjson::dom::array& array) {
    std::int64_t index = 0;
    auto edge = std::ranges::lower_bound(node.indexes, 0, {}, &FieldTrie::IndexEdge::index);
    for (auto it = array.begin(); it != array.end() && edge != node.indexes.end(); ++it, ++index) {
      if (index == edge->index) visit((edge++)->node, *it);
    }
  }

  void forget(const FieldTrie::Node& node) {
    for (const std::uint32_t slot : node.slots) found_[slot].reset();
    for (const auto& edge : node.names) forget(trie_.node(edge.node));
    for (const auto& edge : node.indexes) forget(trie_.node(edge.node));
  }

  const FieldTrie& trie_;
  Found& found_;
  std::vector<std::uint32_t>& visits_;
  const std::uint32_t now_;
};

/// A trie and room for what its walks find, used again for each event.
class Finder {
 public:
  explicit Finder(const std::vector<FieldPath>& paths) : trie_(paths), found_(paths.size()), visits_(trie_.size()) {}

  const Found& find(const simdjson::dom::object& object) {
    std::ranges::fill(found_, std::nullopt);
    if (++now_ == 0) {  // wrapped: old marks could be taken for new ones
      std::ranges::fill(visits_, 0);
      now_ = 1;
    }
    Walk(trie_, found_, visits_, now_).object(trie_.root(), object);
    return found_;
  }

 private:
  FieldTrie trie_;
  Found found_;
  std::vector<std::uint32_t> visits_;  // by node: the walk that came there last
  std::uint32_t now_ = 0;
};

/// How events of one type name are read: made from a plan, good for all plans of that version.
struct TypeReader {
  TypeReader(const FieldPlan& plan, TypeId id)
      : named(plan.type(id).named),
        slots(paths(plan, id).size()),
        declared(plan.type(id).declared ? plan.type(id).declared->size() : 0),
        kinds(slots),
        finder(paths_and_declared(plan, id)) {
    for (std::size_t slot = 0; slot < slots; ++slot) {
      for (std::size_t i = 0; i < declared; ++i) {
        const DeclaredField& field = (*plan.type(id).declared)[i];
        if (paths(plan, id)[slot] == FieldPath::of(field.name)) kinds[slot] = field.type;
      }
    }
  }

  bool named;
  std::size_t slots, declared;                  // how many
  std::vector<std::optional<FieldType>> kinds;  // by slot
  Finder finder;                                // slots of the paths, then one for each declared field

 private:
  /// What a type that no rule names has is read as of any such type.
  static const std::vector<FieldPath>& paths(const FieldPlan& plan, TypeId id) {
    return plan.type(plan.type(id).named ? id : kOtherType).paths;
  }
  static std::vector<FieldPath> paths_and_declared(const FieldPlan& plan, TypeId id) {
    std::vector<FieldPath> all = paths(plan, id);
    if (const auto& fields = plan.type(id).declared) {
      for (const DeclaredField& field : *fields) all.push_back(FieldPath::of(field.name));
    }
    return all;
  }
};

/// By type id, made when the first event of the type comes.
class TypeReaders {
 public:
  TypeReader& of(const FieldPlan& plan, TypeId id) {
    if (version_ != plan.version()) {
      readers_.clear();
      readers_.resize(plan.types().size());
      version_ = plan.version();
    }
    auto& reader = readers_[static_cast<std::size_t>(id)];
    if (!reader) reader = std::make_unique<TypeReader>(plan, id);
    return *reader;
  }

 private:
  std::optional<std::uint64_t> version_;
  std::vector<std::unique_ptr<TypeReader>> readers_;
};

std::string_view name_of(element_type type) {
  switch (type) {
    case element_type::ARRAY:
      return "array";
    case element_type::OBJECT:
      return "object";
    case element_type::INT64:
      return "int";
    case element_type::UINT64:
    case element_type::DOUBLE:
      return "double";
    case element_type::STRING:
      return "string";
    case element_type::BOOL:
      return "bool";
    case element_type::NULL_VALUE:
      return "null";
  }
  return "?";
}

std::string_view name_of(const std::optional<element>& value) { return value ? name_of(value->type()) : "null"; }

bool is_null(const std::optional<element>& value) { return !value || value->is_null(); }

std::string_view hint(FieldType type) {
  if (type == FieldType::kTimestamp) return " (RFC 3339, or a number of the source's time unit)";
  if (type == FieldType::kDuration) return " (like 1h30m, or a number of the source's time unit)";
  return "";
}

DecodeError error_of(simdjson::error_code code) {
  switch (code) {
    case simdjson::UTF8_ERROR:
      return {DropReason::kInvalidUtf8, "the text is no valid UTF-8"};
    case simdjson::DEPTH_ERROR:
      return {DropReason::kTooDeep, "nested deeper than " + std::to_string(simdjson::DEFAULT_MAX_DEPTH) + " levels"};
    case simdjson::CAPACITY:
      return {DropReason::kTooLong, "longer than the parser can read"};
    case simdjson::EMPTY:
      return {DropReason::kNotJson, "the text is empty"};
    default:
      return {DropReason::kNotJson, simdjson::error_message(code)};
  }
}

std::string_view no_value_hint(const Message& message) {
  return message.parts && message.parts->no_value ? "a record without a value: " : "";
}

DecodeError no_record_time(const Message& message) {
  if (!message.parts || !message.parts->time) return {DropReason::kNoTime, "the record has no header with its time"};
  return {DropReason::kNoTime, "the record's header with its time is neither a number in range nor an RFC 3339 time"};
}

DecodeError overlong_number() {
  return {DropReason::kBadNumber, "a number has more than " + std::to_string(kMaxDigits) + " digits"};
}

}  // namespace

struct JsonDecoder::Impl {
  explicit Impl(DecoderOptions o) : options(std::move(o)), header(header_paths(options)) {}

  static std::vector<FieldPath> header_paths(const DecoderOptions& options) {
    std::vector<FieldPath> paths{options.type_field, options.time_field};
    if (options.id_field) paths.push_back(*options.id_field);
    return paths;
  }

  const DecoderOptions options;
  // Its kernel is chosen for the processor when the program starts. On-Demand takes as long for the same lines once it
  // has to look at each number and string, as the contract wants, and would be compiled for one processor here.
  simdjson::dom::parser parser;
  Finder header;  // slot 0 the type, 1 the time, 2 the id
  TypeReaders readers;
  EventDraft draft;
  std::string_view read_text;       // what the last decode() has read
  std::string unwrapped;            // the event of an envelope
  std::string scratch;              // where it had to be made
  std::string with_topic;           // the same with what the topic says
  TextMembers captured;             // from the topic
  std::optional<MatchId> event_id;  // of the last decode()
  std::vector<std::string> texts;   // by slot: of the draft's fields that are not text of the message

  /// The document lives in `parser` until the next call.
  std::optional<DecodeError> parse(std::string_view text, simdjson::dom::object& out) {
    if (text.size() > kMaxText) return DecodeError{DropReason::kTooLong, "longer than 512 MiB"};
    element root;
    auto code = parser.parse(text.data(), text.size()).get(root);
    if (code == simdjson::NUMBER_ERROR) {
      const NumberScan scan = scan_numbers(text);
      if (scan.changed && !scan.malformed) code = parser.parse(scan.text.data(), scan.text.size()).get(root);
      if (code == simdjson::NUMBER_ERROR) {
        if (scan.malformed) return error_of(code);
        if (scan.overlong) return overlong_number();
        return DecodeError{DropReason::kBadNumber, "a number is out of the range of doubles"};
      }
      if (code == simdjson::SUCCESS && scan.overlong) return overlong_number();
    } else if (code == simdjson::SUCCESS && has_overlong_number(text)) {
      return overlong_number();
    }
    if (code != simdjson::SUCCESS) return error_of(code);
    if (root.get(out) != simdjson::SUCCESS) {
      return DecodeError{DropReason::kNotJson, "expected an object, got " + std::string(name_of(root.type()))};
    }
    return std::nullopt;
  }

  void capture(std::string_view topic) {
    captured.clear();
    for (const TopicPattern& pattern : options.topics) {
      if (!pattern.capture(topic, captured)) continue;
      if (!captured.empty() && add_members(read_text, captured, with_topic)) read_text = with_topic;
      return;
    }
  }

  /// Puts the event's type name, type, fields and, when it has one, the schema error.
  std::optional<DecodeError> read_fields(std::string_view type_name, const simdjson::dom::object& object,
                                         const FieldPlan& plan) {
    const auto id = plan.find(type_name);
    TypeReader& reader = readers.of(plan, id.value_or(kOtherType));
    const bool named = id && reader.named;
    draft.type = named ? *id : kOtherType;
    draft.other_type = named ? std::string_view{} : type_name;
    draft.fields.assign(reader.slots, Value::null());
    if (reader.slots + reader.declared == 0) return std::nullopt;

    const Found& found = reader.finder.find(object);
    std::optional<DecodeError> error;
    for (std::size_t i = 0; i < reader.declared && !error; ++i) {
      error = schema_error((*plan.type(*id).declared)[i], found[reader.slots + i]);
    }
    if (texts.size() < reader.slots) texts.resize(reader.slots);
    for (std::size_t slot = 0; slot < reader.slots; ++slot) {
      if (!found[slot]) continue;
      const auto& kind = reader.kinds[slot];
      draft.fields[slot] =
          kind ? declared_value(*found[slot], *kind, options.time_unit) : dynamic_value(*found[slot], texts[slot]);
    }
    return error;
  }

  std::optional<DecodeError> schema_error(const DeclaredField& field, const std::optional<element>& value) const {
    if (is_null(value) ? field.nullable : !declared_value(*value, field.type, options.time_unit).is_null()) {
      return std::nullopt;
    }
    std::string detail = "field " + quoted_if_needed(field.name) + ": expected ";
    detail += field_type_name(field.type);
    detail += hint(field.type);
    detail += ", got ";
    detail += name_of(value);
    return DecodeError{DropReason::kSchema, std::move(detail)};
  }
};

JsonDecoder::JsonDecoder(DecoderOptions options) : impl_(std::make_unique<Impl>(std::move(options))) {}
JsonDecoder::~JsonDecoder() = default;

std::variant<EventPtr, DecodeError> JsonDecoder::decode(const Message& message, const FieldPlan& plan) {
  const DecoderOptions& options = impl_->options;
  if (message.too_long) return DecodeError{DropReason::kTooLong, "longer than the source's limit"};
  simdjson::dom::object object;
  std::string_view value = message.bytes;
  if (options.debezium && !(message.parts && message.parts->no_value)) {
    auto made = debezium_event(value);
    if (!made) {
      if (auto error = impl_->parse(value, object)) return *std::move(error);
      return DecodeError{DropReason::kSchema, "expected a Debezium envelope with op and, for it, before or after"};
    }
    impl_->unwrapped = *std::move(made);
    value = impl_->unwrapped;
  }
  impl_->read_text = event_text(message, value, options.key_field, impl_->scratch);
  impl_->capture(message.topic);
  if (auto error = impl_->parse(impl_->read_text, object)) return *std::move(error);
  const Found& header = impl_->header.find(object);

  std::string_view type;
  if (options.type_from_record) {
    if (!message.parts || !message.parts->type || message.parts->type->empty())
      return DecodeError{DropReason::kNoType, "the record has no header with its type"};
    type = *message.parts->type;
  } else if (options.type_from_topic) {
    type = std::string_view(message.topic).substr(message.topic.rfind('/') + 1);
    if (type.empty()) return DecodeError{DropReason::kNoType, "the topic's last level is empty"};
  } else {
    if (is_null(header[0]) || header[0]->get(type) != simdjson::SUCCESS || type.empty()) {
      return DecodeError{
          DropReason::kNoType,
          "field " + to_string(options.type_field) + ": expected the type, got " + std::string(no_value_hint(message)) +
              (header[0] && header[0]->is_string() ? "an empty string" : std::string(name_of(header[0])))};
    }
  }
  const auto time = options.time_from_record ? record_time(message, options.time_unit)
                    : is_null(header[1])     ? std::nullopt
                                             : time_of(*header[1], options.time_unit);
  if (!time && options.time_from_record) return no_record_time(message);
  if (!time) {
    std::string detail = "field " + to_string(options.time_field) + ": expected the time, got ";
    detail += no_value_hint(message);
    detail += name_of(header[1]);
    if (header[1] && header[1]->is_number()) detail += " out of range";
    if (header[1] && header[1]->is_string()) detail += " that is no RFC 3339 time";
    return DecodeError{DropReason::kNoTime, std::move(detail)};
  }

  impl_->event_id.reset();
  if (options.id_field && !is_null(header[2])) {
    std::string text;
    std::string id;
    append_json(id, dynamic_value(*header[2], text));
    impl_->event_id = hash_match_id(id);
  }
  EventDraft& draft = impl_->draft;
  draft.time = *time;
  draft.position = message.position;
  if (auto error = impl_->read_fields(type, object, plan)) return *std::move(error);
  draft.raw = options.keep_raw ? impl_->read_text : std::string_view{};
  return draft.build();
}

std::string_view JsonDecoder::text() const { return impl_->read_text; }
const std::optional<MatchId>& JsonDecoder::id() const { return impl_->event_id; }

EventPtr JsonDecoder::decode_again(const Event& event, std::string_view type, const FieldPlan& plan) {
  simdjson::dom::object object;
  // Derived events and restored ones keep what they have: a newer plan keeps their slots.
  if (event.raw().empty() || impl_->parse(event.raw(), object)) {
    EventDraft draft(event);
    draft.type = plan.find(type).value_or(kOtherType);
    draft.other_type = draft.type == kOtherType ? type : std::string_view{};
    return draft.build();
  }
  EventDraft& draft = impl_->draft;
  draft.time = event.time;
  draft.position = event.position;
  draft.raw = event.raw();
  // A field that does not fit a newer declaration is null then: the event was accepted before there was that one.
  static_cast<void>(impl_->read_fields(type, object, plan));
  return draft.build();
}

}  // namespace cepd::adapters
