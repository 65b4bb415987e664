#include "base/back_off.h"

#include <doctest/doctest.h>

using namespace cepd;
using std::chrono::milliseconds;

TEST_CASE("back-off: doubles up to the longest wait, with a factor from a half to one") {
  using std::chrono::hours;
  const milliseconds first(500);
  const milliseconds longest(60'000);
  CHECK(back_off(1, first, longest, 0) == milliseconds(250));
  CHECK(back_off(1, first, longest, 1) == milliseconds(500));
  CHECK(back_off(3, first, longest, 0.5) == milliseconds(1500));
  CHECK(back_off(8, first, longest, 1) == longest);
  CHECK(back_off(4'000'000'000U, first, longest, 0) == milliseconds(30'000));
  CHECK(back_off(1, milliseconds(900), milliseconds(100), 1) == milliseconds(100));
  CHECK(back_off(100, milliseconds(1), milliseconds::max() / 2, 0) > hours(24));
}
