#include "base/back_off.h"

#include <algorithm>

namespace cepd {

using std::chrono::milliseconds;

milliseconds back_off(unsigned attempt, milliseconds first, milliseconds longest, double random) {
  milliseconds wait = std::min(first, longest);
  for (unsigned i = 1; i < attempt && wait < longest; ++i) {
    wait = wait > longest / 2 ? longest : wait * 2;
  }
  const double factor = 0.5 + random / 2;
  return milliseconds(static_cast<milliseconds::rep>(static_cast<double>(wait.count()) * factor));
}

}  // namespace cepd
