#include <doctest/doctest.h>

#include "tests/actions/helpers.h"

using namespace cepd;
using namespace cepd::actions;
using namespace cepd::test;

TEST_CASE("log: writes one line, at the call's level or the configured one") {
  const LogCapture log;
  const auto info = open_sink("{}", "log");
  const auto warning = open_sink("log: {level: warning}", "log");
  CHECK(info->deliver(make_record("log", {text_argument("message", "paid")})).delivery == Delivery::kDone);
  warning->deliver(make_record("log", {text_argument("message", "two\nlines")}));
  info->deliver(make_record("log", {text_argument("message", "bad"), text_argument("level", "error")}));
  info->deliver(make_record("log", {text_argument("message", "odd"), text_argument("level", "loud")}));
  const std::string end = " [match " + std::string(kMatch) + "]\n";
  CHECK(log.text() == "info cart_rescue: paid" + end + "warning cart_rescue: two\\nlines" + end +
                          "error cart_rescue: bad" + end +
                          "info cart_rescue: odd (level loud is none of debug, info, warning, error)" + end);
}
