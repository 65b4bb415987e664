#include "state/backend.h"

#include <doctest/doctest.h>

#include <string>

using namespace cepd;
using state::Space;
using state::WriteBatch;

TEST_CASE("write batch: what later changes overwrite can be dropped") {
  WriteBatch batch;
  batch.put(Space::kPartial, "a", "1");
  batch.put(Space::kPending, "a", "other space");
  batch.put(Space::kPartial, "b", "2");
  batch.erase(Space::kPartial, "a");
  batch.clear(Space::kPending);
  batch.put(Space::kPending, "c", "3");
  batch.clear(Space::kPending);
  batch.put(Space::kPending, "d", "4");
  batch.put(Space::kPartial, "b", "5");
  batch.drop_overwritten();
  std::string left;
  for (const WriteBatch::Change& change : batch.changes()) {
    left += change.kind == WriteBatch::Change::Kind::kPut     ? "put "
            : change.kind == WriteBatch::Change::Kind::kErase ? "erase "
                                                              : "clear ";
    left += std::string(state::space_name(change.space)) + " " + change.key + " " + change.value + "; ";
  }
  CHECK(left == "erase partial a ; clear pending  ; put pending d 4; put partial b 5; ");
}
