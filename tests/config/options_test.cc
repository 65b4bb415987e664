#include "config/options.h"

#include <doctest/doctest.h>
#include <stdlib.h>

#include <string>
#include <vector>

namespace cepd::config {
namespace {

using std::chrono::seconds;

const OptionTable& table() {
  static const OptionTable kTable{
      "link",
      "How the test links.",
      {
          {.name = "on", .type = OptionType::kBool, .default_text = "true", .help = "Whether."},
          {.name = "count",
           .type = OptionType::kInteger,
           .default_text = "7",
           .help = "How many.",
           .min = 1,
           .max = 100},
          {.name = "offset", .type = OptionType::kInteger, .default_text = "", .help = "Any.", .min = INT64_MIN},
          {.name = "size",
           .type = OptionType::kBytes,
           .default_text = "64KiB",
           .help = "Of the buffer.",
           .min = 4096,
           .max = std::int64_t{1} << 40},
          {.name = "wait",
           .type = OptionType::kDuration,
           .default_text = "10s",
           .help = "Before a | b.",
           .min = 1'000,
           .max = 3'600'000'000,
           .reloadable = true},
          {.name = "name", .type = OptionType::kString, .default_text = "", .help = "Of it."},
          {.name = "file", .type = OptionType::kPath, .default_text = "/var/x", .help = "Where."},
          {.name = "url", .type = OptionType::kUrl, .default_text = "", .help = "To."},
          {.name = "mode",
           .type = OptionType::kChoice,
           .default_text = "fast",
           .help = "How.",
           .choices = {"fast", "safe"}},
          {.name = "topics", .type = OptionType::kStringList, .default_text = "", .help = "Which."},
          {.name = "token", .type = OptionType::kString, .default_text = "", .help = "Key.", .secret = true},
      }};
  return kTable;
}

struct ReadOutcome {
  Options options;
  std::string messages;
};

ReadOutcome read(const std::string& text, const OptionTable& by = table(), const std::string& file = "dir/cepd.yaml") {
  Diagnostics diagnostics;
  const Node node = parse_yaml(file, text, diagnostics);
  ReadOutcome outcome{read_options(&node, by, {"type"}, diagnostics), {}};
  for (const auto& d : diagnostics) outcome.messages += format(d);
  return outcome;
}

std::string mistakes(const std::string& text) { return read(text).messages; }

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("options: defaults where nothing is written") {
  Diagnostics diagnostics;
  const Options options = read_options(nullptr, table(), {}, diagnostics);
  CHECK(diagnostics.empty());
  CHECK(options.flag("on"));
  CHECK(options.integer("count") == 7);
  CHECK(options.integer("offset") == 0);
  CHECK(options.integer("size") == 65'536);
  CHECK(options.duration("wait") == seconds(10));
  CHECK(options.text("name") == "");
  CHECK(options.text("file") == "/var/x");
  CHECK(options.text("mode") == "fast");
  CHECK(options.list("topics").empty());
  CHECK_FALSE(options.given("on"));
  CHECK(read("").messages == "");
}

TEST_CASE("options: values of every type") {
  ::setenv("CEPD_TEST_TOKEN", "t0ken", 1);
  const auto [options, messages] = read(
      "type: anything\non: false\ncount: 100\noffset: -5\nsize: 1MiB\nwait: 1m30s\nname: x y\nfile: sub/../a.txt\n"
      "url: https://host:8443/p?q\nmode: safe\ntopics: [a, \"b,c\"]\ntoken: Bearer ${env:CEPD_TEST_TOKEN}\n");
  CHECK(messages == "");
  CHECK_FALSE(options.flag("on"));
  CHECK(options.integer("count") == 100);
  CHECK(options.integer("offset") == -5);
  CHECK(options.integer("size") == 1'048'576);
  CHECK(options.duration("wait") == seconds(90));
  CHECK(options.text("name") == "x y");
  CHECK(options.text("file") == "dir/a.txt");
  CHECK(options.text("url") == "https://host:8443/p?q");
  CHECK(options.text("mode") == "safe");
  CHECK(options.list("topics") == std::vector<std::string>{"a", "b,c"});
  CHECK(options.text("token") == "Bearer t0ken");
  CHECK(options.given("on"));
}

TEST_CASE("options: an unknown key has its place, a caret and the nearest name") {
  CHECK(mistakes("on: true\nwiat: 5s\n") ==
        "dir/cepd.yaml:2:1: error: unknown option wiat in link\n  wiat: 5s\n  ^~~~\n  did you mean wait?\n");
  CHECK(contains(mistakes("tpye: x\n"), "did you mean type?"));
  CHECK(contains(mistakes("zzzzzz: x\n"), "known here: type, on, count,"));
}

TEST_CASE("options: values of a wrong type keep the default") {
  const auto [options, messages] = read("on: yes\ncount: 5.0\noffset: 99999999999999999999\nurl: ftp://x\nwait: 5 s\n");
  CHECK(contains(messages, "dir/cepd.yaml:1:5: error: link.on expects true or false\n  on: yes\n      ^~~\n"));
  CHECK(contains(messages, "dir/cepd.yaml:2:8: error: link.count expects a whole number\n"));
  CHECK(contains(messages, "dir/cepd.yaml:3:9: error: link.offset expects a whole number\n"));
  CHECK(contains(messages, "dir/cepd.yaml:4:6: error: link.url expects a URL that begins with http:// or https://"));
  CHECK(contains(messages, "dir/cepd.yaml:5:7: error: link.wait expects a duration, like 10s or 1h30m"));
  CHECK(options.flag("on"));
  CHECK(options.integer("count") == 7);
  CHECK_FALSE(options.given("count"));
}

TEST_CASE("options: a list, a map or nothing is no single value") {
  CHECK(contains(mistakes("count: [1]\n"), "1:8: error: link.count expects one value, this is a list"));
  CHECK(contains(mistakes("name: {a: 1}\n"), "link.name expects one value, this is a map"));
  CHECK(contains(mistakes("wait:\n"), "link.wait has no value"));
  CHECK(contains(mistakes("wait: ~\n"), "leave it out for 10s"));
  CHECK(contains(mistakes("topics: {a: 1}\n"), "link.topics expects strings, this is a map"));
  CHECK(contains(mistakes("topics: [a, [b]]\n"), "1:13: error: link.topics expects strings, this is a list"));
}

TEST_CASE("options: ranges include both ends") {
  CHECK(read("count: 1\n").options.integer("count") == 1);
  CHECK(contains(mistakes("count: 0\n"), "link.count is out of range, expected 1 to 100"));
  CHECK(contains(mistakes("count: 101\n"), "link.count is out of range, expected 1 to 100"));
  CHECK(read("wait: 1ms\n").options.duration("wait") == std::chrono::milliseconds(1));
  CHECK(read("wait: 1h\n").options.duration("wait") == std::chrono::hours(1));
  CHECK(contains(mistakes("wait: 999us\n"), "link.wait is out of range, expected 1ms to 1h"));
  CHECK(contains(mistakes("wait: 1h1us\n"), "link.wait is out of range, expected 1ms to 1h"));
  CHECK(contains(mistakes("size: 4095\n"), "link.size is out of range, expected 4KiB to 1TiB"));
}

TEST_CASE("options: durations need a unit") {
  CHECK(contains(mistakes("wait: 10\n"), "the unit is missing"));
  CHECK(contains(mistakes("wait: -10s\n"), "link.wait expects a duration"));
}

TEST_CASE("options: bytes with binary units") {
  CHECK(read("size: 4096\n").options.integer("size") == 4096);
  CHECK(read("size: 4KiB\n").options.integer("size") == 4096);
  CHECK(read("size: 1TiB\n").options.integer("size") == std::int64_t{1} << 40);
  CHECK(contains(mistakes("size: 64mb\n"), "link.size expects a number of bytes, like 4096, 64KiB or 1GiB"));
  CHECK(contains(mistakes("size: 64mb\n"), "write it like 64MiB"));
  CHECK(contains(mistakes("size: 99999999TiB\n"), "expects a number of bytes"));
  CHECK(contains(mistakes("size: -1KiB\n"), "expects a number of bytes"));
}

TEST_CASE("options: URLs have a scheme and a host") {
  CHECK(mistakes("url: http://[::1]:80/x\n") == "");
  for (const char* url : {"host/x", "http://", "http:///x", "http://:80", "\"http://a b\"", "\"\""}) {
    CAPTURE(url);
    CHECK(contains(mistakes("url: " + std::string(url) + "\n"), "link.url expects a URL"));
  }
}

TEST_CASE("options: choices suggest the nearest") {
  CHECK(
      contains(mistakes("mode: fats\n"),
               "1:7: error: link.mode expects one of fast, safe\n  mode: fats\n        ^~~~\n  did you mean fast?\n"));
}

TEST_CASE("options: one scalar is a list of one") {
  CHECK(read("topics: a\n").options.list("topics") == std::vector<std::string>{"a"});
  CHECK(read("topics: []\n").options.list("topics").empty());
  CHECK(read("topics: []\n").options.given("topics"));
}

TEST_CASE("options: relative paths start at the configuration file's directory") {
  CHECK(read("file: a/b\n", table(), "/etc/cepd/cepd.yaml").options.text("file") == "/etc/cepd/a/b");
  CHECK(read("file: ../b\n", table(), "/etc/cepd/cepd.yaml").options.text("file") == "/etc/b");
  CHECK(read("file: /abs\n", table(), "/etc/cepd/cepd.yaml").options.text("file") == "/abs");
  CHECK(read("file: a\n", table(), "cepd.yaml").options.text("file") == "a");
  CHECK(read("file: \"\"\n", table(), "/etc/cepd/cepd.yaml").options.text("file") == "");
}

TEST_CASE("options: a plain secret is refused and not shown") {
  const auto [options, messages] = read("on: true\ntoken: hunter2\n");
  CHECK(contains(messages, "dir/cepd.yaml:2:1: error: link.token is a secret and cannot stand in this file"));
  CHECK_FALSE(contains(messages, "hunter2"));
  CHECK(options.text("token") == "");
}

TEST_CASE("options: what came from a secret is not shown in messages") {
  ::setenv("CEPD_TEST_TOKEN", "fasst", 1);
  const std::string messages = mistakes("mode: ${env:CEPD_TEST_TOKEN}\ncount: ${env:CEPD_TEST_TOKEN}\n");
  CHECK(contains(messages, "link.mode expects one of fast, safe"));
  CHECK(contains(messages, "link.count expects a whole number"));
  CHECK_FALSE(contains(messages, "fasst"));
  CHECK_FALSE(contains(messages, "did you mean"));
}

TEST_CASE("options: required ones, missing or empty") {
  const OptionTable required{
      "sink",
      "",
      {{.name = "url", .type = OptionType::kUrl, .default_text = "http://h/x", .help = "To.", .required = true},
       {.name = "topics", .type = OptionType::kStringList, .default_text = "", .help = "T.", .required = true},
       {.name = "name", .type = OptionType::kString, .default_text = "", .help = "N.", .required = true}}};
  const std::string messages = read("topics: []\nname: ''\n", required).messages;
  CHECK(contains(messages, "dir/cepd.yaml:1:1: error: required option sink.url is missing\n"));
  CHECK(contains(messages, "write it like url: http://h/x"));
  CHECK(contains(messages, "1:9: error: sink.topics must not be empty"));
  CHECK(contains(messages, "2:7: error: sink.name must not be empty"));
  Diagnostics diagnostics;
  const Options options = read_options(nullptr, required, {}, diagnostics);
  CHECK(diagnostics.size() == 3);
  CHECK(options.text("url") == "http://h/x");
}

TEST_CASE("options: mistakes come in the order of the file") {
  const std::string messages = mistakes("wait: x\nnone: 1\non: x\n");
  CHECK(messages.find("link.wait") < messages.find("unknown option none"));
  CHECK(messages.find("unknown option none") < messages.find("link.on"));
}

TEST_CASE("options: a section must be a map") {
  CHECK(contains(mistakes("- a\n"), "error: expected a map of options in link"));
  CHECK(contains(mistakes("text\n"), "1:1: error: expected a map of options in link\n  text\n  ^~~~\n"));
}

TEST_CASE("reference: every option with type, default, range, reload and help") {
  OptionTable shown{"link", "How the test links.", {}};
  for (const auto& row : table().rows) {
    if (row.name == "count" || row.name == "wait" || row.name == "mode" || row.name == "token")
      shown.rows.push_back(row);
  }
  shown.rows.push_back(
      {.name = "must", .type = OptionType::kBytes, .default_text = "1KiB", .help = "M.", .min = 1, .required = true});
  CHECK(print_reference({shown, {"empty", "", {}}}) ==
        "## `link`\n\nHow the test links.\n\n"
        "| option | type | default | range or choices | reload | what it is for |\n"
        "| --- | --- | --- | --- | --- | --- |\n"
        "| `count` | integer | `7` | 1 to 100 | no | How many. |\n"
        "| `wait` | duration | `10s` | 1ms to 1h | yes | Before a \\| b. |\n"
        "| `mode` | choice | `fast` | `fast`, `safe` | no | How. |\n"
        "| `token` | string, secret | none | | no | Key. |\n"
        "| `must` | bytes | required, e.g. `1KiB` | at least 1 | no | M. |\n"
        "\n## `empty`\n\nNo options.\n");
}

}  // namespace cepd::config
