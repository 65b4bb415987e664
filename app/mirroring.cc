#include "app/mirroring.h"

#include <spdlog/spdlog.h>

#include <optional>
#include <utility>

#include "state/mirror_copies.h"
#include "state/mirror_options.h"
#include "state/open.h"

namespace cepd::app {

Status restore_from_mirror(const Settings& settings) {
  if (!state::has_mirror(settings.mirror) || !settings.mirror.flag("restore")) return {};
  if (settings.state.text("backend") != "lmdb") return {};
  const auto backend = state::open_empty(state::lmdb_options(settings.state));
  if (!backend) {
    const bool has_state = backend.error().code == Errc::kInvalidArgument;
    return has_state ? Status() : Status(backend.error());
  }
  const auto store = state::open_mirror(settings.mirror);
  auto restored = state::restore_copy(*store, **backend, std::nullopt);
  if (!restored) {
    if (restored.error().code == Errc::kNotFound) return {};
    return std::move(restored).error().within("there is no state, and the mirror cannot be taken up");
  }
  for (const std::string& damaged : restored->damaged) spdlog::error("mirror: {}: the one before is taken", damaged);
  spdlog::info("restored checkpoint {} of {} from the mirror: {} records", restored->checkpoint.number,
               format_rfc3339(restored->checkpoint.time), restored->records);
  return {};
}

Result<std::unique_ptr<state::Mirror>> start_mirror(const Settings& settings, state::StateBackend& backend,
                                                    std::uint64_t last) {
  if (!state::has_mirror(settings.mirror)) return std::unique_ptr<state::Mirror>();
  auto identity = state::identity_of(backend);
  if (!identity) return std::move(identity).error();
  state::MirrorCallbacks callbacks;
  callbacks.copied = [](const state::MirrorStatus& status) {
    spdlog::debug("mirror: checkpoint {} was copied in {} us", status.copied, status.last_duration.count());
  };
  callbacks.failed = [](const Error& reason, std::optional<std::chrono::milliseconds> retry_in) {
    if (retry_in) {
      spdlog::debug("mirror: {}: once more in {} ms", reason.message, retry_in->count());
    } else {
      spdlog::warn("mirror: {}: the next checkpoint is tried", reason.message);
    }
  };
  return std::make_unique<state::Mirror>(backend, *std::move(identity), state::open_mirror(settings.mirror),
                                         state::mirror_options(settings.mirror), std::move(callbacks), last);
}

}  // namespace cepd::app
