#include "adapters/line_pusher.h"

#include <algorithm>
#include <utility>

namespace cepd::adapters {

LinePusher::LinePusher(SourceId source, MessageQueue& queue, std::size_t max_line, std::int64_t next,
                       std::int64_t skip_through)
    : source_(source), queue_(queue), max_line_(max_line), next_(next), skip_through_(skip_through) {}

bool LinePusher::feed(std::string_view chunk) {
  while (true) {
    const std::size_t end = chunk.find('\n');
    if (end == std::string_view::npos) {
      keep(chunk);
      return true;
    }
    const std::string_view piece = chunk.substr(0, end);
    chunk.remove_prefix(end + 1);
    if (!in_line()) {
      if (!take(piece, piece.size() > max_line_)) return false;
    } else {
      keep(piece);
      if (!finish()) return false;
    }
  }
}

bool LinePusher::finish() {
  if (!in_line()) return true;
  const bool taken = take(partial_, overlong_);
  discard_partial();
  return taken;
}

bool LinePusher::discard_partial() {
  const bool had = in_line();
  partial_.clear();
  overlong_ = false;
  return had;
}

void LinePusher::restart_at(std::int64_t next) {
  discard_partial();
  next_ = next;
  skip_through_ = next - 1;
}

void LinePusher::keep(std::string_view piece) {
  if (overlong_) return;
  overlong_ = piece.size() > max_line_ - partial_.size();
  partial_ += overlong_ ? piece.substr(0, kTooLongKept) : piece;
  if (overlong_) partial_.resize(std::min(partial_.size(), kTooLongKept));
}

bool LinePusher::take(std::string_view line, bool too_long) {
  const std::int64_t offset = next_++;
  if (offset <= skip_through_) return true;
  if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
  if (line.find_first_not_of(" \t\r") == std::string_view::npos) return true;
  Message message;
  message.position = {source_, 0, offset};
  message.bytes = too_long ? line.substr(0, kTooLongKept) : line;
  message.too_long = too_long;
  if (which_) {
    if (std::string which = std::exchange(which_, nullptr)(); !which.empty())
      message.origin = std::make_shared<const std::string>(std::move(which));
  }
  return queue_.push(std::move(message));
}

}  // namespace cepd::adapters
