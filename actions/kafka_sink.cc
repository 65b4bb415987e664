/// `kafka(topic, key?, value?, …)`: a record in a Kafka topic, delivered once the brokers have acknowledged it.

#include <utility>

#include "actions/action_type.h"
#include "actions/json_body.h"
#include "actions/kafka_producer.h"

namespace cepd::actions {
namespace {

using config::OptionType;

/// So many records are on the way at a time: enough that waiting for the last one costs little.
constexpr std::size_t kBatch = 2'048;

std::optional<std::string> text_or_none(const state::OutboxRecord& record, std::string_view name) {
  const auto* argument = find_argument(record, name);
  if (argument == nullptr || argument->json == "null") return std::nullopt;
  return argument->text;
}

class KafkaSink final : public BatchSink {
 public:
  KafkaSink(std::string topic, KafkaProducerOptions options)
      : topic_(std::move(topic)), producer_(std::move(options)) {}

  std::size_t most_at_once() const override { return kBatch; }

  std::vector<Outcome> deliver_all(std::span<const state::RecordPtr> records) override {
    std::vector<KafkaRecord> made;
    for (const auto& record : records) {
      KafkaRecord next = record_of(*record);
      if (const std::string mistake = clients::kafka_topic_mistake(next.topic); !mistake.empty()) {
        if (!made.empty()) break;
        return {{Delivery::kRejected, "\"" + one_line(next.topic, 64) + "\": " + mistake}};
      }
      made.push_back(std::move(next));
    }
    return producer_.send(made);
  }

  void end_soon() override { producer_.end_soon(); }

 private:
  KafkaRecord record_of(const state::OutboxRecord& call) const {
    KafkaRecord record;
    record.topic = topic_.empty() ? std::string(argument_text(call, "topic")) : topic_;
    record.key = text_or_none(call, "key");
    if (find_argument(call, "value") != nullptr) {
      record.value = text_or_none(call, "value");
    } else if (topic_.empty()) {
      record.value = match_body(call, {"key", "topic"}).finish();
    } else {
      record.value = match_body(call, {"key"}).finish();
    }
    record.headers = {{"idempotency-key", call.idempotency_key}, {"rule", call.rule}};
    return record;
  }

  const std::string topic_;  // empty: the call's
  KafkaProducer producer_;
};

std::vector<config::OptionRow> rows() {
  std::vector<config::OptionRow> rows = {
      {.name = "brokers",
       .type = OptionType::kStringList,
       .default_text = "localhost:9092",
       .help = "Brokers to begin with as host:port; they name the others."},
      {.name = "topic",
       .type = OptionType::kString,
       .default_text = "",
       .help = "Topic of all records, which must exist. Without it each call gives its own `topic`."},
      {.name = "compression",
       .type = OptionType::kChoice,
       .default_text = "none",
       .help = "How batches of records are compressed.",
       .choices = {"none", "gzip", "snappy", "lz4", "zstd"}},
      {.name = "request_time_limit",
       .type = OptionType::kDuration,
       .default_text = "30s",
       .help = "For a record to be acknowledged by all in-sync replicas. Within it the client library repeats it by "
               "itself, and it stands there once; one that takes longer is tried again and may stand there twice.",
       .min = 10'000,
       .max = 600'000'000}};
  for (auto& row : clients::kafka_security_rows()) rows.push_back(std::move(row));
  return rows;
}

ActionSchema schema(std::string_view action, const config::Options& options) {
  ActionSchema schema{.name = std::string(action), .parameters = {}, .open = true};
  if (options.text("topic").empty())
    schema.parameters.push_back(text_parameter("topic", true, "Topic, which must exist. Or configure `topic`."));
  schema.parameters.push_back(text_parameter("key", false, "Key of the record; without it any partition has it."));
  ActionParameter value = text_parameter(
      "value", false, "Value of the record, null for a tombstone; default: the match and the arguments as JSON.");
  value.type = ArgumentType::kAny;
  schema.parameters.push_back(std::move(value));
  return schema;
}

void check(const config::Node& entry, const config::Options& options, Diagnostics& diagnostics) {
  clients::check_kafka_connection(entry, options, diagnostics);
  if (const config::Node* topic = entry.find("topic")) {
    if (const std::string mistake = clients::kafka_topic_mistake(options.text("topic")); !mistake.empty())
      diagnostics.push_back(topic->value_problem(Severity::kError, mistake));
  }
}

std::unique_ptr<Sink> open(std::string_view action, const config::Options& options) {
  return std::make_unique<KafkaSink>(
      options.text("topic"),
      KafkaProducerOptions{
          .connection = clients::kafka_connection("cepd-" + std::string(action), options),
          .compression = options.text("compression"),
          .time_limit = std::chrono::ceil<std::chrono::milliseconds>(options.duration("request_time_limit"))});
}

}  // namespace

const ActionType& kafka_type() {
  static const ActionType type{
      "kafka", "Puts a record with the match and the call's arguments into a Kafka topic.", rows, schema, check, open};
  return type;
}

}  // namespace cepd::actions
