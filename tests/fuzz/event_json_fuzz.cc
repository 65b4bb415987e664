/// Any bytes as an event: an event or an error, never a crash; reading the same bytes again gives the same fields.
#include "tests/fuzz/fuzz.h"

#include "actions/open.h"
#include "adapters/decoder.h"
#include "dsl/check.h"
#include "dsl/parse.h"

using namespace cepd;

namespace {

/// Fields of every kind, declared and not, nested ones and arrays.
const FieldPlan& plan_of_rules() {
  static const std::shared_ptr<const dsl::RuleSet> rules = [] {
    std::vector<dsl::ast::File> files;
    files.push_back(
        dsl::parse("fuzz.rules",
                   "EVENT order (id int, total double?, at timestamp?, took duration?, name string?, ok bool?, "
                   "deep string?, list string?) EVENT plain () "
                   "RULE a MATCH order AS o THEN *[a.b.c = 1 OR tags[0] = 'x' OR `ts` = 3] "
                   "EMIT o.id AS id, o.total AS total, o.at AS at, o.took AS took, o.ok AS ok, o.name AS name")
            .file);
    auto checked = dsl::check(files, {actions::built_in_schemas()}, nullptr).rules;
    fuzz::require(checked != nullptr, "the target's own rules are right");
    return checked;
  }();
  return rules->fields;
}

std::string canonical(const Event& event) {
  std::string out;
  for (const Value& field : event.fields()) append_canonical(out, field);
  return out;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  adapters::DecoderOptions options;
  constexpr TimeUnit kUnits[] = {TimeUnit::kSeconds, TimeUnit::kMillis, TimeUnit::kMicros, TimeUnit::kNanos};
  options.time_unit = kUnits[data[0] % 4];
  options.keep_raw = true;
  adapters::JsonDecoder decoder(options);
  adapters::Message message;
  message.bytes = fuzz::text_of(data + 1, size - 1);
  auto decoded = decoder.decode(message, plan_of_rules());
  auto* event = std::get_if<EventPtr>(&decoded);
  if (event == nullptr) {
    fuzz::require(!std::get<adapters::DecodeError>(decoded).detail.empty(), "an error says what is wrong");
    return 0;
  }
  const std::string before = canonical(**event);
  const FieldPlan& plan = plan_of_rules();
  const std::string type((*event)->type == kOtherType ? (*event)->other_type() : plan.type((*event)->type).name);
  fuzz::require(canonical(*decoder.decode_again(**event, type, plan)) == before, "the same bytes give the same fields");
  return 0;
}
