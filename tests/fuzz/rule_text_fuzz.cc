/// Any bytes as a rule file: diagnostics or a rule set, never a crash; what is printed reads back as the same, and so
/// does what is formatted, with as many comments.
#include "tests/fuzz/fuzz.h"

#include "actions/open.h"
#include "dsl/check.h"
#include "dsl/format.h"
#include "dsl/lex.h"
#include "dsl/parse.h"
#include "dsl/print.h"
#include "nfa/explain.h"
#include "nfa/network.h"

using namespace cepd;

namespace {

std::size_t comments(const std::string& text) {
  dsl::syntax::Problems none;
  return dsl::syntax::lex(text, none).comments.size();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const dsl::CheckOptions options{actions::built_in_schemas()};
  dsl::Parsed parsed = dsl::parse("rules/fuzz.rules", fuzz::text_of(data, size));
  for (const Diagnostic& diagnostic : parsed.diagnostics) fuzz::require(!format(diagnostic).empty(), "a message");
  if (!has_errors(parsed.diagnostics)) {
    const std::string once = dsl::print(parsed.file);
    const dsl::Parsed again = dsl::parse("rules/fuzz.rules", once);
    fuzz::require(!has_errors(again.diagnostics), "what is printed parses");
    fuzz::require(dsl::print(again.file) == once, "printing is idempotent");
    const std::string formatted = dsl::format_rules("rules/fuzz.rules", parsed.file.text).text;
    fuzz::require(dsl::format_rules("rules/fuzz.rules", formatted).text == formatted, "formatting is idempotent");
    fuzz::require(dsl::print(dsl::parse("rules/fuzz.rules", formatted).file) == once, "formatting keeps the tree");
    fuzz::require(comments(formatted) == comments(parsed.file.text), "formatting keeps comments");
  }
  std::vector<dsl::ast::File> files;
  files.push_back(std::move(parsed.file));
  const dsl::Checked checked = dsl::check(files, options, nullptr);
  for (const Diagnostic& diagnostic : checked.diagnostics) fuzz::require(!format(diagnostic).empty(), "a message");
  if (checked.rules == nullptr || has_errors(parsed.diagnostics)) return 0;
  const auto network = nfa::Network::compile(checked.rules);
  for (std::size_t i = 0; i < checked.rules->rules.size(); ++i) {
    fuzz::require(!nfa::explain(*network, i).empty() && !nfa::explain_dot(*network, i).empty(), "an explanation");
  }
  return 0;
}
