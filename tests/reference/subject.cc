#include "tests/reference/subject.h"

#include <map>

#include "adapters/decoder.h"
#include "base/check.h"
#include "engine/engine.h"
#include "state/memory_backend.h"
#include "tests/plain/match_text.h"
#include "tests/plain/plain.h"
#include "tests/reference/reload.h"

namespace cepd::reference {
namespace {

constexpr std::string_view kTypeField = "\x01type";
constexpr std::string_view kTimeField = "\x01time";

/// `keep_raw`: events carry the bytes that they are read again from after a reload.
adapters::JsonDecoder make_decoder(bool keep_raw) {
  adapters::DecoderOptions out;
  out.type_field = FieldPath::of(std::string(kTypeField));
  out.time_field = FieldPath::of(std::string(kTimeField));
  out.time_unit = TimeUnit::kMicros;
  out.keep_raw = keep_raw;
  return adapters::JsonDecoder(out);
}

adapters::Message message_of(const Given& given) {
  adapters::Message out;
  out.position = {SourceId(given.source), given.partition, given.offset};
  out.bytes = json_of(given, std::string(kTypeField), std::string(kTimeField));
  return out;
}

cepd::EventPtr decoded(adapters::JsonDecoder& decoder, const adapters::Message& message, const FieldPlan& fields) {
  auto result = decoder.decode(message, fields);
  auto* event = std::get_if<cepd::EventPtr>(&result);
  CEPD_CHECK(event != nullptr);
  return std::move(*event);
}

/// Writes down what is reported.
class Record {
 public:
  void add(const Match& match) {
    Line line;
    line.kind = match.kind == MatchKind::kMatch ? ResultKind::kMatch : ResultKind::kTimeout;
    line.rule = match.rule;
    for (const auto& [path, value] : match.key) {
      line.key.emplace_back(std::get<std::string>(path.steps.back()), value);
    }
    line.time = match.time;
    for (const Binding& binding : match.bindings) {
      auto& places = line.bindings.emplace_back(binding.name, std::vector<std::string>{}).second;
      for (const cepd::EventPtr& event : binding.events) {
        places.push_back(event->maker() != nullptr ? maker_text(*event) : place_text(event->position));
      }
    }
    for (const NamedValue& item : match.emit) line.emit.emplace_back(item.name, item.value);
    line.suppressed = match.suppressed;
    line.shadow = match.shadow;
    // An id is that of what the match binds, a derived event having its maker's id for a position; on two branches of
    // an OR the same may complete at two times.
    Line bound = line;
    for (std::size_t i = 0; i < match.bindings.size(); ++i) {
      for (std::size_t k = 0; k < match.bindings[i].events.size(); ++k) {
        const MatchId* maker = match.bindings[i].events[k]->maker();
        if (maker != nullptr) bound.bindings[i].second[k] = to_string(*maker);
      }
    }
    bound.time = {};
    bound.emit.clear();
    bound.suppressed = bound.shadow = false;
    numbers_.emplace(std::pair(match.id, match.time), outcome_.results.size());
    const bool own_id = ids_.emplace(match.id, text_of(bound)).first->second == text_of(bound);
    outcome_.results.push_back(text_of(line) + (own_id ? "" : " with the id of another"));
    outcome_.in_full.push_back(plain::text_of(match));
  }

  /// `counts`: of the engine or of the plain one.
  template <class Counts>
  void add(const Counts& counts) {
    std::string line = "counts of " + counts.rule;
    const auto add_one = [&](const char* name, std::uint64_t count) {
      if (count != 0) line += ", " + std::to_string(count) + " " + name;
    };
    add_one("matches", counts.matches);
    add_one("time-outs", counts.timeouts);
    add_one("dropped by HAVING", counts.by_having);
    add_one("dropped by AFTER MATCH", counts.by_policy);
    add_one("suppressed", counts.suppressed);
    add_one("over the cap", counts.over_cap);
    add_one("without a key", counts.missing_key);
    outcome_.in_full.push_back(std::move(line));
  }

  Outcome take() { return std::move(outcome_); }

 private:
  std::string maker_text(const cepd::Event& event) const {
    const auto number = numbers_.find({*event.maker(), event.time});
    return number == numbers_.end() ? "an unknown maker" : place_text(number->second);
  }

  Outcome outcome_;
  // Of the results by their ids and times: one match may complete at two times.
  std::map<std::pair<MatchId, EventTime>, std::size_t> numbers_;
  std::map<MatchId, std::string> ids_;  // what they are the ids of
};

/// An engine that can be replaced by one restored from its saved state.
class EngineSubject {
 public:
  EngineSubject(const Trial& trial, std::shared_ptr<const nfa::Network> network, const Drive& drive)
      : trial_(trial), drive_(drive), network_(std::move(network)) {
    make();
  }

  void give(const Given& given) {
    const adapters::Message message = message_of(given);
    engine_->push(decoded(decoder_, message, network_->fields()), message.bytes);
    ++given_;
    if (drive_.evicted_every != 0) save_and_evict();
    if (drive_.restored_every != 0 && given_ % drive_.restored_every == 0) restore();
  }
  void reload(const std::shared_ptr<const nfa::Network>& network) {
    note_counts();
    std::map<std::string, engine::RuleCounts> kept;
    for (const dsl::plan::Rule& old : network_->rules().rules) {
      for (const dsl::plan::Rule& rule : network->rules().rules) {
        if (old.fingerprint == rule.fingerprint) kept[rule.name] = before_[old.name];
      }
    }
    before_ = std::move(kept);
    network_ = network;
    engine_->swap(network_, decode_again());
    // Not restored: whatever was stored under the rules before must be gone by itself.
    if (drive_.restored_every != 0) {
      if (saving_) end_save(SIZE_MAX / 2);
      save();
    }
  }
  Outcome finish() {
    engine_->finish();
    note_counts();
    Outcome outcome = record_.take();
    outcome.read_again = engine_->key_counts().loaded;
    return outcome;
  }

 private:
  void make() {
    engine::EngineOptions options;
    options.track_changes = drive_.restored_every != 0 || drive_.evicted_every != 0;
    if (drive_.evicted_every != 0) options.stored = backend_.get();
    options.lanes = drive_.lanes;
    options.lane_batch = drive_.lane_batch;
    options.index_runs_from = drive_.index_from;
    options.state_ttl = trial_.state_ttl;
    if (trial_.cap) options.max_partial_matches = *trial_.cap;
    engine_ = std::make_unique<engine::Engine>(
        network_, options,
        engine::Engine::Handlers{[this](const engine::MatchView& match) { record_.add(*match.take()); },
                                 [](const cepd::Event&, DropReason, std::string_view) {}});
    for (const auto& [source, delay] : trial_.max_delay) engine_->set_max_delay(SourceId(source), delay);
  }
  void save() {
    state::WriteBatch batch;
    engine_->save(batch);
    CEPD_CHECK(backend_->commit(batch).has_value());
  }
  void save_and_evict() {
    if (!saving_) {
      if (given_ % drive_.evicted_every != 0) return;
      engine_->begin_save();
      saving_ = true;
    }
    end_save(drive_.part_bytes);
  }
  void end_save(std::size_t part_bytes) {
    saving_ = engine_->save_some(saved_, part_bytes);
    if (saving_) return;
    CEPD_CHECK(backend_->commit(std::exchange(saved_, {})).has_value());
    engine_->saved();
    engine_->evict(drive_.evicted);
  }
  void restore() {
    if (saving_) end_save(SIZE_MAX / 2);
    save();
    for (const engine::RuleCounts& counts : engine_->counts()) before_[counts.rule] += counts;
    make();
    CEPD_CHECK(engine_->restore(*backend_, decode_again()).has_value());
  }
  engine::Engine::DecodeAgain decode_again() {
    return [this](const cepd::Event& event, std::string_view type) {
      return decoder_.decode_again(event, type, network_->fields());
    };
  }
  void note_counts() {
    engine_->flush();
    for (engine::RuleCounts counts : engine_->counts()) {
      counts += before_[counts.rule];
      record_.add(counts);
    }
  }

  const Trial& trial_;
  Drive drive_;
  std::size_t given_ = 0;
  adapters::JsonDecoder decoder_ = make_decoder(false);
  std::shared_ptr<const nfa::Network> network_;
  std::unique_ptr<state::StateBackend> backend_ = state::memory_backend();
  state::WriteBatch saved_;  // of the save under way
  bool saving_ = false;
  std::unique_ptr<engine::Engine> engine_;            // may read from the backend
  std::map<std::string, engine::RuleCounts> before_;  // of the engines that this one is restored from, by rule
  Record record_;
};

class PlainSubject {
 public:
  PlainSubject(const Trial& trial, std::shared_ptr<const nfa::Network> network)
      : network_(std::move(network)), engine_(network_, options_of(trial), [this](const Match& m) { record_.add(m); }) {
    for (const auto& [source, delay] : trial.max_delay) engine_.set_max_delay(SourceId(source), delay);
  }

  void give(const Given& given) { engine_.push(decoded(decoder_, message_of(given), network_->fields())); }
  void reload(const std::shared_ptr<const nfa::Network>& network) {
    note_counts();
    network_ = network;
    engine_.swap(network_, [this](const cepd::Event& event, std::string_view type) {
      return decoder_.decode_again(event, type, network_->fields());
    });
  }
  Outcome finish() {
    engine_.finish();
    note_counts();
    return record_.take();
  }

 private:
  static plain::Options options_of(const Trial& trial) {
    plain::Options options;
    options.state_ttl = trial.state_ttl;
    if (trial.cap) options.max_partial_matches = *trial.cap;
    return options;
  }
  void note_counts() {
    for (const plain::Counts& counts : engine_.counts()) record_.add(counts);
  }

  adapters::JsonDecoder decoder_ = make_decoder(true);
  std::shared_ptr<const nfa::Network> network_;
  Record record_;
  plain::Engine engine_;
};

template <class Subject>
Outcome run(const Trial& trial, const Networks& networks, Subject& subject) {
  std::size_t reloads = 0;
  for (std::size_t i = 0; i <= trial.input.size(); ++i) {
    for (; reloads < trial.reloads.size() && trial.reloads[reloads].before == i; ++reloads) {
      subject.reload(networks[reloads + 1]);
    }
    if (i < trial.input.size()) subject.give(trial.input[i]);
  }
  return subject.finish();
}

}  // namespace

Networks networks_of(const Trial& trial) {
  Networks out;
  const auto add = [&](const std::string& rules) {
    const dsl::Checked result = checked(rules, out.empty() ? nullptr : &out.back()->fields());
    CEPD_CHECK(result.rules != nullptr);
    out.push_back(nfa::Network::compile(result.rules));
  };
  add(trial.rules.text);
  for (const Reload& reload : trial.reloads) add(rules_after(trial, reload));
  return out;
}

Outcome by_engine(const Trial& trial, const Networks& networks, const Drive& drive) {
  EngineSubject subject(trial, networks.front(), drive);
  return run(trial, networks, subject);
}

Outcome by_plain(const Trial& trial, const Networks& networks) {
  PlainSubject subject(trial, networks.front());
  return run(trial, networks, subject);
}

}  // namespace cepd::reference
