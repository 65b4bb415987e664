#pragma once
/// One event as the engine sees it: its place in time and in its source, and the fields that rules read.
///
/// An event is one block of memory: header, field values, then their text; blocks come from a pool (block_pool.h), so
/// that a steady stream of events allocates nothing. Made by EventDraft::build(); shared by the partial matches that
/// hold it and never changed after the engine has numbered it. Safe to share between threads then.

#include <atomic>
#include <boost/smart_ptr/intrusive_ptr.hpp>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/ids.h"
#include "base/value.h"

namespace cepd {

class Event;
using EventPtr = boost::intrusive_ptr<const Event>;

class Event {
 public:
  EventTime time{};
  /// Place in the engine's total order, given when the event is handled; an event is pushed into one engine once.
  mutable std::uint64_t sequence = 0;
  SourcePosition position;  ///< of a derived event: none, `maker` stands for it
  TypeId type = kOtherType;
  bool shadow = false;  ///< made by a SHADOW rule or one fed by such: read by SHADOW rules only

  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;

  /// By slot of the FieldPlan's type; what is missing at the end is null.
  const Value& field(std::size_t slot) const {
    static const Value kNullValue = Value::null();
    return slot < field_count_ ? values()[slot] : kNullValue;
  }
  std::span<const Value> fields() const { return {values(), field_count_}; }

  /// The type's name when `type` is kOtherType, else empty.
  std::string_view other_type() const { return has_rare_ ? rare().other_type : std::string_view{}; }
  /// The match that made a derived event (EMIT … INTO); null for one from a source.
  const MatchId* maker() const { return has_rare_ && rare().maker ? &*rare().maker : nullptr; }
  /// The bytes it was decoded from, where they are kept.
  std::string_view raw() const { return has_rare_ ? rare().raw : std::string_view{}; }

  std::size_t bytes() const { return bytes_; }  ///< of the block

 private:
  friend struct EventDraft;
  friend void intrusive_ptr_add_ref(const Event* event) { event->references_.fetch_add(1, std::memory_order_relaxed); }
  friend void intrusive_ptr_release(const Event* event) {
    // The only owner needs no atomic step: nobody else can take a reference any more.
    if (event->references_.load(std::memory_order_acquire) == 1 ||
        event->references_.fetch_sub(1, std::memory_order_acq_rel) == 1) {
      destroy(event);
    }
  }
  static void destroy(const Event* event);

  /// What few events have; stands behind the header.
  struct Rare {
    std::string_view other_type, raw;
    std::optional<MatchId> maker;
  };

  Event() = default;
  const Rare& rare() const { return *reinterpret_cast<const Rare*>(this + 1); }
  const Value* values() const {
    const auto* after = reinterpret_cast<const std::byte*>(this + 1) + (has_rare_ ? sizeof(Rare) : 0);
    return reinterpret_cast<const Value*>(after);
  }

  bool has_rare_ = false;
  std::uint16_t field_count_ = 0;
  mutable std::atomic<std::uint32_t> references_{0};
  std::uint32_t bytes_ = 0;
};

/// What an event is made from. Its texts only have to live until build(), which copies them.
struct EventDraft {
  EventTime time{};
  TypeId type = kOtherType;
  std::string_view other_type;
  SourcePosition position;
  std::optional<MatchId> maker;
  bool shadow = false;
  std::uint64_t sequence = 0;
  std::vector<Value> fields;
  std::string_view raw;

  EventDraft() = default;
  /// All that `event` has; its texts are the event's.
  explicit EventDraft(const Event& event);

  EventPtr build() const;
};

}  // namespace cepd
