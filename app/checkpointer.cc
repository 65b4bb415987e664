#include "app/checkpointer.h"

#include <spdlog/spdlog.h>

#include <utility>

#include "app/stored_rules.h"
#include "base/block_pool.h"

namespace cepd::app {
namespace {

constexpr std::chrono::milliseconds kWait{200};
/// Of a checkpoint, between two batches of messages: about half a millisecond's work.
constexpr std::size_t kHandedOver = std::size_t{128} << 10;
/// Keys, likewise.
constexpr std::size_t kForgotten = 512;

}  // namespace

Checkpointer::Checkpointer(Parts parts, Options options, const Clock& clock, std::function<void()> alive,
                           std::function<void(const Positions&)> stored)
    : to_(parts),
      options_(options),
      clock_(clock),
      alive_(std::move(alive)),
      stored_(std::move(stored)),
      last_(clock.steady()) {}

void Checkpointer::begin() {
  due_ = under_way();
  if (under_way()) return;
  last_ = clock_.steady();
  to_.dead_letter.flush();
  to_.late.flush();
  to_.pump.flush();
  state::WriteBatch changes = to_.pump.begin_save();
  if (unsaved_rules_) put_rules(changes, *std::exchange(unsaved_rules_, std::nullopt));
  number_ = to_.writer.begin_checkpoint();
  to_.writer.add_to_checkpoint(std::move(changes));
  handing_over_ = true;
  to_.measures.stalled(clock_.steady() - last_);
}

void Checkpointer::hand_over() {
  const auto began = clock_.steady();
  state::WriteBatch part;
  handing_over_ = to_.pump.save_some(part, kHandedOver);
  to_.writer.add_to_checkpoint(std::move(part));
  if (!handing_over_) to_.writer.complete_checkpoint();
  to_.measures.stalled(clock_.steady() - began);
}

void Checkpointer::finished() {
  number_.reset();
  ended_ = clock_.steady();
  stored_(to_.pump.saved());
}

void Checkpointer::tick() {
  if (handing_over_) hand_over();
  if (under_way() && !handing_over_ && to_.writer.wait_checkpoint(*number_, {})) finished();
  if (under_way()) return;
  const bool over = options_.memory != 0 && BlockPool::in_use() > options_.memory;
  // Where nothing more can be forgotten the next checkpoint stores what has changed since.
  const bool wanted = over && !to_.pump.evict(kForgotten);
  if (due_ || (may_begin() && (wanted || clock_.steady() - last_ >= options_.interval))) begin();
}

bool Checkpointer::keep_budget() {
  const std::size_t most = options_.memory + options_.memory / 4;
  if (options_.memory == 0 || BlockPool::in_use() <= most) return true;
  if (!under_way() && !to_.pump.evict(kForgotten)) {
    if (!may_begin()) return true;
    begin();
  }
  if (!wait_finished()) return false;
  while (BlockPool::in_use() > options_.memory && to_.pump.evict(kForgotten)) alive_();
  if (BlockPool::in_use() > most && !std::exchange(warned_, true)) {
    spdlog::warn(
        "state.memory is {} MiB, and what is in use all the time takes {} MiB: it stays in memory, and cepd stores it "
        "again and again; a larger state.memory is faster",
        options_.memory >> 20, BlockPool::in_use() >> 20);
  }
  return true;
}

void Checkpointer::wait_some() { to_.writer.wait_checkpoint(*number_, clock_.steady() + kWait); }

bool Checkpointer::wait_finished() {
  while (under_way()) {
    if (handing_over_) hand_over();
    if (!handing_over_ && to_.writer.wait_checkpoint(*number_, clock_.steady() + kWait)) {
      finished();
    } else if (to_.writer.failing()) {
      return false;
    }
    alive_();
  }
  return true;
}

}  // namespace cepd::app
