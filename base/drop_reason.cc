#include "base/drop_reason.h"

namespace cepd {

std::string_view drop_reason_name(DropReason reason) {
  switch (reason) {
    case DropReason::kTooLong:
      return "too_long";
    case DropReason::kNotJson:
      return "not_json";
    case DropReason::kInvalidUtf8:
      return "invalid_utf8";
    case DropReason::kBadNumber:
      return "bad_number";
    case DropReason::kTooDeep:
      return "too_deep";
    case DropReason::kNoType:
      return "no_type";
    case DropReason::kNoTime:
      return "no_time";
    case DropReason::kSchema:
      return "schema";
    case DropReason::kFuture:
      return "future";
    case DropReason::kDuplicate:
      return "duplicate";
    case DropReason::kLate:
      return "late";
    case DropReason::kLateAfterIdle:
      return "late_after_idle";
  }
  return "?";
}

}  // namespace cepd
