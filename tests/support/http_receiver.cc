#include "tests/support/http_receiver.h"

#include <httplib.h>

#include <condition_variable>
#include <cstring>
#include <deque>
#include <mutex>
#include <thread>

#include "base/check.h"

namespace cepd::test {

std::string ReceivedRequest::header(std::string_view name) const {
  for (const auto& [key, value] : headers) {
    if (key.size() == name.size() && ::strncasecmp(key.data(), name.data(), name.size()) == 0) return value;
  }
  return {};
}

struct HttpReceiver::Server {
  std::string certificate_file, key_file;  // empty: plain HTTP
  int port = 0;
  std::unique_ptr<httplib::Server> http;
  std::thread thread;

  mutable std::mutex mutex;
  mutable std::condition_variable changed;
  std::vector<ReceivedRequest> requests;
  std::deque<HttpAnswer> answers;
  bool held = false;

  void handle(const httplib::Request& from, httplib::Response& to) {
    ReceivedRequest request{from.method, from.target, {}, from.body, from.remote_port};
    for (const auto& [name, value] : from.headers) request.headers.emplace_back(name, value);
    std::unique_lock lock(mutex);
    requests.push_back(std::move(request));
    HttpAnswer answer;
    if (!answers.empty()) {
      answer = std::move(answers.front());
      answers.pop_front();
    }
    changed.notify_all();
    changed.wait(lock, [this] { return !held; });
    to.status = answer.status;
    for (const auto& [name, value] : answer.headers) to.set_header(name, value);
    if (!answer.body.empty()) to.set_content(answer.body, "text/plain");  // a 204 must not have one
  }

  void listen() {
    CEPD_CHECK(!thread.joinable());
    if (certificate_file.empty()) {
      http = std::make_unique<httplib::Server>();
    } else {
      http = std::make_unique<httplib::SSLServer>(certificate_file.c_str(), key_file.c_str());
    }
    CEPD_CHECK(http->is_valid());
    const auto handler = [this](const httplib::Request& from, httplib::Response& to) { handle(from, to); };
    http->Post(".*", handler);
    http->Get(".*", handler);
    // httplib's own choice, SO_REUSEPORT, would let two receivers share a port.
    http->set_socket_options([](socket_t socket) {
      const int yes = 1;
      ::setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    });
    http->set_keep_alive_timeout(1);  // seconds; an idle connection holds refuse() up for so long
    if (port == 0) {
      port = http->bind_to_any_port("127.0.0.1");
      CEPD_CHECK(port > 0);
    } else {
      CEPD_CHECK(http->bind_to_port("127.0.0.1", port));
    }
    thread = std::thread([this] { http->listen_after_bind(); });
    while (!http->is_running()) std::this_thread::yield();  // before that stop() does nothing
  }

  void refuse() {
    release();
    if (!thread.joinable()) return;
    http->stop();
    thread.join();
    http.reset();
  }

  void release() {
    const std::lock_guard lock(mutex);
    held = false;
    changed.notify_all();
  }
};

HttpReceiver::HttpReceiver() : HttpReceiver({}, {}) {}

HttpReceiver::HttpReceiver(std::string certificate_file, std::string key_file) : server_(std::make_unique<Server>()) {
  server_->certificate_file = std::move(certificate_file);
  server_->key_file = std::move(key_file);
  server_->listen();
}

HttpReceiver::~HttpReceiver() { refuse(); }

int HttpReceiver::port() const { return server_->port; }

std::string HttpReceiver::url(std::string_view path) const {
  return (server_->certificate_file.empty() ? "http" : "https") + std::string("://127.0.0.1:") +
         std::to_string(server_->port) + std::string(path);
}

void HttpReceiver::answer(std::vector<HttpAnswer> answers) {
  const std::lock_guard lock(server_->mutex);
  server_->answers.assign(answers.begin(), answers.end());
}

void HttpReceiver::hold() {
  const std::lock_guard lock(server_->mutex);
  server_->held = true;
}

void HttpReceiver::release() { server_->release(); }
void HttpReceiver::refuse() { server_->refuse(); }
void HttpReceiver::listen() { server_->listen(); }

bool HttpReceiver::wait_for(std::size_t count, std::chrono::milliseconds limit) const {
  std::unique_lock lock(server_->mutex);
  return server_->changed.wait_for(lock, limit, [&] { return server_->requests.size() >= count; });
}

std::vector<ReceivedRequest> HttpReceiver::requests() const {
  const std::lock_guard lock(server_->mutex);
  return server_->requests;
}

}  // namespace cepd::test
