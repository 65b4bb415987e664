#include "tests/reference/runs.h"

#include <algorithm>
#include <span>

namespace cepd::reference {
namespace {

/// Input events after a run's last one that it did not take.
using Passed = std::vector<EventPtr>;

/// One run against the events that follow it.
class Reader {
 public:
  Reader(const Rule& rule, const Key& key, EventTime watermark, std::vector<std::unique_ptr<Run>>& runs)
      : rule_(rule), key_(key), watermark_(watermark), runs_(runs) {}

  /// "Each event that the first element accepts starts a partial match of its own."
  void start(const EventPtr& event) {
    for (Todo& todo : settled(todo_of(rule_.pattern))) {
      Run nothing;
      nothing.front = front_of(std::move(todo));
      for (const Taken& taken : takers(nothing, event, {})) bear(nullptr, nothing, taken, event);
    }
  }

  void read(Run& run, std::span<const KeyEvent> events) {
    Passed passed;
    for (const KeyEvent& next : events) {
      if (falls_due(run, passed, next.event->time)) return;
      const Event& event = *next.event;
      const std::vector<Taken> taken = next.input ? takers(run, next.event, passed) : std::vector<Taken>{};
      for (const Taken& each : taken) bear(&run, run, each, next.event);
      if (dropped_by_unless(run, event)) return finish(run, RunEnd::kBroken, event.place);
      if (!next.input) continue;
      passed.push_back(next.event);
      if (run.absence) {
        if (looks_at(run, passed)) return;
        continue;
      }
      // "The partial match also goes on without the event only if no way took it, or all that took it were reached by
      // THEN ANY or are a repeat with COMBINATIONS."
      if (!std::all_of(taken.begin(), taken.end(), [](const Taken& each) { return is_free(*each.way); })) {
        return finish(run, RunEnd::kMoved, event.place);
      }
      if (run.front.waits_for_more) {
        if (last_repeat_ends(run, passed)) return complete(run, event.place);
      } else if (!any_open(run, passed, event.time)) {
        return finish(run, RunEnd::kBroken, event.place);
      }
    }
    falls_due(run, passed, watermark_);
  }

 private:
  struct Taken {
    const Way* way = nullptr;
    const Single* single = nullptr;
  };

  static void finish(Run& run, RunEnd end, Point point) {
    if (run.end != RunEnd::kAlive) return;
    run.end = end;
    run.ended = point;
  }
  static void complete(Run& run, Point point) {
    run.completes = point;
    finish(run, RunEnd::kComplete, point);
  }

  // ---- taking an event ----

  /// THEN ANY and COMBINATIONS: "accepted events may also be left out"; COMBINATIONS frees the first event too when it
  /// is reached by THEN, with NEXT it stays the very next event.
  static bool is_free(const Way& way) {
    return way.link.kind == ast::LinkKind::kThenAny ||
           (way.element->between == ast::LinkKind::kThenAny && way.link.kind == ast::LinkKind::kThen);
  }

  /// Every way that takes the event, and as which alternative. "GREEDY: what follows never gets an event that the
  /// repeat could take."
  std::vector<Taken> takers(const Run& run, const EventPtr& event, const Passed& passed) const {
    std::vector<Taken> out;
    for (const Way& way : run.front.ways) {
      const Single* single = may_take(run, way, *event, passed) ? accepting(run, way, *event) : nullptr;
      if (single == nullptr) continue;
      out.push_back({&way, single});
      if (way.element->greedy) break;
    }
    return out;
  }

  /// Its link reaches the event, no NOT forbids it, UNTIL lets it through and every bound holds.
  bool may_take(const Run& run, const Way& way, const Event& event, const Passed& passed) const {
    if (run.bound.empty()) return !until_holds(run, way, event);
    if (!is_open(run, way, passed) || event.time > deadline(run, way)) return false;
    if (way.link.after && event.time - run.last().time < *way.link.after) return false;
    for (const NotLeft& negated : way.nots) {
      // "A NEXT NOT B: the very next event is not a B", also when it is the event that would be bound
      if (negated.link.kind == ast::LinkKind::kNext && passed.empty() && forbids(run, negated, event)) return false;
    }
    return !until_holds(run, way, event);
  }

  /// The alternative that the event goes to: "the one written first" that accepts it.
  const Single* accepting(const Run& run, const Way& way, const Event& event) const {
    for (const Single& single : way.element->alternatives) {
      if (accepts(single, run, event, &way)) return &single;
    }
    return nullptr;
  }

  /// A part of WHERE "is part of what an element accepts".
  bool accepts(const Single& single, const Run& run, const Event& event, const Way* way) const {
    if (!reference::accepts(*single.event, event, Scope{rule_, run.bound, key_, &event, true, {}})) return false;
    return std::all_of(single.where.begin(), single.where.end(), [&](const WherePart& part) {
      if (way != nullptr && !is_tested_here(run, *way, part)) return true;
      return holds(*part.condition, Scope{rule_, run.bound, key_, &event, false, single.slot});
    });
  }

  /// "Of the members of one AND, whichever comes last in time": not while others that the part names are open, and not
  /// if one of them took an alternative that the part does not name.
  static bool is_tested_here(const Run& run, const Way& way, const WherePart& part) {
    const auto* both = std::get_if<AndLeft>(&run.front.todo[way.item]);
    if (both == nullptr) return true;
    return std::all_of(part.members.begin(), part.members.end(), [&](std::size_t member) {
      if (member == way.member) return true;
      const auto taken = both->taken.find(member);
      return taken != both->taken.end() &&
             std::any_of(taken->second->where.begin(), taken->second->where.end(),
                         [&](const WherePart& its) { return its.condition == part.condition; });
    });
  }

  void bear(const Run* parent, const Run& from, const Taken& taken, const EventPtr& event) {
    Bindings bound = from.bound;
    bound.push_back({taken.single->slot, taken.single->place, event});
    for (Todo& todo : settled(after_taking(from.front.todo, *taken.way, *taken.single, event->time))) {
      Run run;
      run.parent = parent;
      run.bound = bound;
      run.front = front_of(std::move(todo));
      run.born = event->place;
      if (run.front.may_end && !run.front.nots.empty()) {
        // "Every partial match that could be complete without the NOT waits for it"
        Run waiting = run;
        waiting.absence = true;
        waiting.front.ways.clear();
        add(std::move(waiting));
        if (run.front.ways.empty()) continue;
      } else if (run.front.may_end && !run.front.waits_for_more) {
        run.completes = run.born;
        if (run.front.ways.empty()) finish(run, RunEnd::kComplete, run.born);
      }
      add(std::move(run));
    }
  }
  void add(Run run) {
    if (runs_.size() >= kMaxRuns) throw TooManyRuns{};
    runs_.push_back(std::make_unique<Run>(std::move(run)));
  }

  // ---- what stays open ----

  std::vector<const Way*> open_ways(const Run& run, const Passed& passed) const {
    std::vector<const Way*> out;
    for (const Way& way : run.front.ways) {
      if (is_open(run, way, passed)) out.push_back(&way);
    }
    return out;
  }

  bool any_open(const Run& run, const Passed& passed, EventTime now) const {
    const auto open = open_ways(run, passed);
    return std::any_of(open.begin(), open.end(), [&](const Way* way) { return deadline(run, *way) >= now; });
  }

  /// Whether the way may still take some later event after these have passed by, bounds aside.
  bool is_open(const Run& run, const Way& way, const Passed& passed) const {
    if (way.link.kind == ast::LinkKind::kNext && !passed.empty()) return false;
    for (std::size_t i = 0; i < passed.size(); ++i) {
      for (const NotLeft& negated : way.nots) {
        const bool looked_at = negated.link.kind != ast::LinkKind::kNext || i == 0;
        if (looked_at && forbids(run, negated, *passed[i])) return false;
      }
      // "the first one after the repeat's first event ends it"
      if (way.taken > 0 && until_holds(run, way, *passed[i])) return false;
    }
    return true;
  }

  /// "`THEN WITHIN d NOT B` looks d far": up to and including that time.
  bool forbids(const Run& run, const NotLeft& negated, const Event& event) const {
    if (negated.link.within && event.time - run.last().time > *negated.link.within) return false;
    return std::any_of(negated.negated->any_of.begin(), negated.negated->any_of.end(),
                       [&](const Single& single) { return accepts(single, run, event, nullptr); });
  }

  bool until_holds(const Run& run, const Way& way, const Event& event) const {
    return way.element->until != nullptr &&
           reference::accepts(*way.element->until, event, Scope{rule_, run.bound, key_, &event, true, {}});
  }

  // ---- bounds ----

  /// The last time at which the way may take an event: its link's WITHIN, those of the groups it is in, the match's.
  EventTime deadline(const Run& run, const Way& way) const {
    EventTime out = rule_.within ? run.first().time + *rule_.within : kMaxTime;
    if (way.link.within) out = std::min(out, run.last().time + *way.link.within);
    for (const End& end : way.groups) {
      if (end.group->within && end.started) out = std::min(out, *end.started + *end.group->within);
    }
    return out;
  }

  /// Ends the run if a deadline of it lies strictly before `now`.
  bool falls_due(Run& run, const Passed& passed, EventTime now) const {
    if (run.absence && last_not(run).link.kind != ast::LinkKind::kNext) {
      const EventTime due = absence_due(run);
      if (due >= now) return false;
      complete(run, Point::deadline(due, rule_.level));
      return true;
    }
    EventTime due = rule_.within ? run.first().time + *rule_.within : kMaxTime;
    if (!run.absence && !run.front.waits_for_more) {
      EventTime latest = kMinTime;
      for (const Way* way : open_ways(run, passed)) latest = std::max(latest, deadline(run, *way));
      due = latest;
    }
    if (due == kMaxTime || due >= now) return false;
    // "A last GREEDY repeat completes once … when the match's WITHIN has passed"
    if (run.front.waits_for_more) {
      complete(run, Point::deadline(due, rule_.level));
    } else {
      finish(run, RunEnd::kBound, Point::deadline(due, rule_.level));
    }
    return true;
  }

  // ---- absence, the last GREEDY repeat, UNLESS ----

  static const NotLeft& last_not(const Run& run) { return run.front.nots.back(); }

  /// How far a last THEN NOT looks: first + the final WITHIN, or its own bound if that is earlier.
  EventTime looks_until(const Run& run, const NotLeft& negated) const {
    EventTime out = rule_.within ? run.first().time + *rule_.within : kMaxTime;
    if (negated.link.within) out = std::min(out, run.last().time + *negated.link.within);
    return out;
  }
  /// "Completion at the latest of their ends, at most first + final WITHIN."
  EventTime absence_due(const Run& run) const {
    EventTime out = kMinTime;
    for (const NotLeft& negated : run.front.nots) {
      if (negated.link.kind != ast::LinkKind::kNext) out = std::max(out, looks_until(run, negated));
    }
    return out;
  }

  /// A waiting run sees the event that passed last. True if that ended it.
  bool looks_at(Run& run, const Passed& passed) const {
    const Event& event = *passed.back();
    for (const NotLeft& negated : run.front.nots) {
      const bool next = negated.link.kind == ast::LinkKind::kNext;
      if ((next ? passed.size() == 1 : event.time <= looks_until(run, negated)) && forbids(run, negated, event)) {
        finish(run, RunEnd::kBroken, event.place);
        return true;
      }
    }
    // "A last NEXT NOT B matches at the very next event if that is within the bound and not a B"
    if (last_not(run).link.kind != ast::LinkKind::kNext) return false;
    complete(run, event.place);
    return true;
  }

  /// "…when its UNTIL came, or, with CONSECUTIVE, an event did not fit". Without WITHIN an event that did not fit after
  /// NEXT ends it too: it can take no more, and nothing else would end it.
  bool last_repeat_ends(const Run& run, const Passed& passed) const {
    const Way& way = run.front.ways.back();
    if (way.link.kind == ast::LinkKind::kNext) return way.element->between == ast::LinkKind::kNext || !rule_.within;
    return way.taken > 0 && until_holds(run, way, *passed.back());
  }

  /// "an event with the key that x accepts, after the match's first event and not bound by that match"
  bool dropped_by_unless(const Run& run, const Event& event) const {
    return std::any_of(rule_.written->unless.begin(), rule_.written->unless.end(),
                       [&](const ast::EventPattern& unless) {
                         return reference::accepts(unless, event, Scope{rule_, run.bound, key_, &event, true, {}});
                       });
  }

  const Rule& rule_;
  const Key& key_;
  EventTime watermark_;
  std::vector<std::unique_ptr<Run>>& runs_;
};

}  // namespace

std::vector<std::unique_ptr<Run>> all_runs(const Rule& rule, const Key& key, const std::vector<KeyEvent>& events,
                                           EventTime watermark) {
  std::vector<std::unique_ptr<Run>> runs;
  Reader reader(rule, key, watermark, runs);
  const std::span<const KeyEvent> all(events);
  std::size_t read = 0;
  for (std::size_t i = 0; i < events.size(); ++i) {
    if (events[i].input) reader.start(events[i].event);
    // Reading a run bears others, at later events; each is read from its own last event on.
    for (; read < runs.size(); ++read) {
      std::size_t next = i;
      while (events[next].event != runs[read]->bound.back().event) ++next;
      reader.read(*runs[read], all.subspan(next + 1));
    }
  }
  return runs;
}

int match_order(const Bindings& a, const Bindings& b) {
  const auto by = [](auto x, auto y) { return x < y ? -1 : x > y ? 1 : 0; };
  if (const int order = by(a.front().event->place, b.front().event->place); order != 0) return order;
  if (const int order = by(b.size(), a.size()); order != 0) return order;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (const int order = by(a[i].event->place, b[i].event->place); order != 0) return order;
  }
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (const int order = by(a[i].slot, b[i].slot); order != 0) return order;
  }
  return 0;
}

}  // namespace cepd::reference
