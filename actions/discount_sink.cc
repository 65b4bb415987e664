/// `discount(user, percent, valid_for?)`: grants a user a discount. Every try of one call grants the same code, so that
/// a service that knows the code (or the Idempotency-Key) grants it once.

#include <charconv>
#include <cmath>
#include <utility>

#include "actions/action_log.h"
#include "actions/action_type.h"
#include "actions/http_options.h"
#include "actions/json_body.h"
#include "base/ids.h"
#include "base/time.h"

namespace cepd::actions {
namespace {

constexpr double kLeastPercent = 0.01;
constexpr double kMostPercent = 100;
constexpr std::size_t kCodeLength = 10;  // 50 bits

/// Crockford's base 32 (no I, L, O, U), from the call's idempotency key. Who knows the match can work the code out:
/// it names a grant to one user and is no secret.
std::string discount_code(const state::OutboxRecord& record) {
  static constexpr char kDigits[] = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
  std::uint64_t bits = hash_match_id(record.action + '\n' + record.idempotency_key).high;
  std::string code;
  for (std::size_t i = 0; i < kCodeLength; ++i, bits >>= 5) code += kDigits[bits & 31];
  return code;
}

class DiscountSink final : public Sink {
 public:
  DiscountSink(std::string url, Micros valid_for, std::unique_ptr<HttpPoster> poster)
      : url_(std::move(url)), valid_for_(valid_for), poster_(std::move(poster)) {}

  Outcome deliver(const state::OutboxRecord& record) override {
    const auto* user = find_argument(record, "user");
    if (!user || user->json == "null" || user->text.empty()) return {Delivery::kRejected, "no user to grant it to"};
    const auto* percent = find_argument(record, "percent");
    if (!percent || !is_percent(percent->json)) {
      return {Delivery::kRejected,
              "percent is " + (percent ? one_line(percent->text, 40) : "missing") + ", expected 0.01 to 100"};
    }
    Micros valid_for = valid_for_;
    if (const auto* asked = find_argument(record, "valid_for")) {
      const auto duration = parse_duration(asked->text);
      if (!duration || *duration <= Micros(0)) {
        return {Delivery::kRejected, "valid_for is " + one_line(asked->text, 40) + ", expected a duration like 24h"};
      }
      valid_for = *duration;
    }
    JsonObject grant;
    grant.text("user", user->text).json("percent", percent->json).text("code", discount_code(record));
    grant.text("expires", format_rfc3339(saturating_add(record.time, valid_for)));
    grant.text("rule", record.rule).text("match", match_id(record));
    std::string body = std::move(grant).finish();
    if (url_.empty()) {
      write_action_log(LogLevel::kInfo, "discount (no url is configured, nothing granted): " + body);
      return {};
    }
    return poster_->post(url_, body, record.idempotency_key);
  }

 private:
  static bool is_percent(std::string_view json) {
    double number = 0;
    const auto [end, error] = std::from_chars(json.data(), json.data() + json.size(), number);
    return error == std::errc() && end == json.data() + json.size() && number >= kLeastPercent &&
           number <= kMostPercent;
  }

  const std::string url_;  // empty: into the log
  const Micros valid_for_;
  const std::unique_ptr<HttpPoster> poster_;
};

std::vector<config::OptionRow> rows() {
  auto rows = http_rows("Service that grants discounts. Without it the grant only goes into the log.");
  rows.push_back({.name = "valid_for",
                  .type = config::OptionType::kDuration,
                  .default_text = "24h",
                  .help = "From the match's time to the grant's end, where the call gives none.",
                  .min = 1});
  return rows;
}

ActionSchema schema(std::string_view action, const config::Options&) {
  return {.name = std::string(action),
          .parameters = {text_parameter("user", true, "Who gets it."),
                         {.name = "percent",
                          .type = ArgumentType::kNumber,
                          .required = true,
                          .min = kLeastPercent,
                          .max = kMostPercent,
                          .help = "Off the price."},
                         {.name = "valid_for",
                          .type = ArgumentType::kDuration,
                          .required = false,
                          .min = {},
                          .max = {},
                          .help = "From the match's time; default: the option `valid_for`."}}};
}

std::unique_ptr<Sink> open(std::string_view, const config::Options& options) {
  return std::make_unique<DiscountSink>(configured_url(options), options.duration("valid_for"), open_poster(options));
}

}  // namespace

const ActionType& discount_type() {
  static const ActionType type{
      "discount", "Grants a user a discount: POSTs user, percent, code, expires, rule and match.",
      rows,       schema,
      check_http, open};
  return type;
}

}  // namespace cepd::actions
