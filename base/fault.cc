#include "base/fault.h"

#include <array>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <optional>
#include <string>

namespace cepd {
namespace {

constexpr std::array kNames{
    std::string_view("commit"),
    std::string_view("before_group"),
    std::string_view("after_group"),
    std::string_view("before_slice"),
    std::string_view("after_slice"),
    std::string_view("before_finish"),
    std::string_view("after_finish"),
    std::string_view("before_delivery"),
    std::string_view("before_mark"),
    std::string_view("after_mark"),
    std::string_view("before_acknowledge"),
    std::string_view("after_acknowledge"),
    std::string_view("take"),
    std::string_view("reload"),
    std::string_view("replay"),
    std::string_view("clock"),
};
static_assert(kNames.size() == static_cast<std::size_t>(FaultPoint::kClock) + 1);

struct Plan {
  enum class Action : std::uint8_t { kNone, kKill, kFail } action = Action::kNone;
  std::int64_t number = 0;  // errno, or microseconds
  std::uint64_t first = 1, count = 1;
  std::atomic<std::uint64_t> passed{0};
};

std::array<Plan, kNames.size()> plans;
std::atomic<bool> planned = false;

constexpr std::uint64_t kForEver = std::uint64_t{1} << 62;

/// Reads a number from the front of `text` and takes it off.
bool take_number(std::string_view& text, std::uint64_t& number) {
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (status != std::errc{} || number == 0) return false;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return true;
}

std::optional<std::int64_t> error_number(std::string_view name) {
  if (name == "ENOSPC") return ENOSPC;
  if (name == "EIO") return EIO;
  if (name == "EROFS") return EROFS;
  return std::nullopt;
}

/// "+2h", "-90s"
std::optional<std::int64_t> shift(std::string_view text) {
  if (text.empty() || (text.front() != '+' && text.front() != '-')) return std::nullopt;
  const auto duration = parse_duration(text.substr(1));
  if (!duration) return std::nullopt;
  return text.front() == '-' ? -duration->count() : duration->count();
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
  const auto point = static_cast<FaultPoint>(at);
  Plan& plan = plans[at];
  const std::optional<std::int64_t> number = point == FaultPoint::kCommit  ? error_number(action)
                                             : point == FaultPoint::kClock ? shift(action)
                                                                           : std::nullopt;
  if (number) {
    plan.action = Plan::Action::kFail;
    plan.number = *number;
  } else if (action == "kill" && point != FaultPoint::kClock) {
    plan.action = Plan::Action::kKill;
  } else {
    return false;
  }
  plan.first = 1;
  plan.count = point == FaultPoint::kClock ? kForEver : 1;
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

namespace {

std::int64_t pass(FaultPoint point) {
  if (!planned.load(std::memory_order_relaxed)) return 0;
  Plan& plan = plans[static_cast<std::size_t>(point)];
  if (plan.action == Plan::Action::kNone) return 0;
  const std::uint64_t passed = ++plan.passed;
  if (passed < plan.first || passed >= plan.first + plan.count) return 0;
  if (plan.action == Plan::Action::kKill) std::raise(SIGKILL);
  return plan.number;
}

}  // namespace

int fault(FaultPoint point) { return static_cast<int>(pass(point)); }

Micros clock_fault() { return Micros(pass(FaultPoint::kClock)); }

}  // namespace cepd
