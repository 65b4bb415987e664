/// `redis(key, value?, …)`: SET, PUBLISH or XADD, delivered once the server has answered.

#include <utility>

#include "actions/action_type.h"
#include "actions/json_body.h"
#include "clients/redis_options.h"

namespace cepd::actions {
namespace {

using config::OptionType;

constexpr std::size_t kShownError = 200;

/// Of an answer that will be the same whenever it is asked again: the key holds another type, or the value is over the
/// server's limit.
bool is_final(std::string_view answer) {
  return answer.starts_with("WRONGTYPE") || answer.starts_with("ERR string exceeds maximum") ||
         answer.starts_with("ERR invalid expire") || answer.starts_with("ERR Invalid stream ID");
}

enum class Command : unsigned char { kSet, kPublish, kAdd };

struct RedisSinkOptions {
  Command command = Command::kSet;
  std::string key;                      ///< empty: the call's
  std::chrono::milliseconds expiry{0};  ///< of SET; 0: none
  std::int64_t max_length = 0;          ///< of the stream; 0: any
};

class RedisSink final : public BatchSink {
 public:
  RedisSink(RedisSinkOptions options, clients::RedisOptions client)
      : options_(std::move(options)), server_(client.server.shown), client_(std::move(client)) {}

  std::vector<Outcome> deliver_all(std::span<const state::RecordPtr> records) override {
    std::vector<clients::RedisCommand> commands;
    for (const auto& record : records) commands.push_back(command_of(*record));
    const clients::RedisAnswers answers = client_.run(commands);
    std::vector<Outcome> outcomes;
    for (const clients::RedisReply& reply : answers.replies) {
      outcomes.emplace_back();
      if (!reply.is_error()) continue;
      outcomes.back() = {is_final(reply.text) ? Delivery::kRejected : Delivery::kRetry,
                         "Redis at " + server_ + ": " + one_line(reply.text, kShownError)};
    }
    if (answers.failed) outcomes.push_back({Delivery::kRetry, one_line(answers.failed->message, kShownError)});
    return outcomes;
  }

 private:
  clients::RedisCommand command_of(const state::OutboxRecord& call) const {
    const std::string key = options_.key.empty() ? std::string(argument_text(call, "key")) : options_.key;
    std::string value = find_argument(call, "value") != nullptr ? std::string(argument_text(call, "value"))
                        : options_.key.empty()                  ? match_body(call, {"key"}).finish()
                                                                : match_body(call, {}).finish();
    clients::RedisCommand command;
    switch (options_.command) {
      case Command::kSet:
        command = {"SET", key, std::move(value)};
        if (options_.expiry.count() > 0) command.insert(command.end(), {"PX", std::to_string(options_.expiry.count())});
        break;
      case Command::kPublish:
        command = {"PUBLISH", key, std::move(value)};
        break;
      case Command::kAdd:
        command = {"XADD", key};
        if (options_.max_length > 0)
          command.insert(command.end(), {"MAXLEN", "~", std::to_string(options_.max_length)});
        command.insert(command.end(),
                       {"*", "idempotency_key", call.idempotency_key, "rule", call.rule, "value", std::move(value)});
        break;
    }
    return command;
  }

  const RedisSinkOptions options_;
  const std::string server_;
  clients::RedisClient client_;
};

std::vector<config::OptionRow> rows() {
  std::vector<config::OptionRow> rows = {
      {.name = "server",
       .type = OptionType::kString,
       .default_text = "redis://localhost:6379",
       .help = "Server as redis://host:port, or rediss:// with TLS; the certificate and the name in it are checked."},
      {.name = "command",
       .type = OptionType::kChoice,
       .default_text = "set",
       .help =
           "What a call does: SET the key to the value, PUBLISH the value to the channel, or XADD an entry with the "
           "fields idempotency_key, rule and value to the stream.",
       .choices = {"set", "publish", "xadd"}},
      {.name = "key",
       .type = OptionType::kString,
       .default_text = "",
       .help = "Key, channel or stream. Without it each call gives its own `key`."},
      {.name = "expiry",
       .type = OptionType::kDuration,
       .default_text = "0s",
       .help = "After which a key that was SET is gone. 0s: never.",
       .max = 366LL * 86'400'000'000},
      {.name = "max_length",
       .type = OptionType::kInteger,
       .default_text = "0",
       .help = "About how many entries a stream keeps (XADD with MAXLEN ~). 0: all."},
  };
  for (auto& row :
       clients::redis_rows("For the connection, and for each answer; a call that takes longer is tried again."))
    rows.push_back(std::move(row));
  return rows;
}

ActionSchema schema(std::string_view action, const config::Options& options) {
  ActionSchema schema{.name = std::string(action), .parameters = {}, .open = true};
  if (options.text("key").empty())
    schema.parameters.push_back(text_parameter("key", true, "Key, channel or stream. Or configure the option `key`."));
  ActionParameter value =
      text_parameter("value", false, "What is set, published or added; default: the match and the arguments as JSON.");
  value.type = ArgumentType::kAny;
  schema.parameters.push_back(std::move(value));
  return schema;
}

void check(const config::Node& entry, const config::Options& options, Diagnostics& diagnostics) {
  clients::check_redis(entry, options, diagnostics);
  const auto only_with = [&](const char* name, std::string_view command) {
    const config::Node* given = entry.find(name);
    if (given != nullptr && options.text("command") != command)
      diagnostics.push_back(given->problem(
          Severity::kError, std::string(name) + " is used with command: " + std::string(command) + " only"));
  };
  only_with("expiry", "set");
  only_with("max_length", "xadd");
}

std::unique_ptr<Sink> open(std::string_view, const config::Options& options) {
  const std::string& command = options.text("command");
  return std::make_unique<RedisSink>(
      RedisSinkOptions{.command = command == "set"       ? Command::kSet
                                  : command == "publish" ? Command::kPublish
                                                         : Command::kAdd,
                       .key = options.text("key"),
                       .expiry = std::chrono::ceil<std::chrono::milliseconds>(options.duration("expiry")),
                       .max_length = options.integer("max_length")},
      clients::redis_options(options));
}

}  // namespace

const ActionType& redis_type() {
  static const ActionType type{
      "redis", "Sets a key, publishes to a channel or adds to a stream of a Redis server.", rows, schema, check, open};
  return type;
}

}  // namespace cepd::actions
