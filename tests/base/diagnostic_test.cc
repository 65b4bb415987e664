#include "base/diagnostic.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

namespace cepd {
namespace {

Diagnostic at(const std::string& text, const std::string& part) {
  const std::size_t begin = text.find(part);
  REQUIRE(begin != std::string::npos);
  return diagnostic_at(Severity::kError, "cart.rules", text, begin, begin + part.size(), "no");
}

TEST_CASE("diagnostic: message, source line, caret, suggestion") {
  const std::string text = "# carts\n\nMATCH cart_add WITHIN soon\n";
  const std::size_t begin = text.find("soon");
  CHECK(format(diagnostic_at(Severity::kError, "cart.rules", text, begin, begin + 4, "expected a duration after WITHIN",
                             "write it like 5m or 1h30m")) ==
        "cart.rules:3:23: error: expected a duration after WITHIN\n"
        "  MATCH cart_add WITHIN soon\n"
        "                        ^~~~\n"
        "  write it like 5m or 1h30m\n");
  Diagnostic bare;
  bare.severity = Severity::kWarning;
  bare.file = "f";
  bare.message = "m";
  CHECK(format(bare) == "f:1:1: warning: m\n");
}

TEST_CASE("diagnostic: tabs stay tabs before the caret, wide text counts code points") {
  CHECK(format(at("\tA\tTHEN soon", "soon")) ==
        "cart.rules:1:9: error: no\n"
        "  \tA\tTHEN soon\n"
        "  \t \t     ^~~~\n");
  CHECK(format(at("x = 'Grüße 日本' Ärger", "Ärger")) ==
        "cart.rules:1:16: error: no\n"
        "  x = 'Grüße 日本' Ärger\n"
        "                 ^~~~~\n");
}

TEST_CASE("diagnostic: places at the edges of the text and of lines") {
  const auto place = [](const std::string& text, std::size_t begin, std::size_t end) {
    const Diagnostic d = diagnostic_at(Severity::kError, "f", text, begin, end, "m");
    return std::to_string(d.line) + ":" + std::to_string(d.column) + "+" + std::to_string(d.length) + " " +
           d.source_line;
  };
  CHECK(place("", 0, 0) == "1:1+1 ");
  CHECK(place("ab", 0, 0) == "1:1+1 ab");
  CHECK(place("ab", 2, 2) == "1:3+1 ab");      // something is missing at the end
  CHECK(place("ab", 99, 120) == "1:3+1 ab");   // past it
  CHECK(place("ab", 1, 0) == "1:2+1 ab");      // turned around
  CHECK(place("ab\n", 3, 3) == "2:1+1 ");      // after the last line end
  CHECK(place("ab\ncd", 2, 2) == "1:3+1 ab");  // on a line end
  CHECK(place("ab\ncd", 3, 5) == "2:1+2 cd");
  CHECK(place("ab\ncd", 1, 5) == "1:2+1 ab");  // over several lines: the first one's rest
  CHECK(place("\n\n", 1, 1) == "2:1+1 ");
  CHECK(place("ab\r\ncd\r\n", 0, 6) == "1:1+2 ab");
  CHECK(place("ab\r\ncd\r\n", 5, 6) == "2:2+1 cd");
  CHECK(place("ab\r\ncd", 3, 4) == "1:4+1 ab");
  CHECK(place("\xff\xfe\x80x", 3, 4) == "1:3+1 \xff\xfe\x80x");  // no UTF-8
}

TEST_CASE("diagnostic: a very long line is not shown") {
  const std::string line(2'000, 'x');
  const Diagnostic d = diagnostic_at(Severity::kError, "f", line + "\nshort", 1'500, 1'501, "m");
  CHECK(d.column == 1'501);
  CHECK(d.source_line.empty());
  CHECK(format(d) == "f:1:1501: error: m\n");
}

TEST_CASE("diagnostic: only errors are errors") {
  Diagnostic warning;
  warning.severity = Severity::kWarning;
  CHECK_FALSE(has_errors({}));
  CHECK_FALSE(has_errors({warning, warning}));
  CHECK(has_errors({warning, Diagnostic{}}));
}

TEST_CASE("nearest: at most a third of the word, and at least one edit") {
  const std::vector<std::string> types{"payment_fail", "payment_ok", "cart_add", "id", "door"};
  CHECK(nearest("payment_fial", types) == "payment_fail");  // one transposition
  CHECK(nearest("paymnt_fail", types) == "payment_fail");
  CHECK(nearest("PAYMENT_FAIL", types) == "payment_fail");
  CHECK(nearest("payment_fail", types) == "payment_fail");
  CHECK(nearest("xxxxent_fail", types) == "payment_fail");  // four of twelve
  CHECK(nearest("xxxxxnt_fail", types).empty());            // five
  CHECK(nearest("dor", types) == "door");
  CHECK(nearest("ib", types) == "id");  // one edit is allowed in a short word; two are not
  CHECK(nearest("dxx", types).empty());
  CHECK(nearest("d", types).empty());  // would replace or keep nothing of it
  CHECK(nearest("", types).empty());
  CHECK(nearest("zzz", {}).empty());
  CHECK(nearest("abc", {"abd", "abe"}) == "abd");  // the first of equals
  CHECK(nearest("abc", {"abd", "ABC"}) == "ABC");
  CHECK(nearest(std::string(10'000, 'a'), {std::string(90, 'a')}).empty() == false);
}

TEST_CASE("did_you_mean: a question or nothing") {
  CHECK(did_you_mean("pirce", {"price"}) == "did you mean price?");
  CHECK(did_you_mean("colour", {"price"}).empty());
}

}  // namespace
}  // namespace cepd
