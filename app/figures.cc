#include "app/figures.h"

namespace cepd::app {

Figures take_figures(const FigureParts& of, bool each_rule, const Clock& clock) {
  const engine::Engine& engine = of.pump.engine();
  Figures figures;
  figures.taken = clock.steady();
  figures.messages = of.pump.messages_by_source();
  for (int i = 0; i < kDropReasonCount; ++i) {
    const auto reason = static_cast<DropReason>(i);
    figures.dropped[static_cast<std::size_t>(i)] = of.dead_letter.count(reason) + of.late.count(reason);
  }
  figures.queued = of.queue.size();
  figures.events = engine.events();
  figures.waiting = engine.waiting();
  figures.seen_ids = engine.seen_ids();
  figures.watermark = engine.watermark();
  figures.rules = engine.network().rules().rules.size();
  figures.all_rules = of.pump.tally().all();
  if (each_rule) figures.by_rule = of.pump.tally().by_rule(engine.network());
  for (const std::string& name : of.deliverer.names()) {
    const auto& sender = of.dead_letter_sender;
    if (sender && sender->action() == name) {  // its calls wait in a file of theirs
      figures.actions.push_back({name, sender->waiting(), 0, of.outbox.limit(name), sender->counts()});
    } else {
      figures.actions.push_back(
          {name, of.outbox.size(name), of.outbox.bytes(name), of.outbox.limit(name), of.deliverer.counts(name)});
    }
  }
  figures.saving_fails = of.writer.failing().has_value();
  if (of.mirror != nullptr) figures.mirror = of.mirror->status();
  figures.run = of.run;
  return figures;
}

EngineFigures take_engine_figures(const engine::Engine& engine, bool each_rule, const Clock& clock) {
  EngineFigures figures;
  figures.keys = engine.key_counts();
  for (engine::RuleCounts& rule : engine.counted()) {
    figures.over_cap += rule.over_cap;
    if (each_rule && rule.over_cap + rule.expression_errors > 0) figures.by_rule.push_back(std::move(rule));
  }
  figures.taken = clock.steady();
  return figures;
}

std::shared_ptr<const Figures> FigureBox::get(std::chrono::steady_clock::time_point deadline,
                                              const std::function<void()>& wake) {
  std::unique_lock lock(mutex_);
  const std::shared_ptr<const Figures> before = figures_;
  asked_ = true;
  lock.unlock();
  wake();
  lock.lock();
  changed_.wait_until(lock, deadline, [&] { return closed_ || figures_ != before; });
  return figures_;
}

void FigureBox::put(Figures figures) {
  auto made = std::make_shared<const Figures>(std::move(figures));
  const std::lock_guard lock(mutex_);
  figures_.swap(made);
  changed_.notify_all();
}

void FigureBox::close() {
  const std::lock_guard lock(mutex_);
  closed_ = true;
  changed_.notify_all();
}

}  // namespace cepd::app
