#pragma once
/// Commands to a Redis server, many at a time. Hides hiredis.

#include <chrono>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "actions/sink.h"
#include "clients/server_address.h"
#include "clients/tls_files.h"

namespace cepd::actions {

struct RedisOptions {
  clients::ServerAddress server;
  clients::TlsFiles tls;
  std::string username, password;  ///< without a username the password is that of the default user
  int database = 0;
  std::chrono::milliseconds time_limit{5'000};  ///< for the connection, and for each answer
};

using RedisCommand = std::vector<std::string>;

/// Connects at the first call, and again after an error of the connection. The certificate and the name in it are
/// checked. For one thread.
class RedisClient {
 public:
  explicit RedisClient(RedisOptions options);
  ~RedisClient();

  /// All in one pipeline, in order; an outcome for each, or one where nothing could be sent. kDone: the server answered
  /// without an error. kRejected: the key holds another type, or the value is over the server's limit. kRetry:
  /// everything else; the command may have been carried out all the same.
  std::vector<Outcome> run(std::span<const RedisCommand> commands);

 private:
  struct Connection;
  std::string connect();  // empty, or why not
  const RedisOptions options_;
  std::unique_ptr<Connection> connection_;
};

}  // namespace cepd::actions
