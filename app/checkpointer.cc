#include "app/checkpointer.h"

#include <utility>

#include "app/stored_rules.h"

namespace cepd::app {
namespace {

constexpr std::chrono::milliseconds kWait{200};
/// Of a checkpoint, between two batches of messages: about half a millisecond's work.
constexpr std::size_t kHandedOver = std::size_t{128} << 10;

}  // namespace

Checkpointer::Checkpointer(Parts parts, Micros interval, const Clock& clock, std::function<void()> alive)
    : to_(parts), interval_(interval), clock_(clock), alive_(std::move(alive)), last_(clock.steady()) {}

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

void Checkpointer::tick() {
  if (handing_over_) hand_over();
  if (under_way() && !handing_over_ && to_.writer.wait_checkpoint(*number_, {})) number_.reset();
  if (!under_way() && (due_ || clock_.steady() - last_ >= interval_)) begin();
}

void Checkpointer::wait_some() { to_.writer.wait_checkpoint(*number_, clock_.steady() + kWait); }

bool Checkpointer::wait_finished() {
  while (under_way()) {
    if (handing_over_) hand_over();
    if (!handing_over_ && to_.writer.wait_checkpoint(*number_, clock_.steady() + kWait)) {
      number_.reset();
    } else if (to_.writer.failing()) {
      return false;
    }
    alive_();
  }
  return true;
}

}  // namespace cepd::app
