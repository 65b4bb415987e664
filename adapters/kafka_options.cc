#include "adapters/kafka_options.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

namespace cepd::adapters {
namespace {

using config::OptionType;

/// The node of the list's item, or of the scalar that stands for a list of one.
const config::Node& item(const config::Node& list, std::size_t index) {
  return list.kind == config::Node::Kind::kSequence ? list.items.at(index) : list;
}

std::chrono::milliseconds in_ms(Micros duration) { return std::chrono::ceil<std::chrono::milliseconds>(duration); }

std::vector<config::OptionRow> event_rows() {
  return {
      {.name = "format",
       .type = OptionType::kChoice,
       .default_text = "json",
       .help =
           "What a record's value is: a JSON object, or the JSON envelope of Debezium, of which the event is the row "
           "after the change (before it, for a deletion) with the fields __op, __before and __ts_ms.",
       .choices = {"json", "debezium"}},
      {.name = "type_from",
       .type = OptionType::kChoice,
       .default_text = "field",
       .help = "Where an event's type stands: in the field type_field, in the header type_header, it is the topic's "
               "name, or all events are of the type type_name.",
       .choices = {"field", "header", "topic", "fixed"}},
      {.name = "type_header", .type = OptionType::kString, .default_text = "", .help = "With type_from: header."},
      {.name = "type_name", .type = OptionType::kString, .default_text = "", .help = "With type_from: fixed."},
      {.name = "time_from",
       .type = OptionType::kChoice,
       .default_text = "field",
       .help = "Where an event's time stands: in the field time_field (with format: debezium it is __ts_ms where no "
               "other is given), in the header time_header in the same forms, or it is the record's timestamp.",
       .choices = {"field", "header", "record"}},
      {.name = "time_header", .type = OptionType::kString, .default_text = "", .help = "With time_from: header."},
      {.name = "key_field",
       .type = OptionType::kString,
       .default_text = "",
       .help = "Field that has the record's key, as text, in events whose value does not name it. Empty: the key is "
               "not read."},
      {.name = "max_message",
       .type = OptionType::kBytes,
       .default_text = "1MiB",
       .help = "Longest value in bytes; longer ones go to the dead-letter file.",
       .min = 1024,
       .max = 256LL << 20},
  };
}

std::vector<config::OptionRow> reading_rows() {
  return {
      {.name = "start",
       .type = OptionType::kChoice,
       .default_text = "earliest",
       .help = "Where a topic begins of which neither cepd's state nor the group has a position. Partitions that are "
               "added to a known topic always begin at their first record.",
       .choices = {"earliest", "latest"}},
      {.name = "out_of_range",
       .type = OptionType::kChoice,
       .default_text = "earliest",
       .help = "What happens where the next record is no longer there: go on at the first or behind the last one that "
               "is, or stop reading the partition until cepd is started again. Each is logged.",
       .choices = {"earliest", "latest", "stop"}},
      {.name = "read_committed",
       .type = OptionType::kBool,
       .default_text = "true",
       .help = "Whether records of transactions count only once these are committed."},
      {.name = "look_every",
       .type = OptionType::kDuration,
       .default_text = "30s",
       .help = "How often to look for new topics and partitions.",
       .min = 100'000,
       .max = 3'600'000'000},
      {.name = "session_timeout",
       .type = OptionType::kDuration,
       .default_text = "10s",
       .help =
           "After this long without a sign of life the group gives a member's partitions to others. So long a start "
           "after a crash waits, where no instance is given. Brokers allow 6s to 30m unless they are told otherwise.",
       .min = 1'000'000,
       .max = 1'800'000'000},
      {.name = "prefetch",
       .type = OptionType::kBytes,
       .default_text = "16MiB",
       .help = "Most bytes fetched ahead of what is taken.",
       .min = 65'536,
       .max = 1LL << 30},
  };
}

/// An option that `choice` asks for, and that has no use otherwise.
void needs(const config::Node& entry, const config::Options& options, std::string_view choice, std::string_view value,
           std::string_view name, Diagnostics& diagnostics) {
  const bool asked = options.text(choice) == value;
  const std::string with = std::string(choice) + ": " + std::string(value);
  if (asked && options.text(name).empty()) {
    const config::Node* node = entry.find(choice);
    diagnostics.push_back(
        (node ? *node : entry)
            .problem(Severity::kError, with + " needs " + std::string(name), "add `" + std::string(name) + ":`"));
  }
  if (!asked && !options.text(name).empty()) {
    diagnostics.push_back(
        entry.find(name)->problem(Severity::kError, std::string(name) + " is read with " + with + " only"));
  }
}

/// What is wrong with a topic's name or pattern, or empty.
std::string topic_mistake(std::string_view topic) {
  if (!topic.starts_with('^')) {
    std::string mistake = clients::kafka_topic_mistake(topic);
    return mistake.empty() ? mistake : mistake + "; a pattern begins with ^";
  }
  return topic.size() > 1 ? "" : "a topic pattern must not be empty";
}

}  // namespace

void adjust_kafka_decoder(const config::Options& options, DecoderOptions& decoder) {
  decoder.type_from_record = options.text("type_from") != "field";
  decoder.time_from_record = options.text("time_from") != "field";
  decoder.key_field = options.text("key_field");
  decoder.debezium = options.text("format") == "debezium";
  if (decoder.debezium && !options.given("time_field")) decoder.time_field = FieldPath::of("__ts_ms");
}

std::vector<config::OptionRow> kafka_rows() {
  std::vector<config::OptionRow> rows = {
      {.name = "brokers",
       .type = OptionType::kStringList,
       .default_text = "localhost:9092",
       .help = "Brokers to begin with as host:port; they name the others.",
       .required = true},
      {.name = "topics",
       .type = OptionType::kStringList,
       .default_text = "orders",
       .help = "Topics to read: names, or regular expressions that begin with ^.",
       .required = true},
      {.name = "group",
       .type = OptionType::kString,
       .default_text = "",
       .help = "Consumer group, whose members share the partitions. Empty: cepd- and the source's name."},
      {.name = "instance",
       .type = OptionType::kString,
       .default_text = "",
       .help = "Name of this cepd in the group, which no other member may have: then a new start takes its partitions "
               "back at once, also after a crash. Empty: it is a new member at each start."},
  };
  for (const auto& more : {event_rows(), reading_rows(), clients::kafka_security_rows()}) {
    rows.insert(rows.end(), more.begin(), more.end());
  }
  return rows;
}

void check_kafka(const config::Node& entry, const config::Options& options, Diagnostics& diagnostics) {
  const auto& topics = options.list("topics");
  if (topics.empty()) diagnostics.push_back(entry.problem(Severity::kError, "expected at least one topic"));
  for (std::size_t i = 0; i < topics.size(); ++i) {
    if (const std::string mistake = topic_mistake(topics[i]); !mistake.empty())
      diagnostics.push_back(item(*entry.find("topics"), i).problem(Severity::kError, mistake));
  }
  clients::check_kafka_connection(entry, options, diagnostics);
  needs(entry, options, "type_from", "header", "type_header", diagnostics);
  needs(entry, options, "type_from", "fixed", "type_name", diagnostics);
  needs(entry, options, "time_from", "header", "time_header", diagnostics);
}

KafkaOptions kafka_options(const std::string& name, const config::Options& options) {
  KafkaOptions out;
  out.connection = clients::kafka_connection("cepd-" + name, options);
  out.group = options.text("group").empty() ? "cepd-" + name : options.text("group");
  out.instance = options.text("instance");
  out.topics = options.list("topics");
  out.record = {.format = options.text("format") == "debezium" ? RecordFormat::kDebezium : RecordFormat::kJson,
                .topic_is_type = options.text("type_from") == "topic",
                .type_header = options.text("type_header"),
                .type_name = options.text("type_name"),
                .time_header = options.text("time_header"),
                .record_time = options.text("time_from") == "record",
                .key_field = options.text("key_field"),
                .max_message = static_cast<std::size_t>(options.integer("max_message"))};
  out.from_latest = options.text("start") == "latest";
  const std::string& lost = options.text("out_of_range");
  out.out_of_range = lost == "earliest" ? OutOfRange::kEarliest
                     : lost == "latest" ? OutOfRange::kLatest
                                        : OutOfRange::kStop;
  out.read_committed = options.flag("read_committed");
  out.look_every = in_ms(options.duration("look_every"));
  out.session_timeout = in_ms(options.duration("session_timeout"));
  out.prefetch = static_cast<std::size_t>(options.integer("prefetch"));
  return out;
}

}  // namespace cepd::adapters
