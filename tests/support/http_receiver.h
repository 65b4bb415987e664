#pragma once
/// A real HTTP server on 127.0.0.1 that keeps what it is sent: the other end of actions in tests.

#include <chrono>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace cepd::test {

struct ReceivedRequest {
  std::string method;
  std::string path;  ///< with its query
  std::vector<std::pair<std::string, std::string>> headers;
  std::string body;
  int remote_port = 0;

  /// The first header of that name (in any case), or empty.
  std::string header(std::string_view name) const;
};

struct HttpAnswer {
  int status = 200;
  std::string body = {};
  std::vector<std::pair<std::string, std::string>> headers = {};
};

/// Listens on a free port from construction on. Any thread.
class HttpReceiver {
 public:
  HttpReceiver();
  /// Speaks TLS with this certificate and key (PEM files).
  HttpReceiver(std::string certificate_file, std::string key_file);
  ~HttpReceiver();

  int port() const;
  std::string url(std::string_view path = "/") const;

  /// Requests get these answers in turn, later ones 200 with an empty body.
  void answer(std::vector<HttpAnswer> answers);
  /// From now on requests are kept at once but answered only after release().
  void hold();
  void release();
  /// Ends the server: connections are refused until listen(), which takes the same port again.
  void refuse();
  void listen();

  /// Waits until `count` requests have come since construction; false when the time is over first.
  bool wait_for(std::size_t count, std::chrono::milliseconds limit = std::chrono::seconds(20)) const;
  std::vector<ReceivedRequest> requests() const;

 private:
  struct Server;
  std::unique_ptr<Server> server_;
};

}  // namespace cepd::test
