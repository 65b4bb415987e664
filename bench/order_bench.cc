#include <benchmark/benchmark.h>

#include "bench/engine_run.h"
#include "engine/order.h"

namespace cepd::bench {
namespace {

/// Through the event order and out again, with a maximum delay that holds back as many events as the argument says.
void order(benchmark::State& state) {
  constexpr std::int64_t kStepUs = 1'000;
  const SourceId source("s");
  engine::EventOrder events;
  events.set_max_delay(source, Micros(state.range(0) * kStepUs));
  std::int64_t offset = 0;
  for (auto _ : state) {
    EventDraft draft;
    // With a delay each second event comes before the one in front of it.
    const std::int64_t place = state.range(0) == 0 ? offset : offset ^ 1;
    draft.time = event_time_us(place * kStepUs);
    draft.position = {source, 0, offset++};
    EventPtr event = draft.build();
    events.offer(event);
    while (const EventPtr next = events.next()) benchmark::DoNotOptimize(next.get());
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(order)->Arg(0)->Arg(100)->Arg(10'000);

}  // namespace
}  // namespace cepd::bench
