// `cepd state`: looks at and changes the state of a cepd that does not run.
#include <algorithm>
#include <iomanip>
#include <iostream>
#include <iterator>
#include <map>
#include <memory>

#include "app/commands.h"
#include "app/rule_messages.h"
#include "app/settings.h"
#include "state/checkpoint_records.h"
#include "state/damage_guard.h"
#include "state/journal.h"
#include "state/layout.h"
#include "state/mirror_copies.h"
#include "state/mirror_options.h"
#include "state/open.h"
#include "state/transfer.h"
#include "state/undo.h"
#include "state/verify.h"

namespace cepd::app {
namespace {

using state::CheckpointInfo;
using state::Space;
using state::StateBackend;

/// Of a hash, enough to tell two apart by eye.
constexpr std::size_t kShownDigits = 16;

int fail(const Error& reason) {
  std::cerr << "cepd state: " << reason.message << "\n";
  return kFailed;
}

std::string in_millis(std::chrono::microseconds time) {
  std::string millis;
  append_millis(millis, time.count());
  return millis + " ms";
}

std::string shown(const CheckpointInfo& info) {
  return "checkpoint " + std::to_string(info.number) + " of " + format_rfc3339(info.time);
}

Result<int> list(StateBackend& backend) {
  const auto kept = state::list_checkpoints(backend);
  if (!kept) return kept.error();
  const auto begun = state::get_number(backend, state::kBegunKey);
  if (!begun) return begun.error();
  if (kept->empty()) std::cout << "no checkpoint\n";
  for (const CheckpointInfo& info : *kept) {
    std::cout << shown(info) << ": " << info.checkpointed.records + info.live.records << " records, "
              << info.checkpointed.bytes + info.live.bytes << " bytes; journal up to " << info.journal_sequence << "; "
              << info.changes << " changed, " << info.bytes + info.undo_bytes << " bytes written in "
              << in_millis(info.duration) << ", longest slice " << in_millis(info.longest_slice) << "; "
              << info.checkpointed.hash.hex().substr(0, kShownDigits) << "\n";
  }
  if (const std::uint64_t last = kept->empty() ? 0 : kept->back().number; begun->value_or(0) > last)
    std::cout << "checkpoint " << **begun << " was not finished: the next start takes it back\n";
  return kGood;
}

Result<int> verify(StateBackend& backend) {
  const auto verified = state::verify_state(backend);
  if (!verified) return verified.error();
  for (const auto& checkpoint : verified->checkpoints)
    std::cout << shown(checkpoint.info) << ": " << (checkpoint.good ? "good" : "DAMAGED") << "\n";
  for (const std::string& problem : verified->problems) std::cout << "problem: " << problem << "\n";
  std::cout << verified->records << " records looked at\n";
  return verified->good() ? kGood : kFailed;
}

Result<int> rollback(StateBackend& backend, std::uint64_t number) {
  CEPD_TRY(state::finish_rollback(backend));
  CEPD_TRY(state::roll_back(backend, number));
  const auto kept = state::list_checkpoints(backend);
  if (!kept) return kept.error();
  std::cout
      << "the state is that of " << shown(kept->back()) << "\n"
      << "The next start takes the journal behind it, and what its sources have from there on, once more; actions "
         "that follow are carried out again, with the same idempotency keys.\n";
  return kGood;
}

Result<int> export_to(StateBackend& backend, const std::string& file) {
  const auto done = state::export_state(backend, file);
  if (!done) return done.error();
  std::cout << "exported " << done->records << " records, " << done->bytes << " bytes\n";
  return kGood;
}

Result<int> import_from(const state::LmdbOptions& options, const std::string& file) {
  const auto backend = state::open_empty(options);
  if (!backend) return backend.error();
  const auto done = state::import_state(**backend, file);
  if (!done) return done.error();
  std::cout << "imported " << done->records << " records, " << done->bytes << " bytes\n";
  return kGood;
}

Result<int> list_copies(state::MirrorStore& store) {
  std::vector<std::string> problems;
  const auto copies = state::list_copies(store, problems);
  if (!copies) return copies.error();
  if (copies->empty()) std::cout << "no copy\n";
  for (const state::MirrorManifest& copy : *copies) {
    const CheckpointInfo& info = copy.checkpoint;
    std::cout << shown(info) << ": " << info.checkpointed.records + info.live.records << " records, "
              << info.checkpointed.bytes + info.live.bytes << " bytes; ";
    if (copy.previous == 0) {
      std::cout << "all of it";
    } else {
      std::cout << copy.changes << " changes since " << copy.previous;
    }
    std::cout << " in " << copy.stored_bytes() << " bytes; " << info.checkpointed.hash.hex().substr(0, kShownDigits)
              << "\n";
  }
  for (const std::string& problem : problems) std::cout << "problem: " << problem << "\n";
  return problems.empty() ? kGood : kFailed;
}

Result<int> restore(state::MirrorStore& store, const state::LmdbOptions& options, std::uint64_t number) {
  const auto backend = state::open_empty(options);
  if (!backend) return backend.error();
  const auto done = state::restore_copy(store, **backend, number == 0 ? std::nullopt : std::optional(number));
  if (!done) return done.error();
  for (const std::string& damaged : done->damaged) std::cout << damaged << ": the one before is taken\n";
  std::cout << "the state is that of " << shown(done->checkpoint) << ": " << done->records << " records\n"
            << "The next start takes what its sources have from there on once more, as far as they still have it; "
               "actions that follow are carried out again, with the same idempotency keys.\n";
  return kGood;
}

Result<int> run_mirror(const StateArguments& arguments, const Settings& settings) {
  if (!state::has_mirror(settings.mirror)) return error(Errc::kInvalidArgument, arguments.config + " names no mirror");
  const auto store = state::open_mirror(settings.mirror);
  if (arguments.what == "copies") return list_copies(*store);
  return restore(*store, state::lmdb_options(settings.state), arguments.checkpoint);
}

/// First and last sequence in the journal.
Result<std::string> journal_range(StateBackend& backend) {
  std::uint64_t first = 0;
  CEPD_TRY(backend.scan_from(Space::kJournal, {}, [&first](std::string_view key, std::string_view) -> Result<bool> {
    if (key.size() == sizeof first) first = state::read_ordered(key);
    return false;
  }));
  const auto last = backend.last_key(Space::kJournal);
  if (!last) return last.error();
  if (!*last || (*last)->size() != sizeof first) return std::string("no journal");
  return "journal entries " + std::to_string(first) + " to " + std::to_string(state::read_ordered(**last));
}

Result<int> statistics(StateBackend& backend) {
  std::cout << std::left << std::setw(14) << "space" << std::right << std::setw(14) << "records" << std::setw(16)
            << "bytes on disk"
            << "\n";
  for (int i = 0; i < state::kSpaceCount; ++i) {
    const auto space = static_cast<Space>(i);
    const auto size = backend.size(space);
    if (!size) return size.error();
    std::cout << std::left << std::setw(14) << state::space_name(space) << std::right << std::setw(14) << size->entries
              << std::setw(16) << size->bytes << "\n";
  }
  const auto range = journal_range(backend);
  if (!range) return range.error();
  const auto kept = state::list_checkpoints(backend);
  if (!kept) return kept.error();
  std::cout << *range << "\n" << kept->size() << " checkpoints";
  if (!kept->empty()) std::cout << ", the last one of " << format_rfc3339(kept->back().time);
  std::cout << "\n";
  return kGood;
}

Result<int> run(const StateArguments& arguments, const state::LmdbOptions& options) {
  if (arguments.what == "import") return import_from(options, arguments.file);
  const auto backend = state::open_existing(options);
  if (!backend) return backend.error();
  if (arguments.what == "list") return list(**backend);
  if (arguments.what == "verify") return verify(**backend);
  if (arguments.what == "rollback") return rollback(**backend, arguments.checkpoint);
  if (arguments.what == "export") return export_to(**backend, arguments.file);
  return statistics(**backend);
}

}  // namespace

int state_command(const StateArguments& arguments) {
  state::LmdbOptions options;
  options.directory = arguments.directory;
  if (arguments.directory.empty()) {
    Diagnostics diagnostics;
    const Settings settings = load_settings(arguments.config, diagnostics);
    print_diagnostics(diagnostics);
    if (has_errors(diagnostics)) return kFailed;
    if (settings.state.text("backend") != "lmdb") {
      std::cerr << "cepd state: the backend in " << arguments.config << " keeps nothing on disk\n";
      return kFailed;
    }
    options = state::lmdb_options(settings.state);
    if (arguments.what == "copies" || arguments.what == "restore") {
      const auto code = run_mirror(arguments, settings);
      return code ? *code : fail(code.error());
    }
  }
  state::guard_damaged_files("Put it back from a copy, or move it away to start with empty state");
  const auto code = run(arguments, options);
  return code ? *code : fail(code.error());
}

}  // namespace cepd::app
