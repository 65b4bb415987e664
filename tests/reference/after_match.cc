#include "tests/reference/after_match.h"

#include <algorithm>
#include <set>

namespace cepd::reference {
namespace {

using Policy = ast::Policy;

/// The life of all runs once matches are taken and policies drop.
class Policies {
 public:
  Policies(const Rule& rule, const Key& key, const std::vector<std::unique_ptr<Run>>& runs)
      : rule_(rule), key_(key), runs_(runs) {}

  std::vector<Result> results() {
    std::set<Point> points;
    for (const auto& run : runs_) {
      if (run->completes) points.insert(*run->completes);
    }
    for (const Point& point : points) take_matches(point);
    for (const Point& first : first_events()) report_timeout(first);
    // Of one deadline, matches come before time-outs.
    std::stable_sort(out_.begin(), out_.end(), [](const Result& a, const Result& b) {
      if (a.known != b.known) return a.known < b.known;
      if (a.kind != b.kind) return a.kind < b.kind;
      return match_order(a.bound, b.bound) < 0;
    });
    return out_;
  }

 private:
  // ---- which runs are there ----

  /// Whether it was ever born: every run it came from was still there at that time.
  bool exists(const Run& run) const {
    if (run.parent == nullptr) return true;
    const auto dropped = dropped_.find(run.parent);
    return (dropped == dropped_.end() || dropped->second >= run.born) && exists(*run.parent);
  }
  bool dropped_by(const Run& run, const Point& point) const {
    const auto dropped = dropped_.find(&run);
    return dropped != dropped_.end() && dropped->second <= point;
  }
  /// What ends by a bound at a deadline is still there when the matches of that deadline are taken.
  bool is_partial_at(const Run& run, const Point& point) const {
    if (!exists(run) || run.born > point || dropped_by(run, point)) return false;
    return run.end == RunEnd::kAlive || run.ended > point || (run.ended == point && run.end == RunEnd::kBound);
  }

  // ---- matches ----

  /// "Matches that complete at the same event (or instant) are taken in the order …. For each that is taken the policy
  /// says what is dropped, among the other complete matches and the partial ones."
  void take_matches(const Point& point) {
    std::vector<const Run*> complete;
    for (const auto& run : runs_) {
      if (run->completes != point || !exists(*run) || dropped_by(*run, point)) continue;
      completed_.insert(run->first().place);  // "before HAVING and LIMIT"
      complete.push_back(run.get());
    }
    std::sort(complete.begin(), complete.end(),
              [](const Run* a, const Run* b) { return match_order(a->bound, b->bound) < 0; });
    // "Matches that bind the same events to the same elements are one."
    complete.erase(std::unique(complete.begin(), complete.end(),
                               [](const Run* a, const Run* b) { return match_order(a->bound, b->bound) == 0; }),
                   complete.end());
    // "HAVING (a match it drops skips nothing and counts for nothing), policy, LIMIT"
    std::erase_if(complete, [&](const Run* run) {
      return rule_.written->having &&
             !holds(*rule_.written->having, Scope{rule_, run->bound, key_, nullptr, false, {}});
    });
    while (!complete.empty()) {
      const Run& match = *complete.front();
      complete.erase(complete.begin());
      out_.push_back({ResultKind::kMatch, {}, {}, point, match.bound});
      std::erase_if(complete, [&](const Run* other) { return drops(match, *other); });
      for (const auto& run : runs_) {
        if (is_partial_at(*run, point) && drops(match, *run)) dropped_[run.get()] = point;
      }
    }
  }

  /// What the rule's policy drops for a match that was taken.
  bool drops(const Run& match, const Run& other) const {
    const Point& started = other.first().place;
    switch (rule_.written->after_match ? rule_.written->after_match->policy : Policy::kConsume) {
      case Policy::kConsume:  // "every other one that holds an event of this match"
        return std::any_of(other.bound.begin(), other.bound.end(), [&](const Bound& bound) {
          return std::any_of(match.bound.begin(), match.bound.end(),
                             [&](const Bound& used) { return used.event == bound.event; });
        });
      case Policy::kNoSkip:
        return false;
      case Policy::kSkipPastLast:  // "all that started at or before the match's last event"
        return started <= match.last().place;
      case Policy::kSkipToNext:  // "all that started on the match's first event"
        return started == match.first().place;
      case Policy::kSkipToFirst:  // "all that started before the first / last event bound to name"
        return started < std::ranges::min(places(match));
      case Policy::kSkipToLast:
        return started < std::ranges::max(places(match));
    }
    return false;
  }

  std::vector<Point> places(const Run& match) const {
    std::vector<Point> out;
    for (const Bound& bound : match.bound) {
      if (bound.slot == rule_.skip_to) out.push_back(bound.event->place);
    }
    return out;
  }

  // ---- time-outs ----

  std::set<Point> first_events() const {
    std::set<Point> out;
    if (!rule_.written->on_timeout) return out;
    for (const auto& run : runs_) out.insert(run->first().place);
    return out;
  }

  /// A partial match is what is bound; the runs that bind the same are its ways to go on. "The partial match that
  /// cannot go on any more because its last open way ran out of a bound ends by time-out at that time."
  struct Partial {
    const Run* run = nullptr;  ///< one of its ways
    Point ended;               ///< the last of them
    bool by_bound = false;
    bool moved = false;  ///< the last of them took an event
  };

  /// The partial matches of a first event; nothing while one of them still waits.
  std::vector<Partial> partials_of(const Point& first) const {
    std::vector<Partial> out;
    for (const auto& run : runs_) {
      if (run->first().place != first || !exists(*run)) continue;
      const auto dropped = dropped_.find(run.get());
      const bool was_dropped = dropped != dropped_.end();
      if (run->end == RunEnd::kAlive && !was_dropped) return {};
      const Partial way{run.get(), was_dropped ? dropped->second : run->ended,
                        !was_dropped && run->end == RunEnd::kBound, !was_dropped && run->end == RunEnd::kMoved};
      const auto same = std::find_if(
          out.begin(), out.end(), [&](const Partial& each) { return match_order(each.run->bound, run->bound) == 0; });
      if (same == out.end()) {
        out.push_back(way);
      } else if (way.ended > same->ended || (way.ended == same->ended && way.by_bound)) {
        *same = way;
      }
    }
    return out;
  }

  /// "For a first event, when its last partial match ends because a bound ran out … and no match of that first event
  /// has completed. … Reported is, of those that a bound ended, the one" that got furthest.
  void report_timeout(const Point& first) {
    if (completed_.count(first) != 0) return;
    const Run* furthest = nullptr;
    std::optional<Point> last_bound, last_other;
    for (const Partial& partial : partials_of(first)) {
      if (partial.moved) continue;
      auto& last = partial.by_bound ? last_bound : last_other;
      last = std::max(last, std::optional(partial.ended));
      if (partial.by_bound && (furthest == nullptr || got_further(*partial.run, *furthest))) furthest = partial.run;
    }
    if (!last_bound || last_other > last_bound) return;
    out_.push_back({ResultKind::kTimeout, {}, {}, *last_bound, furthest->bound});
  }

  /// "whose last bound element stands latest in the pattern (an AND: more members bound), then more events, then the
  /// order above"
  static bool got_further(const Run& a, const Run& b) {
    const auto reached = [](const Run& run) { return std::pair(run.bound.back().place, members_bound(run)); };
    if (reached(a) != reached(b)) return reached(a) > reached(b);
    if (a.bound.size() != b.bound.size()) return a.bound.size() > b.bound.size();
    return match_order(a.bound, b.bound) < 0;
  }

  /// Of an AND that has begun; anything else counts as whole.
  static std::size_t members_bound(const Run& run) {
    const auto* both = run.front.todo.empty() ? nullptr : std::get_if<AndLeft>(&run.front.todo.front());
    const bool begun = both != nullptr && both->open.size() < both->both->members.size();
    return begun ? both->both->members.size() - both->open.size() : SIZE_MAX;
  }

  const Rule& rule_;
  const Key& key_;
  const std::vector<std::unique_ptr<Run>>& runs_;
  std::map<const Run*, Point> dropped_;
  std::set<Point> completed_;  ///< first events of complete matches
  std::vector<Result> out_;
};

}  // namespace

std::vector<Result> after_match(const Rule& rule, const Key& key, const std::vector<std::unique_ptr<Run>>& runs) {
  return Policies(rule, key, runs).results();
}

}  // namespace cepd::reference
