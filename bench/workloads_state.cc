/// What it costs to take up what is stored, and to store each message.
#include <optional>
#include <string>

#include "base/block_pool.h"
#include "bench/isolated.h"
#include "bench/state_store.h"
#include "state/journal.h"

namespace cepd::bench {
namespace {

constexpr std::size_t kBatch = 512;  // messages, as in app/daemon.cc
constexpr auto kLong = std::chrono::minutes(10);

std::unique_ptr<engine::Engine> make_engine(const Load& loaded, state::StateBackend* stored, std::uint64_t& matches) {
  engine::EngineOptions options;
  options.track_changes = true;
  options.stored = stored;
  return std::make_unique<engine::Engine>(loaded.network, options,
                                          engine::Engine::Handlers{[&](const engine::MatchView&) { ++matches; }, {}});
}

double restart(const Context& context, std::size_t keys, bool read_late, const std::optional<CaseBase>& base) {
  const Load loaded = load({"RULE keys KEY user_id MATCH cart_add THEN payment_fail WITHIN 5h"});
  std::uint64_t matches = 0;
  Store store;
  Lines lines;
  double stored_bytes = 0;
  {
    const Input input(many_keys(keys));
    const Events events = decode_all(input.lines, loaded.network->fields());
    const auto engine = make_engine(loaded, nullptr, matches);
    for (const EventPtr& event : events) engine->push(event);
    state::WriteBatch changes;
    engine->save(changes);
    stored_bytes = static_cast<double>(changes.bytes());
    const std::uint64_t number = store.checkpoints().begin(0, 1);
    store.checkpoints().add(std::move(changes));
    store.checkpoints().finish();
    store.checkpoints().wait_finished(number, Clock::now() + kLong);
    lines = input.lines;
  }
  // What the first engine had comes out of the pool again: of the rest only an index of keys is new.
  const std::size_t before = bytes_in_use(), pool_before = BlockPool::in_use();
  const auto engine = make_engine(loaded, read_late ? &store.backend() : nullptr, matches);
  const Stopwatch taking_up;
  const auto restored =
      engine->restore(store.backend(), [](const Event& event, std::string_view) { return EventDraft(event).build(); });
  if (!restored || restored->keys != keys) std::abort();
  const double seconds = taking_up.seconds();
  const auto bytes = static_cast<double>(read_late ? bytes_in_use() - before : BlockPool::in_use() - pool_before);

  // A payment of each hundredth user, behind all that there is.
  EventDraft payment;
  payment.type = *loaded.network->fields().find("payment_fail");
  LineReader reader(lines, loaded.network->fields());
  Events payments;
  for (std::size_t i = 0; i < keys; i += 100) {
    const EventPtr cart = reader.decode(i);
    payment.fields.assign(cart->fields().begin(), cart->fields().end());
    payment.time = cart->time + std::chrono::hours(4);
    payment.position = {cart->position.source, 0, static_cast<std::int64_t>(keys + i)};
    payments.push_back(payment.build());
  }
  matches = 0;
  const Stopwatch touching;
  for (const EventPtr& event : payments) engine->push(event);
  Result line{"restart", read_late ? "keys read when touched" : "all read", "memory", keys};
  const double rate = static_cast<double>(keys) / seconds;
  line.rate = {rate, rate, rate};
  line.matches = matches;
  line.expected = payments.size();
  line.figures = {{"restore_s", seconds},
                  {"bytes_per_key", bytes / static_cast<double>(keys)},
                  {"stored_bytes_per_key", stored_bytes / static_cast<double>(keys)},
                  {"touch_us", touching.seconds() * 1e6 / static_cast<double>(payments.size())}};
  set_base(line, base);
  context.report.add(line);
  return rate;
}

enum class Keep : std::uint8_t { kNothing, kHowFar, kMessages };

double journal(const Context& context, const Input& input, Keep keep, const std::optional<CaseBase>& base) {
  static const char* const kNames[] = {"nothing stored", "how far it was read", "each message"};
  const Load loaded = load({"RULE w1 KEY user_id MATCH cart_add THEN payment_fail WITHIN 5m"});
  std::uint64_t matches = 0;
  Store store;
  const auto engine = make_engine(loaded, nullptr, matches);
  auto journal = state::Journal::open(store.backend(), 0).value();
  LineReader reader(input.lines, loaded.network->fields());
  const SourceId source("bench");
  state::CommitTicket ticket = 0;
  const double cpu_before = cpu_seconds();
  const Stopwatch whole;
  for (std::size_t i = 0; i < input.lines.size(); ++i) {
    const auto offset = static_cast<std::int64_t>(i);
    if (keep == Keep::kMessages) {
      journal.append(state::JournalMessage{{source, 0, offset}, {}, false, false, std::string(input.lines[i])}, {});
    } else if (keep == Keep::kHowFar) {
      journal.append(state::JournalTook{source, 0, offset}, {});
    }
    engine->push(reader.decode(i));
    if ((i + 1) % kBatch != 0 && i + 1 != input.lines.size()) continue;
    if (keep == Keep::kNothing) continue;
    state::WriteBatch batch;
    journal.drain(batch);
    ticket = store.committer().add(std::move(batch));
    store.committer().wait_room(Clock::now() + kLong);
  }
  if (keep != Keep::kNothing) store.committer().wait_durable(ticket, Clock::now() + kLong);
  const double seconds = whole.seconds();
  Result result{"journal", kNames[static_cast<std::size_t>(keep)], "json", input.lines.size()};
  const double rate = static_cast<double>(input.lines.size()) / seconds;
  result.rate = {rate, rate, rate};
  result.matches = matches;
  result.figures = {{"cpu_share", (cpu_seconds() - cpu_before) / seconds}};
  set_base(result, base);
  context.report.add(result);
  return rate;
}

}  // namespace

void run_restart(const Context& context) {
  const std::size_t keys = context.options.quick ? 2'000 : 1'000'000;
  const double all = isolated(context, "restart", "all read",
                              [&](const Context& inside) { return restart(inside, keys, false, std::nullopt); });
  isolated(context, "restart", "keys read when touched", [&](const Context& inside) {
    return restart(inside, keys, true, CaseBase{"all read", all});
  });
}

void run_journal(const Context& context) {
  const Input input(checkout::stream(context.options.events));
  const double nothing = isolated(context, "journal", "nothing stored", [&](const Context& inside) {
    return journal(inside, input, Keep::kNothing, std::nullopt);
  });
  for (const Keep keep : {Keep::kHowFar, Keep::kMessages}) {
    isolated(context, "journal", "stored", [&](const Context& inside) {
      return journal(inside, input, keep, CaseBase{"nothing stored", nothing});
    });
  }
}

}  // namespace cepd::bench
