#include "state/redis_store.h"

#include <algorithm>
#include <charconv>
#include <utility>

namespace cepd::state {
namespace {

using clients::RedisAnswers;
using clients::RedisCommand;
using clients::RedisReply;

/// What was written and is not published within this time goes by itself: the copy was given up.
constexpr const char* kUnpublishedMs = "21600000";  // 6 h

class RedisStore final : public MirrorStore {
 public:
  RedisStore(clients::RedisOptions options, const std::string& instance)
      : shown_("Redis at " + options.server.shown + ": "),
        prefix_("{cepd:" + instance + "}:"),
        list_(prefix_ + "copies"),
        client_(std::move(options)) {}

  Status write(std::span<const Blob> blobs) override {
    std::vector<RedisCommand> commands;
    for (const Blob& blob : blobs) commands.push_back({"SET", prefix_ + blob.name, blob.bytes, "PX", kUnpublishedMs});
    return ask(commands).error_or_ok();
  }

  Status publish(std::uint64_t number, const Blob& manifest, std::span<const std::string> names) override {
    std::vector<RedisCommand> commands = {{"MULTI"}};
    for (const std::string& name : names) commands.push_back({"PERSIST", prefix_ + name});
    commands.push_back({"SET", prefix_ + manifest.name, manifest.bytes});
    commands.push_back({"ZADD", list_, std::to_string(number), std::to_string(number)});
    commands.push_back({"EXEC"});
    Asked asked = ask(commands);
    if (asked.failed) return std::move(*asked.failed);
    const std::vector<RedisReply>& done = asked.replies.back().items;
    const bool all_there = done.size() == names.size() + 2 &&
                           std::all_of(done.begin(), done.begin() + static_cast<std::ptrdiff_t>(names.size()),
                                       [](const RedisReply& kept) { return kept.integer == 1; });
    if (all_there) return {};
    CEPD_TRY(remove(number, {&manifest.name, 1}));
    return error(Errc::kUnavailable, shown_ + "what was just written is gone again: was it emptied?");
  }

  Result<std::vector<std::uint64_t>> numbers() override {
    Asked asked = ask(std::vector<RedisCommand>{{"ZRANGE", list_, "0", "-1"}});
    if (asked.failed) return std::move(*asked.failed);
    std::vector<std::uint64_t> numbers;
    for (const RedisReply& item : asked.replies.front().items) {
      std::uint64_t number = 0;
      const char* end = item.text.data() + item.text.size();
      if (const auto [at, failed] = std::from_chars(item.text.data(), end, number); failed != std::errc() || at != end)
        return error(Errc::kCorrupt, shown_ + list_ + " holds " + item.text + ", which is no copy of cepd's");
      numbers.push_back(number);
    }
    return numbers;
  }

  Result<std::vector<std::optional<std::string>>> read(std::span<const std::string> names) override {
    std::vector<RedisCommand> commands;
    for (const std::string& name : names) commands.push_back({"GET", prefix_ + name});
    Asked asked = ask(commands);
    if (asked.failed) return std::move(*asked.failed);
    std::vector<std::optional<std::string>> blobs;
    for (RedisReply& reply : asked.replies) {
      blobs.push_back(reply.kind == RedisReply::Kind::kText ? std::optional(std::move(reply.text)) : std::nullopt);
    }
    return blobs;
  }

  Status remove(std::uint64_t number, std::span<const std::string> names) override {
    std::vector<RedisCommand> commands = {{"ZREM", list_, std::to_string(number)}};
    for (const std::string& name : names) commands.push_back({"UNLINK", prefix_ + name});
    return ask(commands).error_or_ok();
  }

 private:
  struct Asked {
    std::vector<RedisReply> replies;
    std::optional<Error> failed;  ///< also where the server refuses one of them

    Status error_or_ok() && { return failed ? Status(std::move(*failed)) : Status(); }
  };

  Asked ask(std::span<const RedisCommand> commands) {
    RedisAnswers answers = client_.run(commands);
    Asked asked{std::move(answers.replies), std::move(answers.failed)};
    for (const RedisReply& reply : asked.replies) {
      if (asked.failed || !reply.is_error()) continue;
      // Beside what it will not do it may be loading its data, or have been made a replica: that passes.
      const bool passes = reply.text.starts_with("LOADING") || reply.text.starts_with("READONLY") ||
                          reply.text.starts_with("CLUSTERDOWN") || reply.text.starts_with("MASTERDOWN");
      asked.failed = error(passes ? Errc::kUnavailable : Errc::kRejected, shown_ + reply.text);
    }
    return asked;
  }

  const std::string shown_, prefix_, list_;
  clients::RedisClient client_;
};

}  // namespace

std::unique_ptr<MirrorStore> open_redis_store(clients::RedisOptions options, const std::string& instance) {
  return std::make_unique<RedisStore>(std::move(options), instance);
}

}  // namespace cepd::state
