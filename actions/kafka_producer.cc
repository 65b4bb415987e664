#include "actions/kafka_producer.h"

#include <librdkafka/rdkafka.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <cstdint>
#include <mutex>

#include "base/check.h"

namespace cepd::actions {
namespace {

using std::chrono::milliseconds;
using SteadyClock = std::chrono::steady_clock;

constexpr int kSyslogWarning = 4;
/// Between looks at whether it is to end.
constexpr milliseconds kTick{100};
/// After a stop was asked for.
constexpr milliseconds kStopGrace{1'000};
/// For the library to give up by itself what has passed the time limit.
constexpr milliseconds kLimitGrace{2'000};
/// Records handed to the library between looks at what came back.
constexpr std::size_t kPollEvery = 256;
/// What the library would refuse by itself; the broker says what is too much.
constexpr int kMaxMessage = 100 << 20;
/// So long it waits for a topic that the brokers do not know.
constexpr int kTopicWaitMs = 5'000;

bool is_final(rd_kafka_resp_err_t code) {
  switch (code) {
    case RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE:
    case RD_KAFKA_RESP_ERR_INVALID_MSG_SIZE:
    case RD_KAFKA_RESP_ERR_INVALID_RECORD:
    case RD_KAFKA_RESP_ERR_TOPIC_EXCEPTION:
    case RD_KAFKA_RESP_ERR__INVALID_ARG:
      return true;
    default:
      return false;
  }
}

}  // namespace

struct KafkaProducer::Client {
  ~Client() {
    if (handle == nullptr) return;
    rd_kafka_purge(handle, RD_KAFKA_PURGE_F_QUEUE | RD_KAFKA_PURGE_F_INFLIGHT);
    rd_kafka_destroy(handle);
  }

  static void on_delivery(rd_kafka_t*, const rd_kafka_message_t* message, void* opaque) {
    auto& client = *static_cast<Client*>(opaque);
    const std::size_t index = reinterpret_cast<std::uintptr_t>(message->_private);
    client.outcomes[index] = client.outcome_of(message->err, rd_kafka_topic_name(message->rkt));
    --client.under_way;
  }

  static void on_log(const rd_kafka_t* handle, int level, const char* /*facility*/, const char* text) {
    auto& client = *static_cast<Client*>(rd_kafka_opaque(handle));
    spdlog::debug("{}: {}", client.name, text);
    if (level > kSyslogWarning) return;
    const std::lock_guard lock(client.mutex);
    client.problem = text;
  }

  std::string last_problem() {
    const std::lock_guard lock(mutex);
    return problem.empty() ? std::string() : " (" + problem + ")";
  }

  Outcome outcome_of(rd_kafka_resp_err_t code, const std::string& topic) {
    if (code == RD_KAFKA_RESP_ERR_NO_ERROR) return {};
    const bool final = is_final(code);
    return {final ? Delivery::kRejected : Delivery::kRetry,
            "Kafka topic " + topic + ": " + rd_kafka_err2str(code) + (final ? std::string() : last_problem())};
  }

  /// Empty, or why not.
  std::string open(const KafkaProducerOptions& options) {
    name = options.connection.client_id;
    rd_kafka_conf_t* conf = rd_kafka_conf_new();
    auto settings = clients::kafka_settings(options.connection);
    const std::string limit = std::to_string(options.time_limit.count());
    settings.insert(settings.end(), {{"enable.idempotence", "true"},
                                     {"compression.type", options.compression},
                                     {"message.timeout.ms", limit},
                                     {"message.max.bytes", std::to_string(kMaxMessage)},
                                     {"topic.metadata.propagation.max.ms", std::to_string(kTopicWaitMs)},
                                     // As the Java client does, so that one key is in one partition whoever writes.
                                     {"partitioner", "murmur2_random"}});
    char why[512];
    for (const auto& [setting, value] : settings) {
      if (rd_kafka_conf_set(conf, setting.c_str(), value.c_str(), why, sizeof why) == RD_KAFKA_CONF_OK) continue;
      rd_kafka_conf_destroy(conf);
      return why;
    }
    rd_kafka_conf_set_opaque(conf, this);
    rd_kafka_conf_set_dr_msg_cb(conf, on_delivery);
    rd_kafka_conf_set_log_cb(conf, on_log);
    handle = rd_kafka_new(RD_KAFKA_PRODUCER, conf, why, sizeof why);
    if (handle != nullptr) return {};
    rd_kafka_conf_destroy(conf);
    return why;
  }

  /// False: the library has no room now.
  bool produce(std::size_t index, const KafkaRecord& record) {
    rd_kafka_headers_t* headers = rd_kafka_headers_new(record.headers.size());
    for (const auto& [header, value] : record.headers) {
      rd_kafka_header_add(headers, header.data(), static_cast<ssize_t>(header.size()), value.data(),
                          static_cast<ssize_t>(value.size()));
    }
    const auto bytes = [](const std::optional<std::string>& text) {
      return text ? std::string_view(*text) : std::string_view();
    };
    const std::string_view key = bytes(record.key), value = bytes(record.value);
    const auto code = rd_kafka_producev(
        handle, RD_KAFKA_V_TOPIC(record.topic.c_str()), RD_KAFKA_V_MSGFLAGS(RD_KAFKA_MSG_F_COPY),
        RD_KAFKA_V_KEY(key.data(), key.size()), RD_KAFKA_V_VALUE(const_cast<char*>(value.data()), value.size()),
        RD_KAFKA_V_HEADERS(headers), RD_KAFKA_V_OPAQUE(reinterpret_cast<void*>(index)), RD_KAFKA_V_END);
    if (code == RD_KAFKA_RESP_ERR_NO_ERROR) {
      ++under_way;
      return true;
    }
    rd_kafka_headers_destroy(headers);
    if (code == RD_KAFKA_RESP_ERR__QUEUE_FULL) return false;
    outcomes[index] = outcome_of(code, record.topic);
    return true;
  }

  /// Until all that is under way has its outcome.
  void wait(milliseconds limit, const std::atomic<bool>& ending) {
    auto until = SteadyClock::now() + limit + kLimitGrace;
    bool hurried = false;
    while (under_way > 0) {
      if (ending && !hurried) {
        until = std::min(until, SteadyClock::now() + kStopGrace);
        hurried = true;
      }
      if (SteadyClock::now() >= until) rd_kafka_purge(handle, RD_KAFKA_PURGE_F_QUEUE | RD_KAFKA_PURGE_F_INFLIGHT);
      // Sends at once what would wait for more.
      rd_kafka_flush(handle, static_cast<int>(kTick.count()));
    }
  }

  rd_kafka_t* handle = nullptr;
  std::string name;
  std::vector<Outcome> outcomes;
  std::size_t under_way = 0;
  std::mutex mutex;
  std::string problem;  // what the library warned of last; under `mutex`
};

KafkaProducer::KafkaProducer(KafkaProducerOptions options) : options_(std::move(options)) {}
KafkaProducer::~KafkaProducer() = default;

std::vector<Outcome> KafkaProducer::send(std::span<const KafkaRecord> records) {
  CEPD_CHECK(!records.empty());
  if (!client_) {
    auto client = std::make_unique<Client>();
    if (const std::string why = client->open(options_); !why.empty()) return {{Delivery::kRetry, "Kafka: " + why}};
    client_ = std::move(client);
  }
  Client& client = *client_;
  client.outcomes.assign(records.size(), {});
  std::size_t taken = 0;
  while (taken < records.size() && client.produce(taken, records[taken])) {
    if (++taken % kPollEvery == 0) rd_kafka_poll(client.handle, 0);
  }
  client.wait(options_.time_limit, ending_);
  std::vector<Outcome> outcomes = std::move(client.outcomes);
  outcomes.resize(taken);
  if (taken == 0) outcomes.push_back({Delivery::kRetry, "Kafka: the client library has no room"});
  char why[512];
  if (rd_kafka_fatal_error(client.handle, why, sizeof why) != RD_KAFKA_RESP_ERR_NO_ERROR) {
    spdlog::warn("{}: {}: the connection is made anew", client.name, why);
    client_.reset();
  }
  return outcomes;
}

void KafkaProducer::end_soon() { ending_ = true; }

}  // namespace cepd::actions
