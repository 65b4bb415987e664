/// What is told of the rest when a statement could not be read.

#include <doctest/doctest.h>

#include "tests/dsl/check_testing.h"

namespace cepd::dsl {
namespace {

TEST_CASE("unread: the statements that could be read are checked") {
  CHECK_EQ(errors("RULE a MATCH x THEN\nRULE b MATCH x EMIT y.z\n"),
           "``: expected an event type after THEN\n"
           "`y.z`: y.z is not an element's field or a key field (write x.y.z)\n");
  CHECK_EQ(errors_of_files({"CONST a =", "RULE b MATCH x WITHIN $c"}),
           "``: expected a literal after = (write it like CONST max_gap = 5m)\n`$c`: unknown constant $c\n");
}

TEST_CASE("unread: what one declares is not unknown") {
  const std::string rest = "RULE ok MATCH x WITHIN $gap\nTEST t FOR r GIVEN y @0s {} EXPECT MATCH {n: $gap}\n";
  CHECK_EQ(
      errors("EVENT x (n int)\nEVENT y (n)\nCONST gap 5m\nRULE r MATCH y THEN\n" + rest),
      "`)`: expected a type: bool, int, double, string, timestamp or duration after n (write it like EVENT cart_add "
      "(user_id string, price double?))\n"
      "`5m`: expected = after gap (write it like CONST max_gap = 5m)\n"
      "``: expected an event type after THEN\n");
  CHECK_EQ(errors("EVENT x (n int)\nRULE m MATCH x EMIT x.n INTO y LIMIT\nRULE r MATCH y[z = 1]\n"),
           "``: expected a number after LIMIT (write it like LIMIT 1 PER 1h)\n");
  CHECK_EQ(errors_of_files({"x THEN", "TEST t FOR f1 GIVEN x @0s {} EXPECT NOTHING"}),
           "``: expected an event type after THEN\n");
}

TEST_CASE("unread: other names are unknown all the same") {
  CHECK_EQ(
      errors("EVENT x (n int)\nEVENT y (n)\nRULE r MATCH z\nTEST t FOR q GIVEN x @0s {} EXPECT NOTHING\n"),
      "`)`: expected a type: bool, int, double, string, timestamp or duration after n (write it like EVENT cart_add "
      "(user_id string, price double?))\n"
      "`z`: unknown event type z\n"
      "`q`: unknown rule q\n");
}

TEST_CASE("unread: one that does not tell what it declares may declare anything") {
  CHECK_EQ(errors("EVENT x (n int)\nRULX = 5m\nRULE r MATCH z WITHIN $gap\n"
                  "TEST t FOR q GIVEN z @0s {} EXPECT NOTHING\n"),
           "`RULX`: expected a statement: EVENT, CONST, RULE or TEST (did you mean RULE?)\n");
  CHECK_EQ(errors_of_files({"EVENT x (n int)\n", "\xff"}), "`\xff`: this is not UTF-8 text (save the file as UTF-8)\n");
  CHECK_EQ(errors_of_files({"\xff", "EVENT x (n int)\nRULE r MATCH z WITHIN $gap"}),
           "`\xff`: this is not UTF-8 text (save the file as UTF-8)\n");
}

TEST_CASE("unread: after a bare pattern that could not be read the statements of the file are read") {
  CHECK_EQ(errors("a THEN\n\nRULE r\n  MATCH b\n  EMIT q.x\n"),
           "``: expected an event type after THEN\n"
           "`q.x`: q.x is not an element's field or a key field (write b.q.x)\n");
}

TEST_CASE("unread: a mistake that was read as what was meant has no others in its wake") {
  CHECK_EQ(errors("RULE r MATCH a{0} THEN b{3,2} WITHIN 0s DO discount(user: \"u\", percent: 1_0)"),
           "`{0}`: a repeat of at most 0 events is none (say NOT for an event that must not come)\n"
           "`{3,2}`: this repeat ends before it begins (write {2,3})\n"
           "`0s`: this duration must be greater than zero\n"
           "`1_0`: a number has no _ in it (write 10)\n");
}

}  // namespace
}  // namespace cepd::dsl
