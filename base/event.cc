#include "base/event.h"

#include <cstring>
#include <new>

#include "base/block_pool.h"
#include "base/check.h"

namespace cepd {
namespace {

/// Appends text to a block.
class TextEnd {
 public:
  explicit TextEnd(char* end) : end_(end) {}
  std::string_view add(std::string_view text) {
    if (text.empty()) return {};
    std::memcpy(end_, text.data(), text.size());
    const std::string_view copy(end_, text.size());
    end_ += text.size();
    return copy;
  }

 private:
  char* end_;
};

}  // namespace

EventDraft::EventDraft(const Event& event)
    : time(event.time),
      type(event.type),
      other_type(event.other_type()),
      position(event.position),
      maker(event.maker() != nullptr ? std::optional(*event.maker()) : std::nullopt),
      shadow(event.shadow),
      sequence(event.sequence),
      fields(event.fields().begin(), event.fields().end()),
      raw(event.raw()) {}

EventPtr EventDraft::build() const {
  const bool rare = !other_type.empty() || !raw.empty() || maker.has_value();
  std::size_t text = other_type.size() + raw.size();
  for (const Value& value : fields) text += value.is_text() ? value.text().size() : 0;
  const std::size_t fixed = sizeof(Event) + (rare ? sizeof(Event::Rare) : 0) + fields.size() * sizeof(Value);
  CEPD_CHECK(fields.size() <= UINT16_MAX && fixed + text <= UINT32_MAX);

  auto* block = static_cast<std::byte*>(BlockPool::allocate(fixed + text));
  auto* event = new (block) Event;
  event->time = time;
  event->sequence = sequence;
  event->position = position;
  event->type = type;
  event->shadow = shadow;
  event->has_rare_ = rare;
  event->field_count_ = static_cast<std::uint16_t>(fields.size());
  event->bytes_ = static_cast<std::uint32_t>(fixed + text);
  TextEnd end(reinterpret_cast<char*>(block + fixed));
  if (rare) {
    auto* part = new (block + sizeof(Event)) Event::Rare;
    part->other_type = end.add(other_type);
    part->raw = end.add(raw);
    part->maker = maker;
  }
  auto* values = const_cast<Value*>(event->values());
  for (std::size_t i = 0; i < fields.size(); ++i) {
    const Value& value = fields[i];
    if (value.kind() == Kind::kString) {
      new (values + i) Value(Value::string(end.add(value.text())));
    } else if (value.kind() == Kind::kJson) {
      new (values + i) Value(Value::json(end.add(value.text())));
    } else {
      new (values + i) Value(value);
    }
  }
  // Nobody else knows the event yet: its first reference needs no atomic addition.
  event->references_.store(1, std::memory_order_relaxed);
  return EventPtr(event, /*add_ref=*/false);
}

void Event::destroy(const Event* event) {
  const std::size_t bytes = event->bytes_;
  event->~Event();  // the header, the rare part and the values own nothing
  BlockPool::release(const_cast<Event*>(event), bytes);
}

}  // namespace cepd
