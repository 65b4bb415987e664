#pragma once
/// Moves messages from the sources through decoder and engine into the outbox, and says what it did to the journal. The
/// daemon's one matching thread.
///
/// Life: restore(); replay_*() for what the journal holds behind the checkpoint; write_to(); then the rest.

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "adapters/dead_letter.h"
#include "adapters/open.h"
#include "app/group_writer.h"
#include "app/made_types.h"
#include "app/rule_tally.h"
#include "base/clock.h"
#include "engine/engine.h"
#include "state/backend.h"
#include "state/outbox.h"

namespace cepd::app {

class Pump {
 public:
  struct Sinks {
    adapters::DeadLetterFile* dead_letter = nullptr;
    adapters::DeadLetterFile* late = nullptr;  ///< may be the same
    state::Outbox* outbox = nullptr;
  };

  Pump(std::shared_ptr<const nfa::Network> network, engine::EngineOptions options,
       std::vector<adapters::SourceSettings> sources, state::StateBackend& backend, Sinks sinks, const Clock& clock);

  /// Reads the saved state, and the outbox from call number `outbox_next` on. The counts are for the log.
  Result<engine::Engine::Restored> restore(std::uint64_t outbox_next);
  /// What was taken, in this run or before, of all sources.
  Positions positions() const;

  /// Of which file that is (adapters: Message::origin); empty where it is none or not known.
  std::string origin(const SourceId& source) const;

  /// What the journal says was done. False for a source that the configuration does not have any more.
  bool replay(const adapters::Message& message, bool future);
  void replay_idle(const SourceId& source, std::int32_t partition);
  void replay_origin(const SourceId& source, std::string origin) {
    partitions_[{source, 0}].origin = std::move(origin);
  }
  void replay_begins(const SourcePosition& next);
  void replay_advance(EventTime watermark) { engine_.advance(watermark); }

  /// From now on everything is told to `writer`, which outlives the pump.
  void write_to(GroupWriter& writer) { writer_ = &writer; }

  /// Decodes and matches it, and hands on its receipt.
  void take(const adapters::Message& message);
  /// Handles and reports what take() has left (with several lanes). Call when nothing more is there to be taken.
  void flush() {
    engine_.flush();
    settled_ = true;
  }
  /// Nothing that was taken is left to be handled, so that the engine's counts need not wait for its lanes.
  bool settled() const { return settled_; }
  /// Idle partitions and the clock (language.md section 7). Call at least every few hundred milliseconds. Partitions of
  /// sources that are `away` do not become idle, and the clock does not move time past what they will bring.
  void tick(const std::set<SourceId>& away = {});
  /// No input is taken now, whatever the sources have: no partition is quiet for that. Call it again and again.
  void rest();
  /// The input has ended for good.
  void finish() { engine_.finish(); }

  /// Begins to hand over what has changed in the engine and the positions since the last time, as it is now; the caller
  /// makes it durable. The first part is returned; save_some() appends the next one, a little over `most_bytes`, and
  /// is false with the last. Messages may be taken in between.
  state::WriteBatch begin_save();
  bool save_some(state::WriteBatch& batch, std::size_t most_bytes) { return engine_.save_some(batch, most_bytes); }
  Result<std::size_t> drop_strangers() { return engine_.drop_strangers(); }
  /// What was handed over is durable. The positions in it.
  const Positions& saved() {
    engine_.saved();
    return saved_positions_;
  }
  /// Engine::evict(). False without a state that keys can be read from.
  bool evict(std::size_t most_keys) { return engine_.evict(most_keys); }
  /// Returns how many rules kept their partial matches.
  std::size_t swap(std::shared_ptr<const nfa::Network> network);

  const engine::Engine& engine() const { return engine_; }
  std::uint64_t messages() const { return messages_; }
  /// Of every source that the configuration has, in the order of their names.
  std::vector<std::pair<std::string, std::uint64_t>> messages_by_source() const;
  const RuleTally& tally() const { return tally_; }

 private:
  struct SourceState {
    adapters::SourceSettings settings;
    std::unique_ptr<adapters::JsonDecoder> decoder;
  };
  struct PartitionState {
    std::int64_t position = -1;
    std::string origin;          ///< of the file that the position is in
    std::uint64_t messages = 0;  ///< taken in this run
    std::chrono::steady_clock::time_point last_input;
    bool idle = true;
  };
  void begins(const SourcePosition& next);
  void idle(const PartitionId& id);
  void reached(const SourcePosition& position);
  /// Null when it is no event: then it is in the dead letters.
  EventPtr decode(SourceState& source, const adapters::Message& message);
  void drop_future(const Event& event, const adapters::Message& message);
  /// `source` has just decoded it.
  void push(EventPtr event, const SourceState& source);
  /// Of which `id` is the whole or a part; null for one that the configuration does not have.
  SourceState* source_of(const SourceId& id);
  EventPtr decode_again(const Event& event, std::string_view type);
  std::string late_detail(const Event& event, DropReason reason) const;
  void report(const engine::MatchView& view);

  const Clock& clock_;
  GroupWriter* writer_ = nullptr;
  state::StateBackend& backend_;
  Sinks sinks_;
  std::map<SourceId, SourceState> sources_;
  std::map<SourceId, SourceState*> parts_;  ///< what was looked up: wholes, topics, and null for what is not there
  adapters::JsonDecoder any_decoder_{{}};
  std::map<PartitionId, PartitionState> partitions_;
  Positions saved_positions_;  ///< of the last begin_save()
  std::chrono::steady_clock::time_point started_;
  std::uint64_t messages_ = 0;
  bool settled_ = true;
  /// The last message, or the last move of the clock.
  std::chrono::steady_clock::time_point taken_;
  RuleTally tally_;
  MadeTypes made_types_;
  engine::Engine engine_;
};

}  // namespace cepd::app
