#pragma once
/// The rule language as its pages say it, slowly: what rules make of events. Written to be obviously right and
/// independent of engine/, nfa/ and the plan; only base/ and the parser are shared.
///
///   order.h   which events are handled, in which order        (sections 2 and 7)
///   input.h   which of them concern a rule, under which key   (section 2)
///   rule.h    the rule's tree with its meaning spelled out    (sections 1, 3 and 4)
///   todo.h    what a partial match still has to do            (section 3)
///   runs.h    all partial matches and completions of a key    (section 3)
///   after_match.h  HAVING, policies, time-outs                (section 5)
///   chain.h   what rules make for each other                  (section 5)

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
  EventPtr makes = {};    ///< EMIT … INTO
  std::string text = {};  ///< all that is compared, in one line
};

/// The results of the rules over events handled so far, in order. What falls due at t is there when `watermark` is
/// later than t.
std::vector<Result> results_of(const std::vector<Rule>& rules, const std::vector<EventPtr>& handled,
                               EventTime watermark);

/// What the line of a result says.
struct Line {
  ResultKind kind = ResultKind::kMatch;
  std::string rule;
  std::vector<std::pair<std::string, Value>> key;
  EventTime time{};
  std::vector<std::pair<std::string, std::vector<std::string>>> bindings;  ///< names and their events' places
  std::vector<std::pair<std::string, Value>> emit;
  bool suppressed = false;
  bool shadow = false;
};
/// `match r {"k":1} @5000000 a:s/0/1 b:s/0/2,s/0/4 m:#3 {"x":1} suppressed`
std::string text_of(const Line& line);
/// How an event stands in it: `s/0/1` by its position, `#3` when the fourth result of all has made it.
std::string place_text(const SourcePosition& position);
std::string place_text(std::size_t maker);

}  // namespace cepd::reference
