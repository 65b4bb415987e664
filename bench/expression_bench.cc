#include <benchmark/benchmark.h>

#include "bench/engine_run.h"
#include "nfa/eval.h"

namespace cepd::bench {
namespace {

/// One condition on the events of the checkout stream.
void condition(benchmark::State& state, const char* text) {
  const Stream stream = checkout::stream(10'000);
  const Lines lines = lines_of(stream);
  const Load loaded = load({std::string("login|cart_add|view|payment_fail|payment_ok[") + text + "] THEN login"});
  const Events events = decode_all(lines, loaded.network->fields());
  const auto& conditions = loaded.network->rules().rules[0].elements[0].test.conditions;
  Arena scratch;
  nfa::EvalErrors errors;
  nfa::Scope scope;
  scope.fields = &loaded.network->fields();
  std::size_t i = 0;
  for (auto _ : state) {
    scope.tested = events[i].get();
    benchmark::DoNotOptimize(nfa::holds(conditions, scope, scratch, errors));
    scratch.release();
    if (++i == events.size()) i = 0;
  }
  state.SetItemsProcessed(state.iterations());
}

BENCHMARK_CAPTURE(condition, number_greater, "price > 100");
BENCHMARK_CAPTURE(condition, string_equal, "item = \"i77\"");
BENCHMARK_CAPTURE(condition, string_in, "country IN (\"DE\", \"FR\", \"GB\")");
BENCHMARK_CAPTURE(condition, three_parts, "price > 100 AND price < 150 AND country != \"DE\"");
BENCHMARK_CAPTURE(condition, arithmetic, "abs(price * 1.19 - 100) < 10");
BENCHMARK_CAPTURE(condition, regular_expression, "item MATCHES \"^i1[0-9]*7$\"");

}  // namespace
}  // namespace cepd::bench
