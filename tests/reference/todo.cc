#include "tests/reference/todo.h"

#include <algorithm>

namespace cepd::reference {
namespace {

Link link_of(ast::LinkKind kind) {
  Link out;
  out.kind = kind;
  return out;
}

Item item_of(const Node& node, const Link& link) {
  if (const auto* element = std::get_if<Element>(&node.what)) return ElementLeft{element, link, 0};
  if (const auto* negated = std::get_if<Not>(&node.what)) return NotLeft{negated, link};
  if (const auto* either = std::get_if<Or>(&node.what)) return OrLeft{either, link};
  if (const auto* group = std::get_if<Group>(&node.what)) return GroupLeft{group, link};
  AndLeft out{&std::get<And>(node.what), link, {}};
  for (std::size_t i = 0; i < out.both->members.size(); ++i) out.open.push_back(i);
  return out;
}

/// "The link before a group is the link to its first element."
Todo items_of(const Sequence& sequence, const Link& before) {
  Todo out;
  for (const Step& step : sequence) out.push_back(item_of(*step.node, out.empty() ? before : step.link));
  return out;
}

/// What reaches a repeated group reaches its first event only ("THEN ANY before a repeat or group frees its first event
/// only", "CONSECUTIVE on a group is strict only between the last event of a repeat and the first of the next").
Todo repeat_of(const Group& group, Link before, std::uint32_t repeat) {
  before.first_only = before.first_only || group.repeated;
  Todo out{Begin{}};
  for (Item& item : items_of(group.body, before)) out.push_back(std::move(item));
  out.push_back(End{&group, repeat, !group.repeated, {}});
  return out;
}

/// `todo` with `items` in place of the `count` items from `at` on.
Todo replaced(const Todo& todo, std::size_t at, std::size_t count, const Todo& items) {
  Todo out(todo.begin(), todo.begin() + static_cast<std::ptrdiff_t>(at));
  out.insert(out.end(), items.begin(), items.end());
  out.insert(out.end(), todo.begin() + static_cast<std::ptrdiff_t>(at + count), todo.end());
  return out;
}

/// Settles what can be reached from item `at` on, everything before it being settled and free to be left out.
void settle(const Todo& todo, std::size_t at, std::vector<Todo>& out) {
  for (; at < todo.size(); ++at) {
    if (const auto* element = std::get_if<ElementLeft>(&todo[at])) {
      if (element->taken < element->element->min) break;
    } else if (std::holds_alternative<AndLeft>(todo[at])) {
      break;
    } else if (const auto* either = std::get_if<OrLeft>(&todo[at])) {
      for (const Sequence& branch : either->either->branches) {
        settle(replaced(todo, at, 1, items_of(branch, either->link)), at, out);
      }
      return;
    } else if (const auto* group = std::get_if<GroupLeft>(&todo[at])) {
      Link first = group->link;  // "COMBINATIONS frees the first event of each repeat", NEXT before it stays NEXT
      if (group->group->between == ast::LinkKind::kThenAny && first.kind == ast::LinkKind::kThen) {
        first.kind = ast::LinkKind::kThenAny;
      }
      settle(replaced(todo, at, 1, repeat_of(*group->group, first, 1)), at, out);
      if (group->group->min == 0) settle(replaced(todo, at, 1, {}), at, out);
      return;
    } else if (const auto* end = std::get_if<End>(&todo[at])) {
      if (end->decided) continue;
      if (!end->started) break;  // "no repeat is ever empty": nothing behind it without an event in it
      // "A repeated group may always also end where its count suffices": on both ways, independently.
      End done = *end;
      done.decided = true;
      if (!end->group->max || end->repeat < *end->group->max) {
        Todo next = repeat_of(*end->group, link_of(end->group->between), end->repeat + 1);
        next.insert(next.begin(), done);
        settle(replaced(todo, at, 1, next), at + 1, out);
      }
      if (end->repeat >= end->group->min) settle(replaced(todo, at, 1, {done}), at + 1, out);
      return;
    }
  }
  out.push_back(todo);
}

/// The groups that were entered before the item and end behind it.
template <class Todos>  // Todo or const Todo
auto groups_around(Todos& todo, std::size_t item) {
  std::vector<decltype(std::get_if<End>(&todo[0]))> out;
  std::size_t inner = 0;
  for (std::size_t i = item + 1; i < todo.size(); ++i) {
    if (std::holds_alternative<Begin>(todo[i])) ++inner;
    if (auto* end = std::get_if<End>(&todo[i])) {
      if (inner == 0) {
        out.push_back(end);
      } else {
        --inner;
      }
    }
  }
  return out;
}

bool only_marks(const Todo& todo, std::size_t from) {
  return std::all_of(todo.begin() + static_cast<std::ptrdiff_t>(from), todo.end(), [](const Item& item) {
    return std::holds_alternative<Begin>(item) || std::holds_alternative<End>(item);
  });
}

}  // namespace

Todo todo_of(const Sequence& pattern) { return items_of(pattern, {}); }

std::vector<Todo> settled(const Todo& todo) {
  std::vector<Todo> out;
  settle(todo, 0, out);
  return out;
}

Front front_of(Todo todo) {
  Front front;
  std::vector<NotLeft> nots;
  bool needed = false;
  for (std::size_t i = 0; i < todo.size() && !needed; ++i) {
    const auto way = [&](const Element* element, std::size_t member, const Link& link, std::uint32_t taken) {
      Way out{i, member, element, link, taken, nots, {}};
      for (const End* end : groups_around(todo, i)) out.groups.push_back(*end);
      front.ways.push_back(std::move(out));
    };
    if (const auto* element = std::get_if<ElementLeft>(&todo[i])) {
      way(element->element, 0, element->link, element->taken);
      needed = element->taken < element->element->min;
      front.waits_for_more = element->element->greedy && element->element->last && only_marks(todo, i + 1);
    } else if (const auto* both = std::get_if<AndLeft>(&todo[i])) {
      for (const std::size_t member : both->open) way(&both->both->members[member], member, both->link, 0);
      needed = true;
    } else if (const auto* negated = std::get_if<NotLeft>(&todo[i])) {
      nots.push_back(*negated);
    } else if (const auto* end = std::get_if<End>(&todo[i])) {
      needed = !end->decided;  // settled() has left it only where its repeat needs an event
    }
  }
  front.may_end = !needed;
  front.waits_for_more = front.waits_for_more && front.may_end;
  if (front.may_end) front.nots = std::move(nots);
  front.todo = std::move(todo);
  return front;
}

Todo after_taking(const Todo& todo, const Way& way, const Single& single, EventTime time) {
  Todo out(todo.begin() + static_cast<std::ptrdiff_t>(way.item), todo.end());  // what stood before it was left out
  for (End* end : groups_around(out, 0)) {
    if (!end->started) end->started = time;
  }
  if (auto* both = std::get_if<AndLeft>(&out.front())) {
    std::erase(both->open, way.member);
    both->taken[way.member] = &single;
    // "THEN ANY before an AND frees every member; NEXT before an AND: all members are very next events of each other";
    // "its link's bounds count to the member that comes first".
    both->link = link_of(both->link.first_only ? ast::LinkKind::kThen : both->link.kind);
    if (both->open.empty()) out.erase(out.begin());
    return out;
  }
  auto& element = std::get<ElementLeft>(out.front());
  ++element.taken;
  element.link = link_of(element.element->between);
  if (element.element->max && element.taken >= *element.element->max) out.erase(out.begin());
  return out;
}

}  // namespace cepd::reference
