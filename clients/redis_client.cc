#include "clients/redis_client.h"

#include <arpa/inet.h>
#include <hiredis/hiredis.h>
#include <hiredis/hiredis_ssl.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

namespace cepd::clients {
namespace {

struct FreeReply {
  void operator()(redisReply* reply) const { freeReplyObject(reply); }
};
using Reply = std::unique_ptr<redisReply, FreeReply>;

timeval to_timeval(std::chrono::milliseconds time) {
  return {time.count() / 1000, static_cast<suseconds_t>(time.count() % 1000 * 1000)};
}

bool is_address(const std::string& host) {
  std::array<unsigned char, sizeof(in6_addr)> parsed{};
  return ::inet_pton(AF_INET, host.c_str(), parsed.data()) == 1 ||
         ::inet_pton(AF_INET6, host.c_str(), parsed.data()) == 1;
}

std::string tls_error() {
  std::array<char, 256> text{};
  ERR_error_string_n(ERR_get_error(), text.data(), text.size());
  ERR_clear_error();
  return text.data();
}

RedisReply to_reply(const redisReply& from) {
  RedisReply reply;
  switch (from.type) {
    case REDIS_REPLY_ERROR:
      reply.kind = RedisReply::Kind::kError;
      reply.text.assign(from.str, from.len);
      break;
    case REDIS_REPLY_STRING:
    case REDIS_REPLY_STATUS:
      reply.kind = RedisReply::Kind::kText;
      reply.text.assign(from.str, from.len);
      break;
    case REDIS_REPLY_INTEGER:
      reply.kind = RedisReply::Kind::kInteger;
      reply.integer = from.integer;
      break;
    case REDIS_REPLY_ARRAY:
      reply.kind = RedisReply::Kind::kArray;
      for (std::size_t i = 0; i < from.elements; ++i) reply.items.push_back(to_reply(*from.element[i]));
      break;
    default:
      break;
  }
  return reply;
}

}  // namespace

struct RedisClient::Connection {
  ~Connection() {
    if (context != nullptr) redisFree(context);
    if (tls != nullptr) SSL_CTX_free(tls);
  }
  redisContext* context = nullptr;
  SSL_CTX* tls = nullptr;

  std::string problem() const { return context->errstr; }

  /// Empty, or why not.
  std::string start_tls(const RedisOptions& options) {
    tls = SSL_CTX_new(TLS_client_method());
    if (tls == nullptr) return tls_error();
    SSL_CTX_set_verify(tls, SSL_VERIFY_PEER, nullptr);
    const TlsFiles& files = options.tls;
    const bool trusted = files.ca_file.empty()
                             ? SSL_CTX_set_default_verify_paths(tls) == 1
                             : SSL_CTX_load_verify_locations(tls, files.ca_file.c_str(), nullptr) == 1;
    if (!trusted) return files.ca_file + ": " + tls_error();
    if (!files.cert_file.empty() && (SSL_CTX_use_certificate_chain_file(tls, files.cert_file.c_str()) != 1 ||
                                     SSL_CTX_use_PrivateKey_file(tls, files.key_file.c_str(), SSL_FILETYPE_PEM) != 1))
      return files.cert_file + ": " + tls_error();
    SSL* session = SSL_new(tls);
    if (session == nullptr) return tls_error();
    // The library checks the chain alone: whose certificate it is has to be said here.
    const std::string& host = options.server.host;
    const bool named = is_address(host) ? X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(session), host.c_str()) == 1
                                        : SSL_set1_host(session, host.c_str()) == 1 &&
                                              SSL_set_tlsext_host_name(session, host.c_str()) == 1;
    if (!named) {
      SSL_free(session);
      return tls_error();
    }
    if (redisInitiateSSL(context, session) == REDIS_OK) return {};
    SSL_free(session);  // only a connection owns it
    return problem();
  }

  Reply ask(const RedisCommand& command) {
    send(command);
    return answer();
  }

  void send(const RedisCommand& command) {
    std::vector<const char*> texts;
    std::vector<std::size_t> sizes;
    for (const std::string& part : command) {
      texts.push_back(part.data());
      sizes.push_back(part.size());
    }
    redisAppendCommandArgv(context, static_cast<int>(texts.size()), texts.data(), sizes.data());
  }

  /// Null: the connection is of no use any more.
  Reply answer() {
    void* reply = nullptr;
    if (redisGetReply(context, &reply) != REDIS_OK) return nullptr;
    return Reply(static_cast<redisReply*>(reply));
  }
};

RedisClient::RedisClient(RedisOptions options) : options_(std::move(options)) {}
RedisClient::~RedisClient() = default;

Error RedisClient::failure(Errc code, std::string why) const {
  return error(code, "Redis at " + options_.server.shown + ": " + std::move(why));
}

Status RedisClient::connect() {
  const auto away = [this](std::string why) { return failure(Errc::kUnavailable, std::move(why)); };
  auto connection = std::make_unique<Connection>();
  const timeval limit = to_timeval(options_.time_limit);
  connection->context = redisConnectWithTimeout(options_.server.host.c_str(), options_.server.port, limit);
  if (connection->context == nullptr) return away("no memory");
  if (connection->context->err != 0) return away(connection->problem());
  redisSetTimeout(connection->context, limit);
  redisEnableKeepAlive(connection->context);
  if (options_.server.tls) {
    if (std::string why = connection->start_tls(options_); !why.empty()) return away(std::move(why));
  }
  std::vector<RedisCommand> hello;
  if (!options_.password.empty()) {
    hello.push_back({"AUTH"});
    if (!options_.username.empty()) hello.back().push_back(options_.username);
    hello.back().push_back(options_.password);
  }
  if (options_.database != 0) hello.push_back({"SELECT", std::to_string(options_.database)});
  hello.push_back({"PING"});  // a server that wants a log-in says so here
  for (const RedisCommand& command : hello) {
    const Reply reply = connection->ask(command);
    if (!reply) return away(connection->problem());
    if (reply->type == REDIS_REPLY_ERROR)
      return failure(Errc::kRejected, command.front() + ": " + std::string(reply->str, reply->len));
  }
  connection_ = std::move(connection);
  return {};
}

RedisAnswers RedisClient::run(std::span<const RedisCommand> commands) {
  RedisAnswers answers;
  if (!connection_) {
    if (Status connected = connect(); !connected) {
      answers.failed = std::move(connected).error();
      return answers;
    }
  }
  for (const RedisCommand& command : commands) connection_->send(command);
  while (answers.replies.size() < commands.size()) {
    const Reply reply = connection_->answer();
    if (!reply) {
      answers.failed = failure(Errc::kUnavailable, connection_->problem());
      connection_.reset();
      break;
    }
    answers.replies.push_back(to_reply(*reply));
  }
  return answers;
}

}  // namespace cepd::clients
