#pragma once
/// What a partial match still has to do: a flat list of what is left of the pattern, front first. Groups that were
/// entered lie in it between Begin and End. Lists are values; nothing is shared and nothing compiled.

#include "tests/reference/rule.h"

namespace cepd::reference {

/// An element of which `taken` events are bound so far.
struct ElementLeft {
  const Element* element = nullptr;
  Link link;  ///< to its next event
  std::uint32_t taken = 0;
};
/// An AND, which of its members have no event yet, and what the others took.
struct AndLeft {
  const And* both = nullptr;
  Link link;  ///< to its next event
  std::vector<std::size_t> open;
  std::map<std::size_t, const Single*> taken = {};
};
struct NotLeft {
  const Not* negated = nullptr;
  Link link;
};
struct OrLeft {
  const Or* either = nullptr;
  Link link;
};
struct GroupLeft {
  const Group* group = nullptr;
  Link link;
};
struct Begin {};
/// The end of one repeat of a group, or of mere parentheses.
struct End {
  const Group* group = nullptr;
  std::uint32_t repeat = 1;
  bool decided = false;                   ///< what comes after it is settled
  std::optional<EventTime> started = {};  ///< the time of the repeat's first event
};
using Item = std::variant<ElementLeft, AndLeft, NotLeft, OrLeft, GroupLeft, Begin, End>;
using Todo = std::vector<Item>;

/// The whole pattern.
Todo todo_of(const Sequence& pattern);

/// "As if the rule were written once per alternative": every way to settle the decisions (the branch of an OR, into a
/// group's next repeat or past it) that can be reached before the next event. They wait independently of each other.
std::vector<Todo> settled(const Todo& todo);

/// One event pattern that may take the next event.
struct Way {
  std::size_t item = 0;    ///< in the list
  std::size_t member = 0;  ///< of an AND
  const Element* element = nullptr;
  Link link;
  std::uint32_t taken = 0;         ///< of a repeat: events it has
  std::vector<NotLeft> nots = {};  ///< that stand before it: they guard the stretch up to its event
  std::vector<End> groups = {};    ///< whose repeats the event would belong to
};

/// A settled list, seen from its front: what may come next.
struct Front {
  Todo todo;
  std::vector<Way> ways;        ///< in pattern order; they are open together
  bool may_end = false;         ///< nothing is needed any more but `nots`
  std::vector<NotLeft> nots;    ///< last in the pattern: absence
  bool waits_for_more = false;  ///< it ends with a GREEDY repeat that is not full: complete only when that has ended
};
Front front_of(Todo todo);

/// The list after `way` has taken an event at `time` as `single`.
Todo after_taking(const Todo& todo, const Way& way, const Single& single, EventTime time);

}  // namespace cepd::reference
