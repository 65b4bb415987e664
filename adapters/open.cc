#include "adapters/open.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <utility>

#include "adapters/source_type.h"

namespace cepd::adapters {
namespace {

using config::Node;
using config::OptionRow;
using config::OptionType;

const std::vector<const SourceType*>& types() {
  static const std::vector<const SourceType*> all = {&file_type(), &http_type(), &kafka_type(), &mqtt_type(),
                                                     &stdin_type()};
  return all;
}

std::vector<std::string> type_names() {
  std::vector<std::string> names;
  for (const SourceType* type : types()) names.emplace_back(type->name);
  return names;
}

std::vector<OptionRow> common_rows() {
  constexpr std::int64_t kDay = 86'400'000'000;
  return {
      {.name = "type",
       .type = OptionType::kChoice,
       .default_text = "mqtt",
       .help = "Where the events come from.",
       .choices = type_names(),
       .required = true},
      {.name = "type_field",
       .type = OptionType::kString,
       .default_text = "type",
       .help = "Field with the event's type, a string; nested ones as payload.kind, names with dots in back quotes."},
      {.name = "time_field",
       .type = OptionType::kString,
       .default_text = "ts",
       .help = "Field with the event's time: a number of time_unit, or an RFC 3339 string."},
      {.name = "time_unit",
       .type = OptionType::kChoice,
       .default_text = "ms",
       .help = "Unit of numeric times since 1970, and of numbers in declared timestamps and durations.",
       .choices = {"s", "ms", "us", "ns"}},
      {.name = "max_delay",
       .type = OptionType::kDuration,
       .default_text = "0s",
       .help = "How far an event may come behind the newest one (event time) without being late, and how old it may be "
               "after its source was quiet (idle_after). Longer: fewer late events, more memory, later matches.",
       .max = 365 * kDay},
      {.name = "idle_after",
       .type = OptionType::kDuration,
       .default_text = "30s",
       .help = "After this long without an event the source no longer holds back the time of the others; when all are "
               "quiet, time goes on by this machine's clock less max_delay, and the next event is late if it is older "
               "than that. Give live sources a max_delay of their usual way from event to cepd.",
       .min = 1'000,
       .max = 365 * kDay},
      {.name = "max_future",
       .type = OptionType::kDuration,
       .default_text = "1h",
       .help = "Events further ahead of this machine's clock go to the dead-letter file.",
       .max = 365 * kDay},
      {.name = "dedup",
       .type = OptionType::kString,
       .default_text = "",
       .help = "Field with an id of the event, by which one that comes again is known and dropped, as long as it would "
               "not be late (max_delay). Empty: every message is an event."},
      {.name = "dedup_most",
       .type = OptionType::kInteger,
       .default_text = "1000000",
       .help =
           "Most ids that are kept of a partition, some 60 bytes of memory each; of more, those that came first are "
           "forgotten.",
       .min = 1024,
       .max = 100'000'000},
  };
}

config::OptionTable table_of(std::string section, const SourceType& type) {
  config::OptionTable table{std::move(section), std::string(type.help), common_rows()};
  std::ranges::move(type.rows(), std::back_inserter(table.rows));
  return table;
}

const SourceType* type_of(const std::string& name, const Node& node, Diagnostics& diagnostics) {
  std::string expected;
  for (const SourceType* type : types()) expected += (expected.empty() ? "" : ", ") + std::string(type->name);
  const Node* given = node.find("type");
  if (!given) {
    diagnostics.push_back(
        node.problem(Severity::kError, "source " + name + " needs a type", "add `type:` with one of " + expected));
    return nullptr;
  }
  const bool shown = given->kind == Node::Kind::kScalar && !given->from_secret;
  const auto it = std::ranges::find_if(types(), [&](const SourceType* type) { return given->scalar == type->name; });
  if (given->kind == Node::Kind::kScalar && it != types().end()) return *it;
  diagnostics.push_back(given->problem(
      Severity::kError, "unknown source type" + (shown ? " " + given->scalar : "") + ", expected one of " + expected,
      shown ? did_you_mean(given->scalar, type_names()) : ""));
  return nullptr;
}

/// `payload.kind`, `tags[0]`, `` `a.b`.c ``.
std::optional<FieldPath> parse_path(std::string_view text) {
  FieldPath path;
  while (true) {
    if (text.starts_with('`')) {
      const std::size_t end = text.find('`', 1);
      if (end == std::string_view::npos || end == 1) return std::nullopt;
      path.steps.emplace_back(std::string(text.substr(1, end - 1)));
      text.remove_prefix(end + 1);
    } else {
      const std::size_t end = std::min(text.find_first_of(".[`]"), text.size());
      if (end == 0) return std::nullopt;
      path.steps.emplace_back(std::string(text.substr(0, end)));
      text.remove_prefix(end);
    }
    while (text.starts_with('[')) {
      std::int64_t index = -1;
      const auto [end, status] = std::from_chars(text.data() + 1, text.data() + text.size(), index);
      if (status != std::errc{} || index < 0 || end == text.data() + text.size() || *end != ']') return std::nullopt;
      path.steps.emplace_back(index);
      text.remove_prefix(static_cast<std::size_t>(end + 1 - text.data()));
    }
    if (text.empty()) return path;
    if (!text.starts_with('.')) return std::nullopt;
    text.remove_prefix(1);
  }
}

FieldPath path_option(const Node& node, const config::Options& options, const std::string& name,
                      Diagnostics& diagnostics) {
  if (auto path = parse_path(options.text(name))) return *std::move(path);
  const Node* given = node.find(name);
  diagnostics.push_back(
      (given ? *given : node)
          .problem(Severity::kError, name + ": expected the path of a field", "write it like kind or payload.kind"));
  return FieldPath::of(name);
}

}  // namespace

std::vector<config::OptionTable> option_tables() {
  std::vector<config::OptionTable> tables = {{"sources.<name>", "Common to all sources.", common_rows()}};
  for (const SourceType* type : types()) {
    tables.push_back({"sources.<name> (type: " + std::string(type->name) + ")", std::string(type->help), type->rows()});
  }
  return tables;
}

std::unique_ptr<OpenedSource> open_source(const std::string& name, const Node& node, Diagnostics& diagnostics) {
  Diagnostics found;
  auto opened = std::make_unique<OpenedSource>();
  const SourceType* type = nullptr;
  if (name.empty()) {
    found.push_back(node.problem(Severity::kError, "a source needs a name"));
  } else if (node.kind != Node::Kind::kMap) {
    found.push_back(node.problem(Severity::kError, "expected a map of the options of source " + name));
  } else {
    type = type_of(name, node, found);
  }
  if (type) {
    const auto options = config::read_options(&node, table_of("sources." + name, *type), {}, found);
    SourceSettings& settings = opened->settings;
    settings.name = name;
    settings.decoder.type_field = path_option(node, options, "type_field", found);
    settings.decoder.time_field = path_option(node, options, "time_field", found);
    settings.decoder.time_unit = parse_time_unit(options.text("time_unit")).value_or(TimeUnit::kMillis);
    if (!options.text("dedup").empty()) settings.decoder.id_field = path_option(node, options, "dedup", found);
    settings.most_ids = static_cast<std::size_t>(options.integer("dedup_most"));
    settings.max_delay = options.duration("max_delay");
    settings.idle_after = options.duration("idle_after");
    settings.max_future = options.duration("max_future");
    if (type->adjust) type->adjust(options, settings.decoder);
    // After the rows' own mistakes it would only repeat them about defaults.
    if (type->check && !has_errors(found)) type->check(node, options, found);
    if (!has_errors(found)) {
      opened->source = type->make(name, options);
      settings.replayable = opened->source->replayable();
    }
  }
  const bool good = !has_errors(found);
  std::ranges::move(found, std::back_inserter(diagnostics));
  return good ? std::move(opened) : nullptr;
}

}  // namespace cepd::adapters
