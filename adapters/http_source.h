#pragma once
/// Events over HTTP: POST /events with one JSON object, a JSON array of objects, or one object a line.
///
/// 200 {"accepted":n} once all of them are durable (their receipt was released); 503 with Retry-After when that takes
/// longer than `answer_within` or cepd stops before it: whether they were taken is then not known to the client. 429
/// with Retry-After when the queue has no room for all (then none is taken), 413 when they are more than max_body or
/// than the queue could ever hold, 400 when an array is no JSON or there is nothing. Whether an event is good is found
/// behind the queue: a bad one goes to the dead-letter file and does not hold up the others. GET /healthz answers 200.
/// GET /events answers {"next":n}, the number of the next event: a client that is the only one and has lost an answer
/// to a crash learns there what was taken.
///
/// One thread accepts, `threads` others serve connections; none of them waits for the queue, all for what they put into
/// it: as many requests as there are threads share a commit. Cannot be replayed: the offset is a running count.

#include <chrono>
#include <memory>
#include <string>

#include "adapters/source.h"

namespace cepd::adapters {

struct HttpSourceOptions {
  std::string host = "127.0.0.1";
  int port = 0;  ///< 0 takes a free one, see HttpSource::port()
  std::size_t max_body = 8U << 20;
  int threads = 8;
  std::chrono::milliseconds answer_within{10'000};
};

class HttpSource final : public Source {
 public:
  HttpSource(std::string name, HttpSourceOptions options);
  ~HttpSource() override;

  Status start(MessageQueue& queue, const Positions& taken) override;
  void stop() override;
  std::string status() const override;
  SourceId id() const override;

  /// The port it listens on, once started.
  int port() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace cepd::adapters
