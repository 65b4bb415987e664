#include "actions/open.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <set>

#include "tests/actions/helpers.h"

using namespace cepd;
using namespace cepd::actions;
using namespace cepd::test;

namespace {

std::string messages(const std::string& yaml) {
  Diagnostics diagnostics;
  const auto node = config::parse_yaml("test.yaml", yaml, diagnostics);
  configured_schemas(&node, diagnostics);
  std::string text;
  for (const auto& d : diagnostics) {
    CHECK(format(d).find("s3cr3t") == std::string::npos);
    text += std::to_string(d.line) + ": " + d.message + (d.suggestion.empty() ? "" : " | " + d.suggestion) + "\n";
  }
  return text;
}

std::string print(const std::vector<ActionSchema>& schemas) {
  std::string text;
  for (const auto& schema : schemas) {
    text += schema.name + "(";
    for (const auto& parameter : schema.parameters) {
      if (text.back() != '(') text += ", ";
      text += parameter.name + (parameter.required ? "" : "?");
    }
    text += std::string(schema.open ? ", …" : "") + ")\n";
  }
  return text;
}

}  // namespace

TEST_CASE("open: the built-in actions") {
  Diagnostics diagnostics;
  CHECK(print(configured_schemas(nullptr, diagnostics)) ==
        "alert(message, severity?, description?, …)\n"
        "discount(user, percent, valid_for?)\n"
        "file(path, …)\n"
        "kafka(topic, key?, value?, …)\n"
        "log(message, level?)\n"
        "mqtt(topic, value?, …)\n"
        "redis(key, value?, …)\n"
        "webhook(url, …)\n");
  // Not knowing the configuration is not knowing that it has no url.
  CHECK(print(built_in_schemas()) ==
        "alert(message, severity?, description?, …)\n"
        "discount(user, percent, valid_for?)\n"
        "file(path?, …)\n"
        "kafka(topic?, key?, value?, …)\n"
        "log(message, level?)\n"
        "mqtt(topic?, value?, …)\n"
        "redis(key?, value?, …)\n"
        "webhook(url?, …)\n");
  for (const auto& schema : built_in_schemas()) {
    std::set<std::string> names;
    bool optional_before = false;
    for (const auto& parameter : schema.parameters) {
      CHECK(names.insert(parameter.name).second);
      CHECK_FALSE(parameter.help.empty());
      CHECK_FALSE((optional_before && parameter.required));  // positional arguments could not reach it
      optional_before = optional_before || !parameter.required;
      CHECK((parameter.type == ArgumentType::kNumber) == (parameter.min.has_value() && parameter.max.has_value()));
    }
  }
}

TEST_CASE("open: a configured url or path is no parameter any more; further names are further actions") {
  Diagnostics diagnostics;
  const auto node = config::parse_yaml(
      "test.yaml",
      "webhook: {url: 'http://a/'}\nfile: {path: /tmp/x}\norders: {type: webhook}\npages: {type: alert}\nlog:\n",
      diagnostics);
  CHECK(print(configured_schemas(&node, diagnostics)) ==
        "alert(message, severity?, description?, …)\n"
        "discount(user, percent, valid_for?)\n"
        "file(, …)\n"
        "kafka(topic, key?, value?, …)\n"
        "log(message, level?)\n"
        "mqtt(topic, value?, …)\n"
        "orders(url, …)\n"
        "pages(message, severity?, description?, …)\n"
        "redis(key, value?, …)\n"
        "webhook(, …)\n");
  CHECK(diagnostics.empty());
}

TEST_CASE("open: retry waits come with the action") {
  const auto set = take_action(open_yaml("log: {retry_first_wait: 20ms, retry_longest_wait: 2s}"), "log");
  CHECK(set.retry.first == std::chrono::milliseconds(20));
  CHECK(set.retry.longest == std::chrono::seconds(2));
  const auto unset = take_action(open_yaml("{}"), "webhook");
  CHECK(unset.retry.first == std::chrono::milliseconds(500));
  CHECK(unset.retry.longest == std::chrono::minutes(1));
  CHECK(unset.sink != nullptr);
}

TEST_CASE("open: mistakes are reported where they are") {
  CHECK(messages("hook: {type: webhok}") ==
        "1: unknown action type webhok, expected one of alert, discount, file, kafka, log, mqtt, redis, webhook | did "
        "you mean "
        "webhook?\n");
  CHECK(messages("alrt: {severity: page}") ==
        "1: action alrt needs a type: it is none of the built-in actions | did you mean alert?\n");
  CHECK(messages("orders: {url: 'http://a/'}") ==
        "1: action orders needs a type: it is none of the built-in actions | add `type:` with one of alert, discount, "
        "file, kafka, log, mqtt, redis, webhook\n");
  CHECK(messages("log: {}\n2fast: {type: log}") == "2: an action's name is letters, digits and _, no digit first\n");
  CHECK(messages("log: loud") == "1: expected a map of the options of action log\n");
  CHECK(messages("[log]") == "1: expected a map of actions by their names\n");
  CHECK(messages("log: {retry_first_wait: 2m}") == "1: retry_first_wait is longer than retry_longest_wait\n");
  CHECK(messages("log: {levle: info}").find("did you mean level?") != std::string::npos);
  CHECK(messages("alert: {request_time_limit: 1h}") != "");
  CHECK(messages("webhook: {url: 'ftp://a/'}") != "");
}

TEST_CASE("open: headers are checked without showing them") {
  const auto with = [](const std::string& header) {
    return messages("webhook:\n  url: http://a/\n  headers:\n    - 'X-Fine: yes'\n    - " + header + "\n");
  };
  CHECK(with("'X-Token: s3cr3t'") == "");
  CHECK(with("s3cr3t") == "5: expected a header like \"Name: value\"\n");
  CHECK(with("'s3 cr3t: x'").find("s3") == std::string::npos);
  CHECK(with("'X-Token:'") == "5: header X-Token has no value\n");
  CHECK(with("\"X-Token: s3cr3t\\r\\nHost: b\"") ==
        "5: header X-Token has a line end or another control character in its value\n");
  CHECK(with("'idempotency-key: x'") == "5: header idempotency-key is set by cepd\n");
  CHECK(messages("webhook: {headers: ['X-Token: s3cr3t']}") ==
        "1: headers are sent to the configured url only, and this action has none | add `url:`\n");
}

TEST_CASE("open: an entry with a mistake is left out, also in place of a built-in one") {
  Diagnostics diagnostics;
  const auto node = config::parse_yaml("test.yaml", "log: {level: loud}\nhook: {type: nothing}", diagnostics);
  const auto opened = open_actions(&node, diagnostics);
  CHECK(diagnostics.size() == 2);
  CHECK(std::ranges::none_of(opened, [](const auto& a) { return a.name == "log" || a.name == "hook"; }));
  CHECK(opened.size() == 7);
}

TEST_CASE("open: every option is explained") {
  const auto tables = option_tables();
  CHECK(tables.size() == 9);
  for (const auto& table : tables) {
    CHECK_FALSE(table.help.empty());
    for (const auto& row : table.rows) CHECK_FALSE(row.help.empty());
  }
}
