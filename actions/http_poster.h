#pragma once
/// POSTs JSON over HTTP or HTTPS and says what the answer means for the delivery. Hides libcurl.

#include <chrono>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "actions/sink.h"

namespace cepd::actions {

struct HttpLimits {
  std::chrono::milliseconds connect{5'000};   ///< from the first address asked for to the end of the TLS handshake
  std::chrono::milliseconds request{10'000};  ///< for everything
};

/// Keeps its connection open between requests. For one thread at a time.
///
/// Redirects are not followed, only http and https are spoken, certificates are checked, and no more than the start of
/// an answer is kept. Proxies come from the environment (http_proxy, https_proxy, no_proxy). What it reports names a
/// service by scheme, host and port only, and an answer that repeats the url's path or a header's value is masked: both
/// may hold secrets.
class HttpPoster {
 public:
  /// `headers`: "Name: value", sent with every request. `ca_file`: certificates to trust instead of the system's, PEM;
  /// empty: the system's.
  HttpPoster(HttpLimits limits, std::vector<std::string> headers, std::string ca_file);
  ~HttpPoster();

  /// 2xx: done. 408, 425, 429, 5xx and whatever keeps an answer from coming: retry. Any other answer and a url that is
  /// none: rejected.
  Outcome post(const std::string& url, std::string_view body, const std::string& idempotency_key);

 private:
  struct Connection;
  const HttpLimits limits_;
  const std::vector<std::string> headers_;
  const std::string ca_file_;
  std::unique_ptr<Connection> connection_;
};

}  // namespace cepd::actions
