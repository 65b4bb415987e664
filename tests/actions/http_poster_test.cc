#include "actions/http_poster.h"

#include <doctest/doctest.h>

#include <cstdlib>

#include "tests/actions/helpers.h"
#include "tests/support/http_receiver.h"

using namespace cepd;
using namespace cepd::actions;
using namespace cepd::test;
using std::chrono::milliseconds;

namespace {
std::string origin(const HttpReceiver& receiver) { return "http://127.0.0.1:" + std::to_string(receiver.port()); }
}  // namespace

TEST_CASE("http: posts the body with its headers and uses the connection again") {
  const HttpReceiver receiver;
  HttpPoster poster({}, {"X-Env: test", "Authorization: Bearer abc"}, "");
  CHECK(poster.post(receiver.url("/hook?a=1"), R"({"a":1})", "key-1").delivery == Delivery::kDone);
  CHECK(poster.post(receiver.url("/hook"), std::string(2'000'000, 'x'), "key-2").delivery == Delivery::kDone);
  REQUIRE(receiver.wait_for(2));
  const auto requests = receiver.requests();
  CHECK(requests[0].method == "POST");
  CHECK(requests[0].path == "/hook?a=1");
  CHECK(requests[0].body == R"({"a":1})");
  CHECK(requests[0].header("content-type") == "application/json");
  CHECK(requests[0].header("idempotency-key") == "key-1");
  CHECK(requests[0].header("x-env") == "test");
  CHECK(requests[0].header("authorization") == "Bearer abc");
  CHECK(requests[1].body.size() == 2'000'000);
  CHECK(requests[1].header("expect") == "");
  CHECK(requests[0].remote_port == requests[1].remote_port);
}

TEST_CASE("http: each status says whether to try again") {
  HttpReceiver receiver;
  HttpPoster poster({}, {}, "");
  const auto answers = [&](int status, Delivery expected) {
    receiver.answer({{status, "", {}}});
    const Outcome outcome = poster.post(receiver.url(), "{}", "key");
    CAPTURE(status);
    CHECK(outcome.delivery == expected);
    CHECK(outcome.detail ==
          (expected == Delivery::kDone ? "" : origin(receiver) + " answered " + std::to_string(status)));
  };
  for (const int status : {200, 201, 202, 204}) answers(status, Delivery::kDone);
  for (const int status : {408, 425, 429, 500, 502, 503, 504}) answers(status, Delivery::kRetry);
  for (const int status : {301, 302, 307, 400, 401, 404, 409, 410, 422}) answers(status, Delivery::kRejected);
}

TEST_CASE("http: a redirect is not followed") {
  HttpReceiver receiver;
  const HttpReceiver elsewhere;
  receiver.answer({{307, "", {{"Location", elsewhere.url("/other")}}}});
  HttpPoster poster({}, {}, "");
  CHECK(poster.post(receiver.url(), "{}", "key").delivery == Delivery::kRejected);
  CHECK(elsewhere.requests().empty());
}

TEST_CASE("http: the start of an answer is reported on one line") {
  HttpReceiver receiver;
  receiver.answer({{400, "no such\nfield", {}}, {503, std::string(3'000'000, 'y'), {}}});
  HttpPoster poster({}, {}, "");
  CHECK(poster.post(receiver.url(), "{}", "key").detail == origin(receiver) + " answered 400: no such\\nfield");
  const Outcome outcome = poster.post(receiver.url(), "{}", "key");
  CHECK(outcome.delivery == Delivery::kRetry);
  CHECK(outcome.detail == origin(receiver) + " answered 503: " + std::string(200, 'y') + "…");
}

TEST_CASE("http: Retry-After in seconds or as a date") {
  HttpReceiver receiver;
  receiver.answer({{503, "", {{"Retry-After", "7"}}},
                   {429, "", {{"Retry-After", "Fri, 31 Dec 2199 23:59:59 GMT"}}},
                   {503, "", {{"Retry-After", "soon"}}}});
  HttpPoster poster({}, {}, "");
  CHECK(poster.post(receiver.url(), "{}", "key").retry_after == milliseconds(7000));
  CHECK(poster.post(receiver.url(), "{}", "key").retry_after > std::chrono::hours(24));
  CHECK(poster.post(receiver.url(), "{}", "key").retry_after == std::nullopt);
}

TEST_CASE("http: refused connections and answers that do not come are tried again") {
  HttpReceiver receiver;
  HttpPoster poster({.connect = milliseconds(5000), .request = milliseconds(100)}, {}, "");
  receiver.hold();
  Outcome outcome = poster.post(receiver.url(), "{}", "key");
  CHECK(outcome.delivery == Delivery::kRetry);
  CHECK(outcome.detail.find("no answer from " + origin(receiver) + ": Operation timed out") == 0);
  receiver.refuse();
  outcome = poster.post(receiver.url(), "{}", "key");
  CHECK(outcome.delivery == Delivery::kRetry);
  CHECK(outcome.detail.find("no answer from " + origin(receiver)) == 0);
  receiver.listen();
  CHECK(poster.post(receiver.url(), "{}", "key").delivery == Delivery::kDone);
}

TEST_CASE("http: what is no http url is rejected without a request") {
  HttpPoster poster({}, {}, "");
  for (const std::string url :
       {"", "example.com/hook", "file:///etc/passwd", "ftp://example.com/", "http://", "http://a b/"}) {
    const Outcome outcome = poster.post(url, "{}", "key");
    CHECK(outcome.delivery == Delivery::kRejected);
    CHECK(outcome.detail == "the url is no http:// or https:// url");
  }
}

TEST_CASE("http: secrets of url and headers are masked in what is reported") {
  HttpReceiver receiver;
  const std::string url =
      "http://me:pa55word@127.0.0.1:" + std::to_string(receiver.port()) + "/services/T0KEN?sig=51GN";
  HttpPoster poster({}, {"Authorization: Bearer s3cr3t", "X-Key:k3y"}, "");
  const std::string echo = "Bearer s3cr3t|s3cr3t|k3y|pa55word|Cannot POST /services/T0KEN?sig=51GN";
  receiver.answer({{400, echo, {}}, {500, echo, {}}});
  std::string reported = poster.post(url, "{}", "key").detail + poster.post(url, "{}", "key").detail;
  receiver.refuse();
  reported += poster.post(url, "{}", "key").detail;
  for (const std::string secret : {"s3cr3t", "k3y", "pa55word", "T0KEN", "51GN"}) {
    CHECK_MESSAGE(reported.find(secret) == std::string::npos, reported);
  }
  CHECK(reported.find(" answered 400: ***|***|***|***|Cannot POST ***?***") != std::string::npos);
}

TEST_CASE("https: a certificate nobody vouches for is tried again, a configured one is trusted") {
  const TemporaryDirectory directory;
  const std::string certificate = directory / "cert.pem";
  const std::string key = directory / "key.pem";
  const std::string command =
      "openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=localhost -addext subjectAltName=IP:127.0.0.1 "
      "-keyout " +
      key + " -out " + certificate + " 2>/dev/null";
  REQUIRE(std::system(command.c_str()) == 0);
  const HttpReceiver receiver(certificate, key);

  HttpPoster strict({}, {}, "");
  const Outcome outcome = strict.post(receiver.url(), "{}", "key");
  CHECK(outcome.delivery == Delivery::kRetry);
  CHECK_MESSAGE(outcome.detail.find("certificate") != std::string::npos, outcome.detail);
  CHECK(receiver.requests().empty());

  HttpPoster trusting({}, {}, certificate);
  CHECK(trusting.post(receiver.url("/x"), "{}", "key").delivery == Delivery::kDone);
  REQUIRE(receiver.wait_for(1));
  CHECK(receiver.requests()[0].path == "/x");
}
