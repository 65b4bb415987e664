#include "app/why_text.h"

#include <algorithm>
#include <boost/algorithm/string/join.hpp>

#include "app/why_conditions.h"
#include "dsl/plan_words.h"

namespace cepd::app {

namespace plan = dsl::plan;
using engine::Bound;
using engine::Fate;
using engine::PartialStory;
using engine::Run;
using engine::Story;
using engine::Tried;

namespace {

/// More would not be read.
constexpr std::size_t kMostShown = 3;

std::string plural(std::uint64_t count, const std::string& word) {
  return std::to_string(count) + " " + word + (count == 1 ? "" : "s");
}

std::string policy_words(const plan::Rule& rule) {
  const auto name = [&] { return rule.elements[static_cast<std::size_t>(rule.policy_element)].name; };
  switch (rule.policy) {
    case plan::Policy::kConsume:
      return "CONSUME (the default: no event counts twice)";
    case plan::Policy::kNoSkip:
      return "NO SKIP";
    case plan::Policy::kSkipPastLast:
      return "SKIP PAST LAST";
    case plan::Policy::kSkipToNext:
      return "SKIP TO NEXT";
    case plan::Policy::kSkipToFirst:
      return "SKIP TO FIRST " + name();
    case plan::Policy::kSkipToLast:
      return "SKIP TO LAST " + name();
  }
  return {};
}

}  // namespace

// ---- names ----

std::string WhyText::types(plan::ElementId id) const {
  return dsl::in_words(element(id).test.types, network_.fields());
}

/// `cart (cart_add)`, or only the type where that is its name.
std::string WhyText::named(plan::ElementId id) const {
  const std::string type = types(id), name = quoted_if_needed(element(id).name);
  if (element(id).role != plan::Role::kTake || name == type) return type;
  // `a#1`: it has no name of its own, and this is how the output calls it.
  return element(id).name.find('#') != std::string::npos ? element(id).name : name + " (" + type + ")";
}

std::string WhyText::named(nfa::ElementSet set, const char* between) const {
  std::vector<std::string> names;
  for (; set != 0; set &= set - 1) names.push_back(named(static_cast<plan::ElementId>(__builtin_ctzll(set))));
  return boost::algorithm::join(names, between);
}

std::vector<Value> WhyText::key_of(const Bound& first) const {
  std::vector<Value> key;
  for (const plan::FieldRef& ref : element(first.element).test.key) {
    key.push_back(nfa::read_property(ref, *first.event, network_.fields()));
  }
  return key;
}

/// `line 3, line 7 and 5 more`
std::string WhyText::events(const std::vector<EventPtr>& events, std::uint64_t count) const {
  std::vector<std::string> shown;
  for (std::size_t i = 0; i < std::min(kMostShown, events.size()); ++i) shown.push_back(style_.event(*events[i]));
  const std::string list = boost::algorithm::join(shown, ", ");
  return count > shown.size() ? list + " and " + std::to_string(count - shown.size()) + " more" : list;
}

/// One line for each event; the middle of long repeats is left out.
std::string WhyText::bound(const std::vector<Bound>& bound) const {
  constexpr std::size_t kMostEvents = 12;
  std::string out;
  for (std::size_t i = 0; i < bound.size(); ++i) {
    if (bound.size() > kMostEvents && i == kMostEvents / 2) {
      const std::size_t left_out = bound.size() - kMostEvents;
      out += "  … " + plural(left_out, "more event") + "\n";
      i += left_out;
    }
    const std::string fields = fields_read(rule_, bound[i].element, *bound[i].event, network_.fields());
    out += "  " + named(bound[i].element) + ": " + style_.event(*bound[i].event) +
           (fields.empty() ? "" : "  " + fields) + "\n";
  }
  return out;
}

// ---- what it waited for ----

std::string WhyText::waits_for(const Run& run) const {
  const nfa::State& state = automaton_.states[static_cast<std::size_t>(run.state)];
  if (state.joins() && run.count < state.min) return named(state.elements & ~run.members, " and ");
  std::vector<std::string> ways;
  if (run.count < state.max && !state.joins()) {
    const std::uint32_t missing = state.min > run.count ? state.min - run.count : 0;
    ways.push_back((missing > 0 ? std::to_string(missing) + " more " : "more ") + named(state.elements, " or "));
    if (missing > 0) return ways.front();
  }
  for (const nfa::Edge& edge : state.edges) {
    if ((edge.branches & run.branches) == 0) continue;
    std::string way = edge.link.contiguity == plan::Contiguity::kStrict ? "NEXT " : "";
    way += named(edge.elements, " or ");
    if (edge.link.within) way += " within " + format_duration(*edge.link.within);
    if (edge.link.after.count() != 0) way += " after " + format_duration(edge.link.after);
    if (std::find(ways.begin(), ways.end(), way) == ways.end()) ways.push_back(way);
  }
  for (std::size_t i = 0; i < state.branches.size(); ++i) {
    const auto& accept = state.branches[i].accept;
    if (!accept || (run.branches >> i & 1) == 0) continue;
    if (accept->completes == nfa::Completes::kDeadline)
      ways.push_back("no " + named(accept->guards, " or ") + " to come");
    if (accept->completes == nfa::Completes::kNextEvent) {
      ways.push_back("a very next event that is no " + named(accept->guards, " or "));
    }
    if (accept->completes == nfa::Completes::kRepeatEnd) ways.push_back("the end of its GREEDY repeat");
  }
  return boost::algorithm::join(ways, ", or ");
}

// ---- events that did not fit ----

/// `head[amount > 3]: amount = 2`, a part a line.
std::string WhyText::failed(const std::string& head, std::span<const plan::ExprPtr> conditions,
                            const nfa::Scope& scope) const {
  std::string out;
  for (const FailedPart& part : failed_parts(conditions, rule_, scope)) {
    out +=
        (out.empty() ? "" : "; ") + head + "[" + part.condition + "]" + (part.values.empty() ? "" : ": " + part.values);
  }
  return out;
}

std::string WhyText::tried(const Tried& one, const std::vector<Bound>& all) const {
  const auto bound = std::span(all).first(one.bound);
  std::string out = "  " + style_.event(*one.event) + ": ";
  switch (one.failed) {
    case Tried::Failed::kCondition: {
      const std::vector<Value> key = key_of(bound.empty() ? Bound{one.element, one.event.get()} : bound.front());
      const nfa::Scope scope{one.event.get(), bound, key, {}, &network_.fields()};
      out += failed(types(one.element), conditions_of(element(one.element), bound), scope);
      break;
    }
    case Tried::Failed::kTooEarly:
      out += types(one.element) + " came " + format_duration(one.event->time - bound.back().event->time) +
             " after the event before it, AFTER " + format_duration(one.edge->link.after) + " is not kept";
      break;
    case Tried::Failed::kTooLate:
      out += types(one.element) + " came " + format_duration(one.event->time - bound.back().event->time) +
             " after the event before it, ";
      out += one.edge->link.within && one.event->time - bound.back().event->time > *one.edge->link.within
                 ? "THEN WITHIN " + format_duration(*one.edge->link.within) + " is not kept"
                 : std::string("the WITHIN of its group is not kept");
      break;
  }
  return out + "\n";
}

/// How many parts fail: fewer is nearer.
std::size_t WhyText::failures(const Tried& one, const std::vector<Bound>& all) const {
  const auto bound = std::span(all).first(one.bound);
  if (one.failed != Tried::Failed::kCondition) return 1;
  const std::vector<Value> key = key_of(bound.empty() ? Bound{one.element, one.event.get()} : bound.front());
  const nfa::Scope scope{one.event.get(), bound, key, {}, &network_.fields()};
  return failed_parts(conditions_of(element(one.element), bound), rule_, scope).size();
}

/// The nearest ones, in the order in which they came.
std::string WhyText::tried(const engine::TriedList& list, const std::vector<Bound>& bound) const {
  std::vector<Tried> all = list.all();
  std::stable_sort(all.begin(), all.end(),
                   [&](const Tried& a, const Tried& b) { return failures(a, bound) < failures(b, bound); });
  // Of equally near ones the first and the last ones say most.
  if (all.size() > kMostShown) {
    const std::size_t best = failures(all.front(), bound);
    const auto rest =
        std::find_if(all.begin(), all.end(), [&](const Tried& each) { return failures(each, bound) > best; });
    const auto near = static_cast<std::size_t>(rest - all.begin());
    if (near > kMostShown) all[kMostShown - 1] = all[near - 1];
    all.resize(kMostShown);
  }
  std::stable_sort(all.begin(), all.end(),
                   [](const Tried& a, const Tried& b) { return a.event->sequence < b.event->sequence; });
  std::string out;
  for (const Tried& each : all) out += tried(each, bound);
  if (list.count > all.size())
    out += "  and " + plural(list.count - all.size(), "further event") + " that did not fit\n";
  return out;
}

// ---- how it ended ----

std::string WhyText::closed(const Bound& by) const {
  return element(by.element).role == plan::Role::kUntil
             ? "UNTIL " + types(by.element) + ": " + style_.event(*by.event) + " ended the repeat"
             : "NOT " + types(by.element) + ": broken by " + style_.event(*by.event);
}

std::string WhyText::end_of_time(const PartialStory& partial) const {
  const std::string at = "expired: its time was up after " + style_.time(partial.ended);
  const EventTime first = partial.bound.front().event->time, last = partial.bound.back().event->time;
  if (rule_.within && saturating_add(first, *rule_.within) == partial.ended) {
    return at + ", WITHIN " + format_duration(*rule_.within) + " of its first event";
  }
  const nfa::State& state = automaton_.states[static_cast<std::size_t>(partial.run->state)];
  for (const nfa::Edge& edge : state.edges) {
    if ((edge.branches & partial.run->branches) == 0 || !edge.link.within) continue;
    if (saturating_add(last, *edge.link.within) != partial.ended) continue;
    return at + ", THEN WITHIN " + format_duration(*edge.link.within) + " " + named(edge.elements, " or ") +
           " after the event before it";
  }
  for (std::size_t i = 0; i < automaton_.groups.size(); ++i) {
    const auto& within = automaton_.groups[i].within;
    if (!within || saturating_add(partial.run->groups[i].start, *within) != partial.ended) continue;
    return at + ", WITHIN " + format_duration(*within) + " of its group, which began at " +
           style_.time(partial.run->groups[i].start);
  }
  return at;
}

std::string WhyText::next_missed(const PartialStory& partial) const {
  const nfa::State& state = automaton_.states[static_cast<std::size_t>(partial.run->state)];
  std::vector<std::string> wanted;
  for (const nfa::Edge& edge : state.edges) {
    if ((edge.branches & partial.run->branches) == 0) continue;
    if (edge.link.contiguity == plan::Contiguity::kStrict) wanted.push_back("NEXT " + named(edge.elements, " or "));
  }
  if (wanted.empty()) wanted.push_back("CONSECUTIVE " + named(state.elements, " or "));
  return boost::algorithm::join(wanted, ", ") + ": the very next event was " + style_.event(*partial.by);
}

std::string WhyText::end(const PartialStory& partial) const {
  switch (partial.fate) {
    case Fate::kWaiting:
      return "it still waits";
    case Fate::kMatch:
      return "it is a match";
    case Fate::kExpired:
      return end_of_time(partial);
    case Fate::kTtl:
      return "expired: the state TTL was up after " + style_.time(partial.ended) + " (the rule has no WITHIN)";
    case Fate::kClosed:
      return closed(*partial.closed);
    case Fate::kUnless:
      return "UNLESS " + dsl::in_words(rule_.unless[partial.clause].types, network_.fields()) + ": broken by " +
             style_.event(*partial.by);
    case Fate::kNext:
      return next_missed(partial);
    case Fate::kCap:
      return "dropped: the key had more partial matches than max_partial_matches allows";
    case Fate::kPolicy:
      return "dropped by AFTER MATCH " + policy_words(rule_) + ": the match " +
             (partial.taken_id ? to_string(*partial.taken_id) + " " : "") + "was taken";
    case Fate::kHaving: {
      const std::vector<Value> key = key_of(partial.bound.front());
      const nfa::Scope scope{nullptr, partial.bound, key, {}, &network_.fields()};
      return "complete, but dropped by " + failed("HAVING ", rule_.having, scope);
    }
  }
  return {};
}

// ---- the whole ----

std::string WhyText::reported(const Story::Told& told) const {
  const std::uint64_t count = told.match_count + told.timeout_count;
  std::string out = told.match_count == 0   ? "no match"
                    : told.match_count == 1 ? "1 match"
                                            : std::to_string(told.match_count) + " matches";
  if (told.timeout_count > 0) out += ", " + plural(told.timeout_count, "time-out");
  out += "\n";
  if (count > told.reported.size()) out += std::to_string(count - told.reported.size()) + " earlier ones\n";
  for (const engine::MatchStory& match : told.reported) {
    std::vector<std::string> shown;
    for (const Bound& each : match.bound) shown.push_back(style_.event(*each.event));
    if (shown.size() > kMostShown + 1) {
      shown = {shown[0], shown[1], "…", shown.back()};
    }
    out += std::string(match_kind_name(match.kind)) + " " + to_string(match.id) + " at " + style_.time(match.time) +
           ": " + boost::algorithm::join(shown, ", ") + "\n";
    if (match.suppressed) {
      out += "  suppressed by LIMIT " + std::to_string(rule_.limit->count) + " PER " +
             format_duration(rule_.limit->per) + ": its actions did not run\n";
    }
  }
  return out;
}

std::string WhyText::furthest(const PartialStory& partial) const {
  std::string out = (partial.complete ? "a complete match that was not taken:\n" : "the furthest partial match:\n") +
                    bound(partial.bound);
  if (!partial.complete && partial.run) {
    out += "it waited for " + waits_for(*partial.run);
    if (partial.fate == Fate::kWaiting && rule_.within) {
      out += ", until " + style_.time(saturating_add(partial.bound.front().event->time, *rule_.within));
    }
    out += "\n";
  }
  out += tried(partial.tried, partial.bound);
  if (partial.closed && partial.fate != Fate::kClosed) out += "  " + closed(*partial.closed) + "\n";
  return out + end(partial) + "\n";
}

std::string WhyText::no_start(const Story::Told& told) const {
  const nfa::ElementSet first = automaton_.starting;
  std::uint64_t came = 0;
  std::vector<std::string> others;
  for (const auto& [id, count] : told.offered) {
    if ((first & plan::element_bit(id)) != 0) {
      came += count;
    } else {
      others.push_back(std::to_string(count) + " " + types(id));
    }
  }
  if (came == 0) {
    return "no event of the first element: a match begins with " + named(first, " or ") + ", and none came" +
           (others.empty() ? "" : "; there were " + boost::algorithm::join(others, ", ")) + "\n";
  }
  if (told.at_start.count == 0) return "every partial match that was begun became a match\n";
  return "no partial match was begun: the first element's condition did not hold\n" + tried(told.at_start, {});
}

std::string WhyText::left_out(const Story::Told& told) const {
  std::string out;
  if (told.filtered_count > 0) {
    out += "FROM left out " + plural(told.filtered_count, "event") +
           " of the key: " + events(told.filtered, told.filtered_count) + "\n";
    const Event& event = *told.filtered.front();
    for (const plan::EventTest& test : *rule_.from) {
      const bool of_type =
          test.types.any || std::binary_search(test.types.ids.begin(), test.types.ids.end(), event.type);
      const nfa::Scope scope{&event, {}, {}, {}, &network_.fields()};
      if (of_type) {
        out += "  " + style_.event(event) + ": " +
               failed(dsl::in_words(test.types, network_.fields()), test.conditions, scope) + "\n";
      }
    }
  }
  if (told.without_key_count > 0) {
    std::vector<std::string> names;
    for (const FieldPath& path : rule_.key) names.push_back(to_string(path));
    out += plural(told.without_key_count, "event") + " that the rule names had no " +
           boost::algorithm::join(names, ", ") + ", so no key: " + events(told.without_key, told.without_key_count) +
           "\n";
  }
  return out;
}

std::string WhyText::failure(const Story::Told& told) const {
  if (told.furthest == nullptr) return no_start(told) + left_out(told);
  if (told.under_way) return furthest(*told.furthest) + left_out(told);
  std::string out = "no partial match was under way then; of those before, " + furthest(*told.furthest);
  const std::vector<Tried> later = told.at_start.all();
  if (!later.empty() && later.back().event->time > told.furthest->ended) {
    out += "what came after it began none:\n" + tried(later.back(), {});
  }
  return out + left_out(told);
}

}  // namespace cepd::app
