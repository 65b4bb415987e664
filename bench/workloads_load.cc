/// Rules themselves: loading, reloading and what they and their keys take.
#include "bench/isolated.h"

namespace cepd::bench {
namespace {

double load_and_reload(const Context& context, const Input& input, std::uint32_t count) {
  const auto rules = static_cast<double>(count);
  std::vector<std::string> files = w2_files(count);
  double cpu_before = cpu_seconds();
  const Load loaded = load(files);
  const std::size_t before = bytes_in_use();
  Stopwatch construct;
  EngineRun run(loaded.network, context.options);
  const double construct_s = construct.seconds();
  const double load_cpu_s = cpu_seconds() - cpu_before;
  const auto engine_bytes = static_cast<double>(bytes_in_use() - before);

  Result line{"load", std::to_string(count) + " rules", "text", count};
  const double total_s = loaded.seconds() + construct_s;
  line.rate = {rules / total_s, rules / total_s, rules / total_s};
  line.figures = {{"load_s", total_s},
                  {"load_cpu_s", load_cpu_s},
                  {"parse_s", loaded.parse_s},
                  {"check_s", loaded.check_s},
                  {"compile_s", loaded.compile_s},
                  {"engine_s", construct_s},
                  {"bytes_per_rule", (static_cast<double>(loaded.bytes) + engine_bytes) / rules}};
  context.report.add(line);

  // The set again with one rule more, in the middle of a stream.
  Limit limit(context.options);
  run.push(input.lines, 0, input.lines.size(), limit);
  files.back() += "RULE one_more KEY user_id MATCH login THEN payment_ok WITHIN 5m\n";
  cpu_before = cpu_seconds();
  const Load again = load(files, &loaded.network->fields());
  Stopwatch swap;
  const std::size_t kept = run.engine().swap(again.network, {});
  const double swap_s = swap.seconds();
  const double reload_cpu_s = cpu_seconds() - cpu_before;
  Result reload{"load", std::to_string(count) + " rules and one", "reload", count};
  const double reload_s = again.seconds() + swap_s;
  reload.rate = {rules / reload_s, rules / reload_s, rules / reload_s};
  reload.base = "load";
  reload.ratio = reload.rate.median / line.rate.median;
  reload.figures = {{"reload_s", reload_s},
                    {"reload_cpu_s", reload_cpu_s},
                    {"parse_s", again.parse_s},
                    {"check_s", again.check_s},
                    {"compile_s", again.compile_s},
                    {"swap_s", swap_s},
                    {"rules_kept", static_cast<double>(kept)}};
  context.report.add(reload);
  return 0;
}

double fill_keys(const Context& context, const Input& input) {
  const Load loaded = load({"RULE keys KEY user_id MATCH cart_add THEN payment_fail WITHIN 5m"});
  const std::size_t before = bytes_in_use();
  EngineRun run(loaded.network, context.options);
  Limit limit(context.options);
  const Stretch stretch = run.push(input.lines, 0, input.lines.size(), limit);
  Result line{"keys", "a partial match a key", "json", stretch.events};
  line.rate = {stretch.rate(), stretch.rate(), stretch.rate()};
  line.stopped = stretch.stopped;
  add_cpu(line, stretch);
  state_size(run, before).add_to(line);
  context.report.add(line);
  return 0;
}

}  // namespace

void run_load(const Context& context) {
  std::vector<std::uint32_t> sizes{1'000, 10'000, 100'000};
  if (context.options.quick) sizes = {100, 1'000};
  const Input input(checkout::stream(200));
  for (const std::uint32_t count : sizes) {
    isolated(context, "load", std::to_string(count) + " rules",
             [&](const Context& inside) { return load_and_reload(inside, input, count); });
  }
}

void run_keys(const Context& context) {
  const Input input(many_keys(context.options.quick ? 1'000 : 1'000'000));
  isolated(context, "keys", "a partial match a key", [&](const Context& inside) { return fill_keys(inside, input); });
}

}  // namespace cepd::bench
