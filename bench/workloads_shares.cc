/// What the CPU time goes into, told by leaving parts out: each run does all of the one before it and one thing more.
#include <algorithm>

#include "bench/workloads.h"

namespace cepd::bench {
namespace {

/// Rules with `{START}` where a condition of the first element stands, `{HAVING}` where HAVING would.
struct Subject {
  std::string variant;
  std::vector<std::string> files;
};

std::vector<std::string> filled_in(std::vector<std::string> files, const std::string& start,
                                   const std::string& having) {
  const auto replace = [](std::string& text, const std::string& mark, const std::string& by) {
    for (std::size_t at = text.find(mark); at != std::string::npos; at = text.find(mark, at + by.size())) {
      text.replace(at, mark.size(), by);
    }
  };
  for (std::string& text : files) {
    replace(text, "{START}", start);
    replace(text, "{HAVING}", having);
  }
  return files;
}

double median_seconds(const Context& context, const Input& input, const std::vector<std::string>& files) {
  const Load loaded = load(files);
  const Events events = decode_all(input.lines, loaded.network->fields());
  std::vector<double> seconds;
  for (unsigned i = 0; i < context.options.repeat; ++i) {
    EngineRun run(loaded.network, context.options);
    Limit limit(context.options);
    const Stretch stretch = run.push(events, 0, events.size(), limit);
    // Where it was stopped: as if it had gone on like that.
    seconds.push_back(stretch.cpu_s * static_cast<double>(events.size()) / static_cast<double>(stretch.events));
    if (!stretch.stopped.empty()) break;
  }
  return spread_of(seconds).median;
}

double decode_seconds(const Context& context, const Input& input, const std::vector<std::string>& files) {
  const Load loaded = load(files);
  std::vector<double> seconds;
  for (unsigned i = 0; i < context.options.repeat; ++i) {
    LineReader reader(input.lines, loaded.network->fields());
    const double before = cpu_seconds();
    for (std::size_t line = 0; line < input.lines.size(); ++line) reader.decode(line);
    seconds.push_back(cpu_seconds() - before);
  }
  return spread_of(seconds).median;
}

void add_shares(const Context& context, const Input& input, const Subject& subject) {
  // Of no event, of starts that are all refused, of complete matches that are all dropped.
  const std::string refused = "ts < @\"1970-01-01T00:00:00Z\"", dropped = "HAVING 1 = 2";
  const double decode = decode_seconds(context, input, filled_in(subject.files, "ts IS NOT NULL", ""));
  const double order = median_seconds(context, input, {"RULE none MATCH no_such_type THEN no_other"});
  const double look_up = median_seconds(context, input, filled_in(subject.files, refused, ""));
  const double match = median_seconds(context, input, filled_in(subject.files, "ts IS NOT NULL", dropped));
  const double all = median_seconds(context, input, filled_in(subject.files, "ts IS NOT NULL", ""));

  Result line{"shares", subject.variant, "json", input.lines.size()};
  const double total = decode + all;
  line.figures = {{"cpu_ns_per_event", total * 1e9 / static_cast<double>(line.events)}};
  const auto percent = [&](double seconds) { return std::max(seconds, 0.0) / total * 100; };
  line.figures.emplace_back("decode_percent", percent(decode));
  line.figures.emplace_back("order_percent", percent(order));
  line.figures.emplace_back("look_up_percent", percent(look_up - order));
  line.figures.emplace_back("match_percent", percent(match - look_up));
  line.figures.emplace_back("output_percent", percent(all - match));
  context.report.add(line);
}

}  // namespace

void run_shares(const Context& context) {
  {
    const Input input(checkout::stream(context.options.events));
    add_shares(
        context, input,
        {"w1 NO SKIP",
         {"RULE w1 KEY user_id MATCH cart_add[{START}] THEN payment_fail WITHIN 5m {HAVING} AFTER MATCH NO SKIP"}});
    const std::uint32_t rules = context.options.quick ? 10 : 1'000;
    std::vector<std::string> files = w2_files(rules);
    for (std::string& text : files) {
      const auto insert_before = [&](const std::string& word, const std::string& what) {
        for (std::size_t at = text.find(word); at != std::string::npos;
             at = text.find(word, at + what.size() + word.size())) {
          text.insert(at, what);
        }
      };
      insert_before("item = ", "{START} AND ");
      insert_before("AFTER MATCH", "{HAVING} ");
    }
    add_shares(context, input, {"w2 " + std::to_string(rules) + " rules", files});
  }
  const Input input(ticks::stream(context.options.events));
  add_shares(context, input,
             {"w3 NO SKIP",
              {"RULE w3 KEY symbol MATCH tick[{START}] AS a NEXT tick[price > prev(price)]+ CONSECUTIVE AS up "
               "NEXT tick[price < prev(price)] WITHIN 1m {HAVING} AFTER MATCH NO SKIP"}});
}

}  // namespace cepd::bench
