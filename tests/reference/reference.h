#pragma once
/// The rule language as its pages say it, slowly: what rules make of events. Written to be obviously right and
/// independent of engine/, nfa/ and the plan; only base/ and the parser are shared.
///
///   order.h   which events are handled, in which order        (sections 2 and 7)
///   input.h   which of them concern a rule, under which key   (section 2)
///   rule.h    the rule's tree with its meaning spelled out    (sections 1, 3 and 4)
///   todo.h    what a partial match still has to do            (section 3)
///   runs.h    all partial matches and completions of a key    (section 3)
///   reference HAVING, policies, LIMIT, time-outs              (section 5)

#include "tests/reference/order.h"
#include "tests/reference/runs.h"

namespace cepd::reference {

enum class ResultKind : std::uint8_t { kMatch, kTimeout };

struct Result {
  ResultKind kind = ResultKind::kMatch;
  std::string rule;
  Key key;
  Point known;  ///< where it stands in the order of results; its time is the match's time
  Bindings bound;
  bool suppressed = false;
  std::string text;  ///< all that is compared, in one line
};

/// The results of the rules over events handled so far, in order. What falls due at t is there when `watermark` is
/// later than t.
std::vector<Result> results_of(const std::vector<Rule>& rules, const std::vector<EventPtr>& handled,
                               EventTime watermark);

/// The line of a result: `match r {"k":1} @5000000 a:s/0/1 b:s/0/2,s/0/4 {"x":1} suppressed`.
std::string line_of(ResultKind kind, const std::string& rule, const std::string& key, EventTime time,
                    const std::vector<std::pair<std::string, std::vector<SourcePosition>>>& bindings,
                    const std::string& emit, bool suppressed);

}  // namespace cepd::reference
