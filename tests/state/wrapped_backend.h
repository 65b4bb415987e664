#pragma once
#include <functional>
#include <mutex>
#include <vector>

#include "state/backend.h"

namespace cepd::state {

/// Passes everything on to another backend; a test may look at each commit first and refuse it or hold it up.
class WrappedBackend final : public StateBackend {
 public:
  using BeforeCommit = std::function<Status(const WriteBatch&)>;

  explicit WrappedBackend(StateBackend& inner, BeforeCommit before = {}) : inner_(inner), before_(std::move(before)) {}

  Result<std::optional<std::string>> get(Space space, std::string_view key) override { return inner_.get(space, key); }
  Status scan(Space space, std::string_view prefix, const Visitor& visit) override {
    return inner_.scan(space, prefix, visit);
  }
  Status scan_from(Space space, std::string_view from, const RangeVisitor& visit) override {
    return inner_.scan_from(space, from, visit);
  }
  Result<std::optional<std::string>> last_key(Space space) override { return inner_.last_key(space); }
  Result<SpaceSize> size(Space space) override { return inner_.size(space); }
  Status commit(const WriteBatch& batch) override {
    if (before_) CEPD_TRY(before_(batch));
    return inner_.commit(batch);
  }
  std::string_view name() const override { return inner_.name(); }

 private:
  StateBackend& inner_;
  BeforeCommit before_;
};

}  // namespace cepd::state
