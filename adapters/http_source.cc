#include "adapters/http_source.h"

#include <httplib.h>
#include <spdlog/spdlog.h>

#include <atomic>
#include <mutex>
#include <stop_token>
#include <thread>
#include <utility>
#include <vector>

#include "adapters/http_workers.h"
#include "adapters/json_split.h"
#include "adapters/source_type.h"
#include "base/value.h"

namespace cepd::adapters {
namespace {

/// Connections that wait for a thread; beyond them they wait in the kernel.
constexpr std::size_t kMaxWaiting = 64;
constexpr int kTimeoutSeconds = 10;
constexpr int kKeepAliveSeconds = 2;
/// A body over the limit is read on this many times its limit, so that the client hears 413 and not a reset.
constexpr std::size_t kReadOn = 8;
/// What was taken when cepd is asked to stop has this long to become durable.
constexpr std::chrono::seconds kStopGrace{2};

class Workers final : public httplib::TaskQueue {
 public:
  explicit Workers(int threads) : workers_(static_cast<std::size_t>(threads), kMaxWaiting) {}
  void enqueue(std::function<void()> task) override { workers_.add(std::move(task)); }
  void shutdown() override { workers_.shut_down(); }

 private:
  HttpWorkers workers_;
};

void answer(httplib::Response& response, int status, const std::string& problem) {
  std::string body = R"({"error":)";
  append_json_string(body, problem);
  response.status = status;
  response.set_content(body + "}\n", "application/json");
}

std::vector<std::string> split_lines(std::string_view body) {
  std::vector<std::string> lines;
  while (!body.empty()) {
    const std::string_view line = body.substr(0, body.find('\n'));
    body.remove_prefix(std::min(line.size() + 1, body.size()));
    if (const auto text = trim_json(line); !text.empty()) lines.emplace_back(text);
  }
  return lines;
}

/// The texts of the events in a body.
Result<std::vector<std::string>> split(std::string_view body, std::string_view content_type) {
  body = trim_json(body);
  const bool lines = content_type.starts_with("application/x-ndjson") ||
                     content_type.starts_with("application/jsonl") || content_type.starts_with("application/json-seq");
  if (lines) return split_lines(body);
  if (body.starts_with('[')) return split_json_array(body);
  // One object may be spread over lines as well.
  if (body.find('\n') == std::string_view::npos || is_one_json_text(body)) {
    return std::vector<std::string>{std::string(body)};
  }
  return split_lines(body);
}

std::vector<config::OptionRow> rows() {
  using config::OptionType;
  return {{.name = "host",
           .type = OptionType::kString,
           .default_text = "127.0.0.1",
           .help = "Address to listen on. Only this machine can reach the default; put a proxy with TLS and a log-in "
                   "before any other."},
          {.name = "port",
           .type = OptionType::kInteger,
           .default_text = "8080",
           .help = "TCP port to listen on.",
           .min = 1,
           .max = 65535,
           .required = true},
          {.name = "max_body",
           .type = OptionType::kBytes,
           .default_text = "8MiB",
           .help = "Longest body of a request in bytes, after decompression; longer ones are answered with 413.",
           .min = 1024,
           .max = 256LL << 20},
          {.name = "threads",
           .type = OptionType::kInteger,
           .default_text = "8",
           .help = "Connections served at once. A client that keeps its connection open holds a thread for up to 2 s "
                   "after its last request.",
           .min = 1,
           .max = 256}};
}

std::unique_ptr<Source> make(const std::string& name, const config::Options& options) {
  return std::make_unique<HttpSource>(
      name, HttpSourceOptions{.host = options.text("host"),
                              .port = static_cast<int>(options.integer("port")),
                              .max_body = static_cast<std::size_t>(options.integer("max_body")),
                              .threads = static_cast<int>(options.integer("threads"))});
}

}  // namespace

const SourceType& http_type() {
  static constexpr SourceType kType{"http", "Events posted over HTTP to /events.", rows, nullptr, make};
  return kType;
}

struct HttpSource::Impl {
  Impl(std::string name, HttpSourceOptions o) : id(name), options(std::move(o)) {}

  void receive(const httplib::Request& request, httplib::Response& response, const httplib::ContentReader& read) {
    if (request.is_multipart_form_data()) {
      answer(response, 415, "expected JSON, got a form");
      return;
    }
    std::string body;
    std::size_t size = 0;
    const bool complete = read([&](const char* bytes, std::size_t count) {
      size += count;
      if (size <= options.max_body) body.append(bytes, count);
      return size <= options.max_body * kReadOn;
    });
    if (size > options.max_body || response.status == 413) {
      answer(response, 413, "the body is longer than " + std::to_string(options.max_body) + " bytes");
    } else if (!complete) {
      answer(response, 400, "the body did not come whole");
    } else {
      take(body, request.get_header_value("Content-Type"), response);
    }
  }

  void take(std::string_view body, const std::string& content_type, httplib::Response& response) {
    auto texts = split(body, content_type);
    if (!texts) {
      answer(response, 400, texts.error().message);
      return;
    }
    if (trim_json(body).empty()) {
      answer(response, 400, "the body is empty");
      return;
    }
    std::vector<Message> batch(texts->size());
    for (std::size_t i = 0; i < batch.size(); ++i) batch[i].bytes = std::move((*texts)[i]);
    if (!queue->could_fit(batch)) {
      answer(response, 413, std::to_string(batch.size()) + " events are more than the queue can hold at all");
      return;
    }
    const std::size_t count = batch.size();
    const auto receipt = std::make_shared<Receipt>(count);
    for (Message& message : batch) message.receipt = receipt;
    {
      // Numbers must go up in the order of the queue. try_push does not wait, so neither does this lock.
      const std::lock_guard lock(mutex);
      std::int64_t offset = next;
      for (Message& message : batch) message.position = {id, 0, offset++};
      if (!queue->try_push(batch)) {
        answer(response, 429, "the queue is full");
        response.set_header("Retry-After", "1");
        return;
      }
      next = offset;
    }
    if (!receipt->wait(options.answer_within, stopping.get_token()) &&
        !(stopping.stop_requested() &&
          receipt->wait(std::min<std::chrono::milliseconds>(kStopGrace, options.answer_within)))) {
      answer(response, 503, "not stored in time");
      response.set_header("Retry-After", "1");
      return;
    }
    response.status = 200;
    response.set_content(R"({"accepted":)" + std::to_string(count) + "}\n", "application/json");
  }

  const SourceId id;
  const HttpSourceOptions options;
  MessageQueue* queue = nullptr;
  std::mutex mutex;
  std::int64_t next = 0;  // offset of the next message; under `mutex`
  int port = 0;
  std::atomic<bool> listening = false;
  std::stop_source stopping;
  httplib::Server server;
  std::thread thread;
};

HttpSource::HttpSource(std::string name, HttpSourceOptions options)
    : impl_(std::make_unique<Impl>(std::move(name), std::move(options))) {}

HttpSource::~HttpSource() {
  if (impl_->thread.joinable()) stop();
}

Status HttpSource::start(MessageQueue& queue, const Positions& taken) {
  Impl& impl = *impl_;
  impl.queue = &queue;
  impl.next = last_taken(taken, impl.id) + 1;
  httplib::Server& server = impl.server;
  server.Post("/events", [&impl](const httplib::Request& request, httplib::Response& response,
                                 const httplib::ContentReader& read) { impl.receive(request, response, read); });
  server.Get("/events", [&impl](const httplib::Request&, httplib::Response& response) {
    const std::lock_guard lock(impl.mutex);
    response.set_content(R"({"next":)" + std::to_string(impl.next) + "}\n", "application/json");
  });
  server.Get("/healthz",
             [](const httplib::Request&, httplib::Response& response) { response.set_content("ok\n", "text/plain"); });
  server.set_payload_max_length(impl.options.max_body);
  server.set_read_timeout(kTimeoutSeconds);
  server.set_write_timeout(kTimeoutSeconds);
  // Without limit: a client that sends for ever on one connection is the good case.
  server.set_keep_alive_max_count(SIZE_MAX);
  // Short, because stop() has to wait for it on connections that are open.
  server.set_keep_alive_timeout(kKeepAliveSeconds);
  server.set_tcp_nodelay(true);
  // The library's default would let a second process listen on the same port and take half of the events.
  server.set_socket_options([](socket_t socket) {
    const int yes = 1;
    ::setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  });
  server.new_task_queue = [threads = impl.options.threads] { return new Workers(threads); };

  const std::string& host = impl.options.host;
  impl.port = impl.options.port;
  if (impl.port == 0) {
    impl.port = server.bind_to_any_port(host);
  } else if (!server.bind_to_port(host, impl.port)) {
    impl.port = -1;
  }
  if (impl.port < 0) {
    return error(Errc::kIo, "cannot listen on " + host + ":" + std::to_string(impl.options.port) +
                                ": the address is in use, or is none of this machine");
  }
  impl.listening = true;
  impl.thread = std::thread([&impl] {
    impl.server.listen_after_bind();
    impl.listening = false;
  });
  spdlog::info("source {}: listening on http://{}:{}/events", impl.id.name(), host, impl.port);
  return {};
}

void HttpSource::stop() {
  Impl& impl = *impl_;
  impl.stopping.request_stop();
  // stop() before the other thread has begun to listen would be forgotten.
  while (impl.listening && !impl.server.is_running()) std::this_thread::yield();
  impl.server.stop();
  if (impl.thread.joinable()) impl.thread.join();
}

std::string HttpSource::status() const { return impl_->listening ? "listening" : "stopped"; }
SourceId HttpSource::id() const { return impl_->id; }
int HttpSource::port() const { return impl_->port; }

}  // namespace cepd::adapters
