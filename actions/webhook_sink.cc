/// `webhook(url, …)`: POSTs the match and all named arguments.

#include <utility>

#include "actions/action_type.h"
#include "actions/http_options.h"
#include "actions/json_body.h"

namespace cepd::actions {
namespace {

class WebhookSink final : public Sink {
 public:
  WebhookSink(std::string url, std::unique_ptr<HttpPoster> poster) : url_(std::move(url)), poster_(std::move(poster)) {}

  Outcome deliver(const state::OutboxRecord& record) override {
    const bool configured = !url_.empty();
    const std::string url = configured ? url_ : std::string(argument_text(record, "url"));
    if (url.empty()) return {Delivery::kRejected, "the call gives no url, and none is configured"};
    JsonObject body = configured ? match_body(record, {}) : match_body(record, {"url"});
    return poster_->post(url, std::move(body).finish(), record.idempotency_key);
  }

 private:
  const std::string url_;  // empty: the call's
  const std::unique_ptr<HttpPoster> poster_;
};

std::vector<config::OptionRow> rows() {
  return http_rows("Where the match is posted. Without it each call gives its own `url`.");
}

ActionSchema schema(std::string_view action, const config::Options& options) {
  ActionSchema schema{.name = std::string(action), .parameters = {}, .open = true};
  if (configured_url(options).empty()) {
    ActionParameter url = text_parameter("url", true, "Where to post. Or configure the option `url`.");
    url.type = ArgumentType::kUrl;
    schema.parameters.push_back(std::move(url));
  }
  return schema;
}

std::unique_ptr<Sink> open(std::string_view, const config::Options& options) {
  return std::make_unique<WebhookSink>(configured_url(options), open_poster(options));
}

}  // namespace

const ActionType& webhook_type() {
  static const ActionType type{"webhook", "POSTs the match and the call's arguments as JSON.", rows, schema, check_http,
                               open};
  return type;
}

}  // namespace cepd::actions
