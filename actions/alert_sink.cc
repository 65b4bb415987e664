/// `alert(message, …)`: an alert for Prometheus Alertmanager, API v2. Without a url it is a warning in the log.
///
/// Alertmanager takes alerts with equal labels for one alert, so the match's key is among the labels: two users who
/// match one rule are two alerts, the same user again is the same alert once more.

#include <simdjson.h>

#include <algorithm>
#include <utility>

#include "actions/action_log.h"
#include "actions/action_type.h"
#include "actions/http_options.h"
#include "actions/json_body.h"
#include "base/time.h"

namespace cepd::actions {
namespace {

constexpr std::string_view kApiPath = "/api/v2/alerts";

/// `url` with the API's path, before a query if there is one.
std::string alerts_url(const std::string& url) {
  const auto end = std::min(url.find_first_of("?#"), url.size());
  std::string base = url.substr(0, end);
  while (base.ends_with('/')) base.pop_back();
  if (!base.ends_with(kApiPath)) base += kApiPath;
  return base + url.substr(end);
}

/// Prometheus label names: letters, digits and _, no digit first.
std::string label_name(std::string_view name) {
  std::string label;
  for (const char c : name) {
    const bool digit = c >= '0' && c <= '9';
    if (digit && label.empty()) label += '_';
    label += digit || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ? c : '_';
  }
  return label.empty() ? "_" : label;
}

class Labels {
 public:
  void set(std::string_view name, std::string_view value) {
    std::string label = label_name(name);
    const auto it = std::ranges::find(labels_, label, &std::pair<std::string, std::string>::first);
    if (it != labels_.end()) {
      it->second = value;
    } else {
      labels_.emplace_back(std::move(label), value);
    }
  }

  std::string json() const {
    JsonObject object;
    for (const auto& [name, value] : labels_) {
      if (!value.empty()) object.text(name, value);  // Alertmanager: an empty label is none
    }
    return std::move(object).finish();
  }

 private:
  std::vector<std::pair<std::string, std::string>> labels_;
};

/// The fields of the match's `key`, null ones left out.
void set_key_labels(Labels& labels, const std::string& match_json) {
  const simdjson::padded_string padded(match_json);
  simdjson::ondemand::parser parser;
  simdjson::ondemand::document document;
  simdjson::ondemand::object key;
  if (parser.iterate(padded).get(document) != simdjson::SUCCESS) return;
  if (document["key"].get_object().get(key) != simdjson::SUCCESS) return;
  for (auto field : key) {
    std::string_view name;
    std::string_view raw;
    simdjson::ondemand::value value;
    simdjson::ondemand::json_type type;
    if (field.unescaped_key().get(name) != simdjson::SUCCESS) return;
    const std::string label(name);
    if (field.value().get(value) != simdjson::SUCCESS || value.type().get(type) != simdjson::SUCCESS) return;
    if (type == simdjson::ondemand::json_type::string) {
      if (value.get_string().get(raw) != simdjson::SUCCESS) return;
    } else {
      if (simdjson::to_json_string(value).get(raw) != simdjson::SUCCESS) return;
      if (raw == "null") continue;
    }
    labels.set(label, raw);
  }
}

class AlertSink final : public Sink {
 public:
  AlertSink(std::string url, std::string severity, std::unique_ptr<HttpPoster> poster)
      : url_(std::move(url)), severity_(std::move(severity)), poster_(std::move(poster)) {}

  Outcome deliver(const state::OutboxRecord& record) override {
    // What is nearer to the call wins: key, rule's labels, call's arguments.
    Labels labels;
    labels.set("alertname", record.rule);
    labels.set("severity", severity_);
    set_key_labels(labels, record.match_json);
    for (const auto& label : record.labels) labels.set(label.name, label.text);
    for (const auto& argument : record.arguments) {
      if (argument.name != "message" && argument.name != "description") labels.set(argument.name, argument.text);
    }
    const std::string_view message = argument_text(record, "message");
    if (url_.empty()) {
      write_action_log(LogLevel::kWarning, "alert " + record.rule + ": " + std::string(message) + " " + labels.json() +
                                               " [match " + std::string(match_id(record)) + "]");
      return {};
    }
    JsonObject annotations;
    annotations.text("summary", message);
    if (find_argument(record, "description")) annotations.text("description", argument_text(record, "description"));
    annotations.text("match", match_id(record));
    JsonObject alert;
    alert.json("labels", labels.json()).json("annotations", std::move(annotations).finish());
    alert.text("startsAt", format_rfc3339(record.time));
    return poster_->post(url_, "[" + std::move(alert).finish() + "]", record.idempotency_key);
  }

 private:
  const std::string url_;  // empty: into the log
  const std::string severity_;
  const std::unique_ptr<HttpPoster> poster_;
};

std::vector<config::OptionRow> rows() {
  auto rows = http_rows(
      "Alertmanager, such as http://localhost:9093; /api/v2/alerts is added where it is missing. Without it alerts go "
      "into the log as warnings.");
  rows.push_back({.name = "severity",
                  .type = config::OptionType::kString,
                  .default_text = "warning",
                  .help = "Label `severity` of alerts whose call or rule gives none."});
  return rows;
}

ActionSchema schema(std::string_view action, const config::Options&) {
  return {.name = std::string(action),
          .parameters = {text_parameter("message", true, "Annotation `summary`."),
                         text_parameter("severity", false, "Label `severity`; default: the option `severity`."),
                         text_parameter("description", false, "Annotation `description`.")},
          .open = true};
}

std::unique_ptr<Sink> open(std::string_view, const config::Options& options) {
  const std::string url = configured_url(options);
  return std::make_unique<AlertSink>(url.empty() ? url : alerts_url(url), options.text("severity"),
                                     open_poster(options));
}

}  // namespace

const ActionType& alert_type() {
  static const ActionType type{
      "alert",    "Raises an alert in Prometheus Alertmanager (API v2); further named arguments become labels.",
      rows,       schema,
      check_http, open};
  return type;
}

}  // namespace cepd::actions
