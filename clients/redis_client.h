#pragma once
/// Commands to a Redis server, many at a time. Hides hiredis.

#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "clients/server_address.h"
#include "clients/tls_files.h"

namespace cepd::clients {

struct RedisOptions {
  ServerAddress server;
  TlsFiles tls;
  std::string username, password;  ///< without a username the password is that of the default user
  int database = 0;
  std::chrono::milliseconds time_limit{5'000};  ///< for the connection, and for each answer
};

using RedisCommand = std::vector<std::string>;

struct RedisReply {
  enum class Kind : unsigned char { kNil, kText, kInteger, kArray, kError };
  Kind kind = Kind::kNil;
  std::string text;  ///< of kText and kError
  long long integer = 0;
  std::vector<RedisReply> items;  ///< of kArray

  bool is_error() const { return kind == Kind::kError; }
};

struct RedisAnswers {
  std::vector<RedisReply> replies;  ///< in the order of the commands
  /// Why there are fewer than commands; those without an answer may have been carried out. kUnavailable: there is no
  /// connection, or no answer in time; kRejected: the server does not let this user in.
  std::optional<Error> failed;
};

/// Connects at the first call, and again after an error of the connection. The certificate and the name in it are
/// checked. For one thread.
class RedisClient {
 public:
  explicit RedisClient(RedisOptions options);
  ~RedisClient();

  /// All in one pipeline, in order.
  RedisAnswers run(std::span<const RedisCommand> commands);

 private:
  struct Connection;
  Status connect();
  Error failure(Errc code, std::string why) const;
  const RedisOptions options_;
  std::unique_ptr<Connection> connection_;
};

}  // namespace cepd::clients
