#include "app/pump.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <cstdlib>

#include "app/action_calls.h"
#include "base/fault.h"
#include "state/layout.h"

namespace cepd::app {
namespace {

std::string position_key(const SourceId& source, std::int32_t partition) {
  return state::ordered_key(static_cast<std::uint32_t>(partition)) + source.name();
}

}  // namespace

Pump::Pump(std::shared_ptr<const nfa::Network> network, engine::EngineOptions options,
           std::vector<adapters::SourceSettings> sources, state::StateBackend& backend, Sinks sinks, const Clock& clock)
    : clock_(clock),
      backend_(backend),
      sinks_(sinks),
      started_(clock.steady()),
      tally_(*network),
      engine_(std::move(network), options,
              {[this](const engine::MatchView& match) { report(match); },
               [this](const Event& event, DropReason reason, std::string_view raw) {
                 // That it came before is not worth keeping: it is not lost.
                 if (reason == DropReason::kDuplicate)
                   return sinks_.dead_letter->note(reason, event.position, "its id has come before");
                 sinks_.late->add(reason, event.position, late_detail(event, reason), raw);
               },
               // On any lane's thread. What is stored stays as it is; what was done since is done again.
               [](const Error& reason) {
                 spdlog::critical("the state cannot be read any more, `cepd state verify` says more: {}",
                                  reason.message);
                 spdlog::default_logger()->flush();
                 std::_Exit(1);
               }}) {
  for (adapters::SourceSettings& settings : sources) {
    const SourceId id(settings.name);
    auto decoder = std::make_unique<adapters::JsonDecoder>(settings.decoder);
    sources_.emplace(id, SourceState{std::move(settings), std::move(decoder)});
  }
}

std::string Pump::late_detail(const Event& event, DropReason reason) const {
  const std::string times =
      "event time " + format_rfc3339(event.time) + ", watermark " + format_rfc3339(engine_.watermark());
  if (reason == DropReason::kLate) return times + "; a larger max_delay of the source lets events come later";
  return times +
         "; the source had been quiet for its idle_after, and time went on without it: a larger max_delay or "
         "idle_after keeps "
         "such events";
}

Pump::SourceState* Pump::source_of(const SourceId& id) {
  const auto [part, is_new] = parts_.try_emplace(id);
  if (is_new) {
    if (const auto whole = sources_.find(adapters::whole_of(id)); whole != sources_.end()) {
      part->second = &whole->second;
      engine_.set_max_delay(id, whole->second.settings.max_delay);
    }
  }
  return part->second;
}

void Pump::report(const engine::MatchView& view) {
  tally_.count(view);
  for (state::OutboxRecord& record : action_calls(*view.take())) {
    record.taken = taken_;
    sinks_.outbox->add(std::move(record));
  }
}

EventPtr Pump::decode_again(const Event& event, std::string_view type) {
  const SourceState* source = source_of(event.position.source);
  // Of a source that an earlier configuration had: any decoder reads JSON, and the type and time are known.
  adapters::JsonDecoder& decoder = source != nullptr ? *source->decoder : any_decoder_;
  return decoder.decode_again(event, type, engine_.network().fields());
}

Result<engine::Engine::Restored> Pump::restore(std::uint64_t outbox_next) {
  CEPD_TRY(backend_.scan(state::Space::kPositions, {}, [&](std::string_view key, std::string_view record) -> Status {
    state::Reader in(record);
    const std::int64_t offset = in.signed_number();
    const std::string_view origin = in.at_end() ? std::string_view() : in.text();
    if (!in.at_end() || key.size() <= sizeof(std::uint64_t))
      return error(Errc::kCorrupt, "a stored source position does not read back");
    const auto partition = static_cast<std::int32_t>(state::read_ordered(key));
    PartitionState restored;
    restored.position = offset;
    restored.origin = origin;
    const SourceId source(key.substr(sizeof(std::uint64_t)));
    source_of(source);  // so that the engine knows its max_delay
    partitions_[{source, partition}] = restored;
    return {};
  }));
  CEPD_TRY(sinks_.outbox->load(backend_, outbox_next));
  auto restored = engine_.restore(
      backend_, [this](const Event& event, std::string_view type) { return decode_again(event, type); });
  // What was awake when the state was saved has the usual time to bring its next event.
  for (auto& [id, partition] : partitions_) {
    partition.last_input = clock_.steady();
    partition.idle = false;
  }
  return restored;
}

Positions Pump::positions() const {
  Positions positions;
  for (const auto& [id, partition] : partitions_) positions.emplace(id, partition.position);
  return positions;
}

std::string Pump::origin(const SourceId& source) const {
  const auto it = partitions_.find({source, 0});
  return it == partitions_.end() ? std::string() : it->second.origin;
}

void Pump::take(const adapters::Message& message) {
  fault(FaultPoint::kTake);
  const SourcePosition& position = message.position;
  if (message.kind == adapters::MessageKind::kBegins) {
    begins(position);
    return writer_->begins(position);
  }
  if (message.kind == adapters::MessageKind::kQuiet) {
    // Where it has become quiet by itself nothing has to be said.
    if (!partitions_[{position.source, position.partition}].idle) idle({position.source, position.partition});
    return;
  }
  if (message.origin) {
    partitions_[{position.source, position.partition}].origin = *message.origin;
    writer_->origin(position.source, *message.origin);
  }
  SourceState& source = *source_of(position.source);
  reached(position);
  EventPtr event = decode(source, message);
  // One bad clock must not make the whole fleet late.
  const bool future = event && event->time > saturating_add(clock_.now(), source.settings.max_future);
  writer_->took(message, source.settings.replayable, future);
  if (!event) return;
  if (future) return drop_future(*event, message);
  push(std::move(event), source);
}

bool Pump::replay(const adapters::Message& message, bool future) {
  SourceState* source = source_of(message.position.source);
  if (source == nullptr) return false;
  reached(message.position);
  EventPtr event = decode(*source, message);
  if (!event) return true;
  if (future) {
    drop_future(*event, message);
  } else {
    push(std::move(event), *source);
  }
  return true;
}

void Pump::replay_idle(const SourceId& source, std::int32_t partition) {
  partitions_[{source, partition}].idle = true;
  engine_.set_idle(source, partition);
}

void Pump::replay_begins(const SourcePosition& next) { begins(next); }

void Pump::begins(const SourcePosition& next) {
  source_of(next.source);
  PartitionState& partition = partitions_[{next.source, next.partition}];
  partition.position = next.offset - 1;
  partition.last_input = clock_.steady();
  partition.idle = false;
  engine_.set_awake(next.source, next.partition);
}

void Pump::idle(const PartitionId& id) {
  partitions_[id].idle = true;
  engine_.set_idle(id.first, id.second);
  writer_->idle(id.first, id.second);
}

void Pump::reached(const SourcePosition& position) {
  ++messages_;
  PartitionState& partition = partitions_[{position.source, position.partition}];
  partition.position = position.offset;
  ++partition.messages;
  partition.last_input = taken_ = clock_.steady();
  partition.idle = false;
}

EventPtr Pump::decode(SourceState& source, const adapters::Message& message) {
  auto decoded = source.decoder->decode(message, engine_.network().fields());
  if (auto* event = std::get_if<EventPtr>(&decoded)) return std::move(*event);
  const auto& failed = std::get<adapters::DecodeError>(decoded);
  sinks_.dead_letter->add(failed.reason, message.position, failed.detail, message.bytes, message.topic);
  return nullptr;
}

void Pump::drop_future(const Event& event, const adapters::Message& message) {
  sinks_.dead_letter->add(DropReason::kFuture, message.position, "event time " + format_rfc3339(event.time),
                          message.bytes, message.topic);
}

void Pump::push(EventPtr event, const SourceState& source) {
  if (const auto warning = made_types_.from_source(engine_.network(), event->type)) spdlog::warn("{}", *warning);
  const adapters::JsonDecoder& decoder = *source.decoder;
  if (const auto& id = decoder.id()) {
    engine_.push(std::move(event), decoder.text(), *id, source.settings.most_ids);
  } else {
    engine_.push(std::move(event), decoder.text());
  }
  settled_ = false;
}

void Pump::tick(const std::set<SourceId>& away) {
  const auto now = taken_ = clock_.steady();
  bool all_idle = away.empty();
  Micros longest_delay{0};
  for (auto& [id, partition] : partitions_) {
    const SourceState* source = source_of(id.first);
    // Of an earlier configuration: nothing comes from it any more.
    const bool gone = source == nullptr;
    if (away.contains(adapters::whole_of(id.first))) partition.last_input = now;
    if (!partition.idle && (gone || now - partition.last_input >= source->settings.idle_after)) idle(id);
    all_idle = all_idle && partition.idle;
  }
  for (const auto& [id, source] : sources_) {
    longest_delay = std::max(longest_delay, source.settings.max_delay);
    // A source that has sent nothing yet may have been away for only a moment.
    all_idle = all_idle && now - started_ >= source.settings.idle_after;
  }
  if (!all_idle) return;
  const EventTime watermark = saturating_add(clock_.now(), -longest_delay);
  engine_.advance(watermark);
  writer_->advance(watermark);
}

void Pump::rest() {
  for (auto& [id, partition] : partitions_) partition.last_input = clock_.steady();
}

state::WriteBatch Pump::begin_save() {
  state::WriteBatch batch;
  engine_.begin_save();
  saved_positions_ = positions();
  for (const auto& [id, position] : saved_positions_) {
    state::Writer record;
    record.signed_number(position);
    if (const std::string& origin = partitions_[id].origin; !origin.empty()) record.text(origin);
    batch.put(state::Space::kPositions, position_key(id.first, id.second), record.take());
  }
  return batch;
}

std::size_t Pump::swap(std::shared_ptr<const nfa::Network> network) {
  // What the engine has still to report is of the rules before.
  engine_.flush();
  tally_.swap(engine_.network(), *network);
  return engine_.swap(std::move(network),
                      [this](const Event& event, std::string_view type) { return decode_again(event, type); });
}

std::vector<std::pair<std::string, std::uint64_t>> Pump::messages_by_source() const {
  std::map<std::string, std::uint64_t> messages;
  for (const auto& [id, source] : sources_) messages.emplace(id.name(), 0);
  for (const auto& [id, partition] : partitions_) {
    const auto part = parts_.find(id.first);
    if (part != parts_.end() && part->second != nullptr) messages[part->second->settings.name] += partition.messages;
  }
  return {messages.begin(), messages.end()};
}

}  // namespace cepd::app
