#include <benchmark/benchmark.h>

#include "bench/engine_run.h"

namespace cepd::bench {
namespace {

/// The checkout stream read for one rule: how much of a line is wanted makes the difference.
void decode(benchmark::State& state, const char* rule) {
  const Stream stream = checkout::stream(10'000);
  const Lines lines = lines_of(stream);
  const Load loaded = load({rule});
  LineReader reader(lines, loaded.network->fields());
  std::size_t line = 0;
  for (auto _ : state) {
    benchmark::DoNotOptimize(reader.decode(line));
    if (++line == lines.size()) line = 0;
  }
  state.SetItemsProcessed(state.iterations());
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(lines.text().size() / lines.size()));
}

BENCHMARK_CAPTURE(decode, types_unknown, "a THEN b");
BENCHMARK_CAPTURE(decode, no_field, "login|cart_add|view THEN payment_fail|payment_ok");
BENCHMARK_CAPTURE(decode, one_field, "RULE r KEY user_id MATCH login|cart_add|view THEN payment_fail|payment_ok");
BENCHMARK_CAPTURE(decode, four_fields,
                  "RULE r KEY user_id MATCH login|cart_add|view[item = \"i1\" AND price > 1 AND country = \"DE\"] "
                  "THEN payment_fail|payment_ok[item = \"i1\" AND price > 1 AND country = \"DE\"]");

}  // namespace
}  // namespace cepd::bench
