#pragma once
/// The configuration of Kafka sources.

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

#include "adapters/decoder.h"
#include "adapters/source.h"
#include "clients/kafka_connection.h"
#include "config/options.h"

namespace cepd::adapters {

enum class OutOfRange : unsigned char { kEarliest, kLatest, kStop };
enum class RecordFormat : unsigned char { kJson, kDebezium };

struct KafkaOptions {
  clients::KafkaConnection connection;
  std::string group;
  std::string instance;             ///< static member of the group; empty: a new member at each start
  std::vector<std::string> topics;  ///< names, or patterns that begin with ^

  /// What a record's event is made of, beside its value.
  struct Record {
    RecordFormat format = RecordFormat::kJson;
    bool topic_is_type = false;
    std::string type_header;   ///< empty: no header has it
    std::string type_name;     ///< of all events; empty: they have their own
    std::string time_header;   ///< empty: no header has it
    bool record_time = false;  ///< the broker's or producer's timestamp is the time
    std::string key_field;     ///< which the record's key stands for; empty: none
    std::size_t max_message = 1U << 20;
  } record;

  bool from_latest = false;  ///< where a topic is met for the first time
  OutOfRange out_of_range = OutOfRange::kEarliest;
  bool read_committed = true;
  std::chrono::milliseconds look_every{30'000};       ///< for topics and partitions that are new
  std::chrono::milliseconds session_timeout{10'000};  ///< after which the group takes a silent member for dead
  std::size_t prefetch = std::size_t{16} << 20;       ///< bytes, by the client library
};

std::vector<config::OptionRow> kafka_rows();
void check_kafka(const config::Node& entry, const config::Options& options, Diagnostics& diagnostics);
KafkaOptions kafka_options(const std::string& name, const config::Options& options);
/// What they say of decoding.
void adjust_kafka_decoder(const config::Options& options, DecoderOptions& decoder);

}  // namespace cepd::adapters
