#include "actions/http_poster.h"

#include <curl/curl.h>

#include <algorithm>
#include <array>
#include <utility>

#include "actions/json_body.h"
#include "base/check.h"

namespace cepd::actions {
namespace {

constexpr std::size_t kShownAnswer = 200;         // bytes of an answer that the log may show
constexpr std::size_t kKeptAnswer = 64 * 1024;    // bytes kept: masking needs whole secrets, not their beginnings
constexpr std::size_t kReadAnswer = 1024 * 1024;  // bytes read, so that the connection can be used again
constexpr std::size_t kShortestSecret = 3;        // bytes; masking "/" or "1" would only make the log unreadable

struct FreeUrl {
  void operator()(CURLU* url) const { curl_url_cleanup(url); }
};
using Url = std::unique_ptr<CURLU, FreeUrl>;

struct FreeList {
  void operator()(curl_slist* list) const { curl_slist_free_all(list); }
};
using HeaderList = std::unique_ptr<curl_slist, FreeList>;

std::string part(CURLU* url, CURLUPart which, unsigned flags = 0) {
  char* text = nullptr;
  if (curl_url_get(url, which, &text, flags) != CURLUE_OK) return {};
  std::string copy(text);
  curl_free(text);
  return copy;
}

/// Null when `text` is no http or https url.
Url parse_url(const std::string& text) {
  Url url(curl_url());
  CEPD_CHECK(url != nullptr);
  if (curl_url_set(url.get(), CURLUPART_URL, text.c_str(), 0) != CURLUE_OK) return nullptr;
  const std::string scheme = part(url.get(), CURLUPART_SCHEME);
  if (scheme != "http" && scheme != "https") return nullptr;
  return url;
}

/// The url without user, password, path and query.
std::string origin(CURLU* url) {
  return part(url, CURLUPART_SCHEME) + "://" + part(url, CURLUPART_HOST) + ":" +
         part(url, CURLUPART_PORT, CURLU_DEFAULT_PORT);
}

std::string masked(std::string text, CURLU* url, const std::vector<std::string>& headers) {
  std::vector<std::string> secrets = {part(url, CURLUPART_PATH), part(url, CURLUPART_QUERY),
                                      part(url, CURLUPART_PASSWORD)};
  for (const auto& header : headers) {
    const auto begin = header.find_first_not_of(" \t", std::min(header.find(':'), header.size() - 1) + 1);
    if (begin == std::string::npos) continue;
    secrets.push_back(header.substr(begin));
    // "Bearer abc": the token alone is as secret as the whole.
    if (const auto token = header.rfind(' '); token > begin) secrets.push_back(header.substr(token + 1));
  }
  for (const auto& secret : secrets) {
    if (secret.size() < kShortestSecret) continue;
    for (auto at = text.find(secret); at != std::string::npos; at = text.find(secret, at + 3)) {
      text.replace(at, secret.size(), "***");
    }
  }
  return text;
}

struct Answer {
  std::string start;
  std::size_t size = 0;
};

std::size_t keep_start(char* bytes, std::size_t size, std::size_t count, void* user) {
  auto& answer = *static_cast<Answer*>(user);
  size *= count;
  answer.size += size;
  const std::size_t room = kKeptAnswer - std::min(kKeptAnswer, answer.start.size());
  answer.start.append(bytes, std::min(size, room));
  return answer.size > kReadAnswer ? CURL_WRITEFUNC_ERROR : size;
}

bool may_work_later(long status) { return status == 408 || status == 425 || status == 429 || status >= 500; }

}  // namespace

struct HttpPoster::Connection {
  Connection() : handle(curl_easy_init()) { CEPD_CHECK(handle != nullptr); }
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;
  ~Connection() { curl_easy_cleanup(handle); }

  template <class T>
  void set(CURLoption option, T value) {
    CEPD_CHECK(curl_easy_setopt(handle, option, value) == CURLE_OK);
  }

  CURL* handle;
};

HttpPoster::HttpPoster(HttpLimits limits, std::vector<std::string> headers, std::string ca_file)
    : limits_(limits), headers_(std::move(headers)), ca_file_(std::move(ca_file)) {
  static const bool started =
      curl_global_init(CURL_GLOBAL_DEFAULT) == CURLE_OK;  // once in the process, before any handle
  CEPD_CHECK(started);
  connection_ = std::make_unique<Connection>();
}

HttpPoster::~HttpPoster() = default;

Outcome HttpPoster::post(const std::string& url_text, std::string_view body, const std::string& idempotency_key) {
  const Url url = parse_url(url_text);
  if (!url) return {Delivery::kRejected, "the url is no http:// or https:// url"};

  HeaderList headers;
  const auto add_header = [&headers](const std::string& header) {
    curl_slist* longer = curl_slist_append(headers.get(), header.c_str());
    CEPD_CHECK(longer != nullptr);
    headers.release();
    headers.reset(longer);
  };
  add_header("Content-Type: application/json");
  add_header("Idempotency-Key: " + idempotency_key);
  add_header("Expect:");  // no extra round trip before large bodies
  for (const auto& header : headers_) add_header(header);

  Connection& connection = *connection_;
  curl_easy_reset(connection.handle);  // keeps open connections
  Answer answer;
  std::array<char, CURL_ERROR_SIZE> problem{};
  connection.set(CURLOPT_ERRORBUFFER, problem.data());
  connection.set(CURLOPT_CURLU, url.get());
  connection.set(CURLOPT_PROTOCOLS_STR, "http,https");
  connection.set(CURLOPT_FOLLOWLOCATION, 0L);
  connection.set(CURLOPT_NOSIGNAL, 1L);  // time-outs without SIGALRM: workers are threads
  connection.set(CURLOPT_CONNECTTIMEOUT_MS, static_cast<long>(std::min(limits_.connect, limits_.request).count()));
  connection.set(CURLOPT_TIMEOUT_MS, static_cast<long>(limits_.request.count()));
  connection.set(CURLOPT_USERAGENT, "cepd");
  connection.set(CURLOPT_HTTPHEADER, headers.get());
  connection.set(CURLOPT_POST, 1L);
  connection.set(CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(body.size()));
  connection.set(CURLOPT_POSTFIELDS, body.data());
  connection.set(CURLOPT_WRITEFUNCTION, &keep_start);
  connection.set(CURLOPT_WRITEDATA, static_cast<void*>(&answer));
  if (!ca_file_.empty()) connection.set(CURLOPT_CAINFO, ca_file_.c_str());

  const CURLcode code = curl_easy_perform(connection.handle);
  // The handle outlives what it was given here.
  connection.set(CURLOPT_ERRORBUFFER, static_cast<char*>(nullptr));
  const bool cut = code == CURLE_WRITE_ERROR && answer.size > kReadAnswer;  // by us: the answer itself is known
  if (code != CURLE_OK && !cut) {
    const std::string why = problem[0] != '\0' ? problem.data() : curl_easy_strerror(code);
    return {Delivery::kRetry,
            "no answer from " + origin(url.get()) + ": " + one_line(masked(why, url.get(), headers_), kShownAnswer)};
  }

  long status = 0;
  curl_easy_getinfo(connection.handle, CURLINFO_RESPONSE_CODE, &status);
  if (status >= 200 && status < 300) return {};
  Outcome outcome{may_work_later(status) ? Delivery::kRetry : Delivery::kRejected,
                  origin(url.get()) + " answered " + std::to_string(status)};
  if (!answer.start.empty()) {
    outcome.detail += ": " + one_line(masked(std::move(answer.start), url.get(), headers_), kShownAnswer);
  }
  curl_off_t seconds = 0;
  if (curl_easy_getinfo(connection.handle, CURLINFO_RETRY_AFTER, &seconds) == CURLE_OK && seconds > 0) {
    constexpr curl_off_t kLongest = 365 * 24 * 3600;  // keeps the milliseconds in range; the deliverer's bound is lower
    outcome.retry_after = std::chrono::seconds(std::min(seconds, kLongest));
  }
  return outcome;
}

}  // namespace cepd::actions
