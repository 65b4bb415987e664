#include "base/fault.h"

#include <array>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <string>

namespace cepd {
namespace {

constexpr std::array kNames{
    std::string_view("commit"),       std::string_view("before_group"),       std::string_view("after_group"),
    std::string_view("before_slice"), std::string_view("after_slice"),        std::string_view("before_finish"),
    std::string_view("after_finish"), std::string_view("before_delivery"),    std::string_view("before_mark"),
    std::string_view("after_mark"),   std::string_view("before_acknowledge"), std::string_view("after_acknowledge"),
};
static_assert(kNames.size() == static_cast<std::size_t>(FaultPoint::kAfterAcknowledge) + 1);

struct Plan {
  enum class Action : std::uint8_t { kNone, kKill, kFail } action = Action::kNone;
  int number = 0;  // errno
  std::uint64_t first = 1, count = 1;
  std::atomic<std::uint64_t> passed{0};
};

std::array<Plan, kNames.size()> plans;
std::atomic<bool> planned = false;

/// Reads a number from the front of `text` and takes it off.
bool take_number(std::string_view& text, std::uint64_t& number) {
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (status != std::errc{} || number == 0) return false;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return true;
}

bool plan_one(std::string_view text) {
  const std::size_t equals = text.find('=');
  if (equals == std::string_view::npos) return false;
  std::size_t at = 0;
  while (at < kNames.size() && kNames[at] != text.substr(0, equals)) ++at;
  if (at == kNames.size()) return false;
  text.remove_prefix(equals + 1);
  const std::string_view action = text.substr(0, text.find('@'));
  text.remove_prefix(action.size());
  Plan& plan = plans[at];
  if (action == "kill") {
    plan.action = Plan::Action::kKill;
  } else if (at == static_cast<std::size_t>(FaultPoint::kCommit) && (action == "ENOSPC" || action == "EIO")) {
    plan.action = Plan::Action::kFail;
    plan.number = action == "EIO" ? EIO : ENOSPC;
  } else {
    return false;
  }
  plan.first = plan.count = 1;
  plan.passed = 0;
  if (text.empty()) return true;
  text.remove_prefix(1);
  if (!take_number(text, plan.first)) return false;
  if (text.empty()) return true;
  if (text.front() != 'x') return false;
  text.remove_prefix(1);
  return take_number(text, plan.count) && text.empty();
}

}  // namespace

Status plan_faults(std::string_view text) {
  while (!text.empty()) {
    const std::string_view one = text.substr(0, text.find(','));
    if (!plan_one(one))
      return error(Errc::kInvalidArgument, "no fault: \"" + std::string(one) + "\"; see base/fault.h");
    text.remove_prefix(std::min(one.size() + 1, text.size()));
    planned = true;
  }
  return {};
}

void forget_faults() {
  planned = false;
  for (Plan& plan : plans) plan.action = Plan::Action::kNone;
}

int fault(FaultPoint point) {
  if (!planned.load(std::memory_order_relaxed)) return 0;
  Plan& plan = plans[static_cast<std::size_t>(point)];
  if (plan.action == Plan::Action::kNone) return 0;
  const std::uint64_t passed = ++plan.passed;
  if (passed < plan.first || passed >= plan.first + plan.count) return 0;
  if (plan.action == Plan::Action::kKill) std::raise(SIGKILL);
  return plan.number;
}

}  // namespace cepd
