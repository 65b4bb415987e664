#include "base/list.h"

#include <doctest/doctest.h>

using cepd::List;

TEST_CASE("list: copies share their items until one is changed") {
  List<int> a{1, 2};
  List<int> b = a;
  CHECK(a.is(b));
  const int* items = b.data();
  b.edit().push_back(3);
  CHECK(a == List<int>{1, 2});
  CHECK(b == List<int>{1, 2, 3});
  CHECK(a.data() == items);
  items = b.data();
  b.edit()[0] = 7;  // nobody shares it: in place
  CHECK(b.data() == items);
  CHECK(b.front() == 7);
}

TEST_CASE("list: equal by items, empty ones too") {
  List<int> emptied{1};
  emptied.edit().clear();
  CHECK(emptied == List<int>());
  CHECK(emptied.empty());
  CHECK(List<int>().begin() == List<int>().end());
  CHECK(List<int>{1, 2} == List<int>{1, 2});
  CHECK_FALSE(List<int>{1, 2}.is(List<int>{1, 2}));
  CHECK_FALSE(List<int>{1, 2} == List<int>{1});
}
