/// What checkpoints cost while events go on: as the daemon takes them, with real LMDB, journal left out.
#include <optional>

#include "bench/isolated.h"
#include "bench/state_store.h"

namespace cepd::bench {
namespace {

constexpr std::size_t kBatch = 512, kHandedOver = std::size_t{128} << 10;  // as in app/daemon.cc

/// The same events once more, behind themselves: each adds to what its key has.
Events behind(const Events& events) {
  Events out;
  const Micros span = events.back()->time - events.front()->time + Micros(1);
  for (const EventPtr& event : events) {
    EventDraft draft(*event);
    draft.time = event->time + span;
    draft.position.offset += static_cast<std::int64_t>(events.size());
    out.push_back(draft.build());
  }
  return out;
}

/// Fills an engine, then pushes as many events again, with a checkpoint of all keys under way or without.
struct Outcome {
  double seconds = 0, longest_batch_ms = 0, begin_ms = 0, written_s = 0;
  std::uint64_t bytes = 0;
};
Outcome run_once(const Load& loaded, const Events& first, const Events& second, bool checkpoint) {
  Outcome out;
  engine::EngineOptions options;
  options.track_changes = true;
  engine::Engine engine(loaded.network, options, {[](const engine::MatchView&) {}, {}});
  for (const EventPtr& event : first) engine.push(event);
  std::optional<Store> store;
  std::uint64_t number = 0;
  bool handing_over = false;
  const Stopwatch whole;
  if (checkpoint) {
    store.emplace();
    const Stopwatch begin;
    engine.begin_save();
    number = store->checkpoints().begin(0, 1);
    out.begin_ms = begin.seconds() * 1e3;
    handing_over = true;
  }
  const Stopwatch pushing;
  for (std::size_t i = 0; i < second.size(); i += kBatch) {
    const Stopwatch batch;
    for (std::size_t at = i; at < std::min(i + kBatch, second.size()); ++at) engine.push(second[at]);
    if (handing_over) {
      state::WriteBatch part;
      handing_over = engine.save_some(part, kHandedOver);
      out.bytes += part.bytes();
      store->checkpoints().add(std::move(part));
      if (!handing_over) store->checkpoints().finish();
    }
    out.longest_batch_ms = std::max(out.longest_batch_ms, batch.seconds() * 1e3);
  }
  out.seconds = pushing.seconds();
  if (checkpoint && !handing_over) {
    store->checkpoints().wait_finished(number, Clock::now() + std::chrono::minutes(10));
    out.written_s = whole.seconds();
  }
  return out;
}

double measure(const Context& context, const Input& input, bool checkpoint, const std::optional<CaseBase>& base) {
  const Load loaded = load({"RULE keys KEY user_id MATCH cart_add THEN payment_fail WITHIN 5h"});
  const Events first = decode_all(input.lines, loaded.network->fields());
  const Outcome outcome = run_once(loaded, first, behind(first), checkpoint);
  Result line{"checkpoint", checkpoint ? "one under way" : "none", "memory", first.size()};
  const double rate = static_cast<double>(first.size()) / outcome.seconds;
  line.rate = {rate, rate, rate};
  line.figures = {{"longest_batch_ms", outcome.longest_batch_ms}};
  if (checkpoint) {
    line.figures.insert(line.figures.end(),
                        {{"begin_ms", outcome.begin_ms},
                         {"written_s", outcome.written_s},
                         {"bytes_per_key", static_cast<double>(outcome.bytes) / static_cast<double>(first.size())}});
  }
  set_base(line, base);
  context.report.add(line);
  return rate;
}

}  // namespace

void run_checkpoint(const Context& context) {
  const Input input(many_keys(context.options.quick ? 2'000 : 1'000'000));
  const double without = isolated(context, "checkpoint", "none",
                                  [&](const Context& inside) { return measure(inside, input, false, std::nullopt); });
  isolated(context, "checkpoint", "one under way", [&](const Context& inside) {
    return measure(inside, input, true, CaseBase{"none", without});
  });
}

}  // namespace cepd::bench
