#include "app/summary.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <string>

namespace cepd::app {

void log_summary(const SummaryParts& of, std::chrono::duration<double> ran) {
  const engine::Engine& engine = of.pump.engine();
  const double seconds = ran.count();
  spdlog::info("{} messages read, {} events handled in {:.1f} s ({:.0f} events/s), {} waiting", of.pump.messages(),
               engine.events(), seconds, static_cast<double>(engine.events()) / std::max(seconds, 1e-3),
               engine.waiting());
  std::size_t quiet = 0;
  for (const engine::RuleCounts& rule : engine.counts()) {
    if (rule.matches + rule.timeouts + rule.by_having + rule.by_policy + rule.partial_matches + rule.over_cap == 0) {
      ++quiet;
      continue;
    }
    spdlog::info(
        "rule {}: {} matches, {} time-outs, {} suppressed, {} dropped by HAVING, {} by policy; {} partial matches",
        rule.rule, rule.matches, rule.timeouts, rule.suppressed, rule.by_having, rule.by_policy_text(),
        rule.partial_matches);
    if (rule.expression_errors > 0)
      spdlog::warn("rule {}: {} unknown values from unlike types, overflow or division", rule.rule,
                   rule.expression_errors);
    if (rule.over_cap > 0)
      spdlog::warn("rule {}: {} partial matches dropped at the cap of one key", rule.rule, rule.over_cap);
  }
  if (const auto keys = engine.key_counts(); keys.cold + keys.loaded > 0) {
    spdlog::info("keys: {} in memory and {} on disk only; {} forgotten and {} read while cepd ran", keys.here,
                 keys.cold, keys.evicted, keys.loaded);
  }
  if (const auto forgotten = engine.seen_ids().forgotten; forgotten > 0)
    spdlog::warn("{} ids forgotten before their time: dedup_most of the source is too small", forgotten);
  if (quiet > 0) spdlog::info("{} rules without a match", quiet);
  for (int i = 0; i < kDropReasonCount; ++i) {
    const auto reason = static_cast<DropReason>(i);
    const std::uint64_t count = of.dead_letter.count(reason) + of.late.count(reason);
    if (count > 0) spdlog::warn("{} events dropped: {}", count, drop_reason_name(reason));
  }
  for (const std::string& action : of.deliverer.names()) {
    const actions::ActionCounts counts = of.deliverer.counts(action);
    if (counts.delivered + counts.retried + counts.rejected + of.outbox.size(action) == 0) continue;
    spdlog::info("action {}: {} delivered, {} retries, {} rejected, {} left for the next start", action,
                 counts.delivered, counts.retried, counts.rejected, of.outbox.size(action));
  }
}

}  // namespace cepd::app
