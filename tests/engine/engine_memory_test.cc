#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "engine/engine.h"
#include "tests/support/allocations.h"
#include "tests/support/rules.h"

using namespace cepd;
using engine::Engine;
using test::network_of;

namespace {

/// Events of `types` in turns, for keys that come and go: what is used again has to come from what was given back.
class Stream {
 public:
  Stream(const nfa::Network& network, std::vector<std::string> types) : fields_(network.fields()) {
    for (const std::string& type : types) types_.push_back(fields_.find(type).value_or(kOtherType));
    for (int i = 0; i < 500; ++i) names_.push_back("user number " + std::to_string(i));
  }

  EventPtr next() {
    draft_.type = types_[static_cast<std::size_t>(number_) % types_.size()];
    draft_.other_type = draft_.type == kOtherType ? "of no rule" : "";
    draft_.time = event_time_us(number_ * 1'000);
    draft_.position = {source_, 0, number_};
    const std::string& name = names_[static_cast<std::size_t>(number_ * 2'654'435'761 / 128 % 500)];
    draft_.fields.assign(fields_.type(draft_.type).paths.size(), Value::null());
    if (const auto slot = fields_.slot(draft_.type, u_)) draft_.fields[*slot] = Value::string(name);
    if (const auto slot = fields_.slot(draft_.type, v_)) {
      draft_.fields[*slot] = Value::integer(number_ * 31 % 17);
    }
    ++number_;
    return draft_.build();
  }

 private:
  const FieldPlan& fields_;
  std::vector<TypeId> types_;
  std::vector<std::string> names_;
  SourceId source_{"s"};
  const FieldPath u_ = FieldPath::of("u"), v_ = FieldPath::of("v");
  EventDraft draft_;
  std::int64_t number_ = 0;
};

/// The number of partial matches under way goes up and down: now and then it passes what it was before.
constexpr std::uint64_t kFew = 60'000 / 1'000;

std::uint64_t allocations(const std::string& rules, const std::vector<std::string>& types) {
  const auto network = network_of(rules);
  std::uint64_t matches = 0;
  Engine engine(network, {}, {[&](const engine::MatchView&) { ++matches; }, {}});
  Stream stream(*network, types);
  for (int i = 0; i < 60'000; ++i) engine.push(stream.next());
  const std::uint64_t before = matches;
  const test::Allocations counted;
  for (int i = 0; i < 60'000; ++i) engine.push(stream.next());
  const std::uint64_t count = counted.count();
  CHECK(matches > before);
  return count;
}

TEST_CASE("engine: in the steady state an event asks for no memory") {
  SUBCASE("two steps, no match takes anything from another") {
    CHECK(allocations("RULE r KEY u MATCH a THEN b WITHIN 3s AFTER MATCH NO SKIP", {"a", "c", "b", "a"}) < kFew);
  }
  SUBCASE("two steps, the usual policy") {
    CHECK(allocations("RULE r KEY u MATCH a THEN b WITHIN 3s", {"a", "c", "b", "a"}) < kFew);
  }
  SUBCASE("conditions, two rules, a look back") {
    CHECK(allocations("RULE r KEY u MATCH a[v > 3] THEN b[v < 12] WITHIN 3s AFTER MATCH NO SKIP\n"
                      "RULE s KEY u MATCH a AS x THEN b[v > x.v] WITHIN 3s AFTER MATCH NO SKIP",
                      {"a", "c", "b", "a"}) < kFew);
  }
  SUBCASE("a rising run") {
    CHECK(allocations("RULE r KEY u MATCH a AS x NEXT a[v > prev(v)]+ CONSECUTIVE AS up NEXT a[v <= prev(v)] WITHIN 4s "
                      "AFTER MATCH NO SKIP",
                      {"a"}) < kFew);
  }
}

}  // namespace
