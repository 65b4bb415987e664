/// `log(message, level?)`: a line in the daemon's log. Never fails.

#include "actions/action_log.h"
#include "actions/action_type.h"
#include "actions/json_body.h"
#include "base/check.h"

namespace cepd::actions {
namespace {

class LogSink final : public Sink {
 public:
  explicit LogSink(LogLevel level) : level_(level) {}

  Outcome deliver(const state::OutboxRecord& record) override {
    LogLevel level = level_;
    std::string line = record.rule + ": " + std::string(argument_text(record, "message"));
    if (const auto* argument = find_argument(record, "level")) {
      if (const auto asked = parse_log_level(argument->text)) {
        level = *asked;
      } else {
        line += " (level " + argument->text + " is none of debug, info, warning, error)";
      }
    }
    line += " [match " + std::string(match_id(record)) + "]";
    write_action_log(level, line);
    return {};
  }

 private:
  const LogLevel level_;
};

std::vector<config::OptionRow> rows() {
  return {{.name = "level",
           .type = config::OptionType::kChoice,
           .default_text = "info",
           .help = "Level of lines whose call gives none.",
           .choices = {"debug", "info", "warning", "error"}}};
}

ActionSchema schema(std::string_view action, const config::Options&) {
  return {
      .name = std::string(action),
      .parameters = {text_parameter("message", true, "The line."),
                     text_parameter("level", false, "debug, info, warning or error; default: the option `level`.")}};
}

std::unique_ptr<Sink> open(std::string_view, const config::Options& options) {
  const auto level = parse_log_level(options.text("level"));
  CEPD_CHECK(level.has_value());
  return std::make_unique<LogSink>(*level);
}

}  // namespace

const ActionType& log_type() {
  static const ActionType type{"log", "Writes a line into the daemon's log.", rows, schema, nullptr, open};
  return type;
}

}  // namespace cepd::actions
