#!/usr/bin/env python3
"""Computes from the definitions of the rule language what rules/examples/*.rules find in the January flights.

It shares nothing with cepd: no automaton, no partial matches, no event at a time. Each rule below is evaluated from its
definition: for every event that can be first, which events belong to its match; then the policy picks among those.

Usage: flights_oracle.py            writes flights_expected.json beside itself
       flights_oracle.py --lines    prints the expected [rule, time_ms, first_ms, last_ms] lines, sorted
       flights_oracle.py --compare REPLAY.jsonl    what `cepd replay` printed against the expected; exit 1 on a difference
"""

import collections
import gzip
import hashlib
import json
import pathlib
import sys

MINUTE = 60_000
HOUR = 60 * MINUTE
DAY = 24 * HOUR

HERE = pathlib.Path(__file__).resolve().parent
DATA = HERE.parent.parent / "data" / "flights-2013-01.jsonl.gz"
EXPECTED = HERE / "flights_expected.json"


class Event:
    """One input line. Equality is identity: two lines of equal content are two events."""

    def __init__(self, position, fields):
        self.position = position  # place in the total order: the file is ordered by time, equal times go by line
        self.fields = fields
        self.ts = fields["ts"]
        self.type = fields["type"]

    def __getattr__(self, name):
        return self.fields.get(name)


def read_events():
    with gzip.open(DATA, "rt", encoding="utf-8") as lines:
        events = [Event(i, json.loads(line)) for i, line in enumerate(lines)]
    assert all(a.ts <= b.ts for a, b in zip(events, events[1:])), "the data is not in event-time order"
    return events


def by_key(events, types, fields):
    """The input of a rule: events of these types in order, apart by key; an event without a key field is left out."""
    keys = collections.defaultdict(list)
    for event in events:
        key = tuple(event.fields.get(field) for field in fields)
        if event.type in types and None not in key:
            keys[key].append(event)
    return keys.values()


# A comparison with null is unknown, and only true accepts.
def less(a, b):
    return a is not None and b is not None and a < b


def at_least(a, b):
    return a is not None and b is not None and a >= b


class Match:
    def __init__(self, events, time=None):
        self.events = events  # in order
        self.first, self.last = events[0], events[-1]
        self.time = self.last.ts if time is None else time

    def line(self, rule):
        return [rule, self.time, self.first.ts, self.last.ts]


def completion_order(matches):
    """Completing event, then earlier first event, then more events, then positions."""
    return sorted(
        matches,
        key=lambda m: (m.last.position, m.first.position, -len(m.events), [e.position for e in m.events]),
    )


def consume(matches):
    """AFTER MATCH CONSUME within one key: a match that holds an event of one taken before it is none."""
    used, taken = set(), []
    for match in completion_order(matches):
        if used.isdisjoint(match.events):
            used.update(match.events)
            taken.append(match)
    return taken


def skip_past_last(matches):
    """AFTER MATCH SKIP PAST LAST within one key: whatever started at or before a taken match's last event is none."""
    past, taken = -1, []
    for match in completion_order(matches):
        if match.first.position > past:
            past = match.last.position
            taken.append(match)
    return taken


def fast_turnaround(events):
    """landing NEXT departure WITHIN 5h HAVING up.ts - down.ts - down.air_time * 1m < 70m. Consecutive pairs share no
    event, since a pair is landing, departure."""
    for own in by_key(events, {"landing", "departure"}, ["tailnum"]):
        for down, up in zip(own, own[1:]):
            if down.type == "landing" and up.type == "departure" and up.ts - down.ts <= 5 * HOUR:
                if down.air_time is not None and up.ts - down.ts - down.air_time * MINUTE < 70 * MINUTE:
                    yield Match([down, up])


def lost_flight(events):
    """departure AS dep THEN NOT landing[flight = dep.flight] WITHIN 12h: no such landing after it in the order, up to
    and including dep.ts + 12h; the match's time is the deadline. One event each, so nothing to consume."""
    for own in by_key(events, {"landing", "departure"}, ["tailnum"]):
        for i, dep in enumerate(own):
            if dep.type != "departure":
                continue
            landed = any(
                e.type == "landing" and e.flight == dep.flight and e.ts <= dep.ts + 12 * HOUR for e in own[i + 1 :]
            )
            if not landed:
                yield Match([dep], dep.ts + 12 * HOUR)


def route_trouble(events):
    """(cancelled | departure)[type = "cancelled" OR dep_delay >= 90]{3} WITHIN 3h: from each start the next two that
    are accepted."""
    for own in by_key(events, {"cancelled", "departure"}, ["origin", "dest"]):
        bad = [e for e in own if e.type == "cancelled" or at_least(e.dep_delay, 90)]
        triples = [list(t) for t in zip(bad, bad[1:], bad[2:])]
        yield from consume([Match(t) for t in triples if t[2].ts - t[0].ts <= 3 * HOUR])


def rising_gusts(events):
    """Three very next weather reports of an airport, each gust above the one before, from 20 mph, HAVING a rise by a
    fifth."""
    for own in by_key(events, {"weather"}, ["origin"]):
        found = []
        for low, mid, high in zip(own, own[1:], own[2:]):
            if not at_least(low.wind_gust, 20) or high.ts - low.ts > 3 * HOUR:
                continue
            if less(low.wind_gust, mid.wind_gust) and less(mid.wind_gust, high.wind_gust):
                if high.wind_gust >= 1.2 * low.wind_gust:
                    found.append(Match([low, mid, high]))
        yield from consume(found)


def fog_delays(events):
    """weather[visib <= 1] THEN departure[dep_delay >= 45]{3} WITHIN 3h UNLESS weather[visib >= 5], SKIP PAST LAST: the
    first three late departures after the report, with no clear report between it and the third."""
    for own in by_key(events, {"weather", "departure"}, ["origin"]):
        found = []
        for i, fog in enumerate(own):
            if fog.type != "weather" or fog.visib is None or fog.visib > 1:
                continue
            late = []
            for event in own[i + 1 :]:
                if event.ts > fog.ts + 3 * HOUR or (event.type == "weather" and at_least(event.visib, 5)):
                    break
                if event.type == "departure" and at_least(event.dep_delay, 45):
                    late.append(event)
                if len(late) == 3:
                    found.append(Match([fog, *late]))
                    break
        yield from skip_past_last(found)


def late_again(events):
    """departure[dep_delay >= 60] AS first THEN landing AS down (of that flight, by WHERE) THEN NOT
    departure[dep_delay < 15] THEN departure[dep_delay >= 60] AS again WITHIN 12h."""
    for own in by_key(events, {"departure", "landing"}, ["tailnum"]):
        found = []
        for i, first in enumerate(own):
            if first.type != "departure" or not at_least(first.dep_delay, 60):
                continue
            rest = own[i + 1 :]
            down = next((j for j, e in enumerate(rest) if e.type == "landing" and e.flight == first.flight), None)
            if down is None:
                continue
            departures = [e for e in rest[down + 1 :] if e.type == "departure"]
            again = next((j for j, e in enumerate(departures) if at_least(e.dep_delay, 60)), None)
            if again is None or any(less(e.dep_delay, 15) for e in departures[:again]):
                continue
            if departures[again].ts - first.ts <= 12 * HOUR:
                found.append(Match([first, rest[down], departures[again]]))
        yield from consume(found)


def storm_cancellations(events):
    """weather[wind_gust >= 40] AS storm THEN ANY cancelled WITHIN 3h, NO SKIP: every pair."""
    for own in by_key(events, {"weather", "cancelled"}, ["origin"]):
        for i, storm in enumerate(own):
            if storm.type == "weather" and at_least(storm.wind_gust, 40):
                for gone in own[i + 1 :]:
                    if gone.type == "cancelled" and gone.ts - storm.ts <= 3 * HOUR:
                        yield Match([storm, gone])


def rebooked_candidates(own):
    """(match or None, time-out or None) of every cancelled event: cancelled AS gone THEN cancelled? AS more THEN
    departure AS next WITHIN 6h. The optional one is taken when it comes before the departure."""
    for i, gone in enumerate(own):
        if gone.type != "cancelled":
            continue
        in_time = [e for e in own[i + 1 :] if e.ts <= gone.ts + 6 * HOUR]
        out = next((j for j, e in enumerate(in_time) if e.type == "departure"), None)
        more = [e for e in in_time[:out] if e.type == "cancelled"][:1]
        if out is not None:
            yield Match([gone, *more, in_time[out]]), None
        else:
            yield None, Match([gone, *more], gone.ts + 6 * HOUR)


def rebooked(events):
    for own in by_key(events, {"cancelled", "departure"}, ["origin", "dest"]):
        yield from consume([match for match, _ in rebooked_candidates(own) if match])


def rebooked_timeout(events):
    """A first event that a taken match dropped has no time-out: it shared the departure or a cancellation with it. Each
    that is a time-out here had no departure for 6 h, so no match took an event of its partial match: a match ends
    with a departure, which would have come before the time-out."""
    for own in by_key(events, {"cancelled", "departure"}, ["origin", "dest"]):
        yield from (timeout for _, timeout in rebooked_candidates(own) if timeout)


def late_streak(events):
    """FROM departure[dep_delay < 0 OR dep_delay >= 30]: departure[dep_delay >= 30]+ AS late NEXT departure[dep_delay <
    0] WITHIN 10d HAVING count(late) >= 3. In that input every event is late or good, so a start's match is all late ones
    up to the next good one, which is the very next event after the last of them."""
    for own in by_key(events, {"departure"}, ["carrier", "flight"]):
        own = [e for e in own if less(e.dep_delay, 0) or at_least(e.dep_delay, 30)]
        found = []
        for i, start in enumerate(own):
            end = next((j for j in range(i, len(own)) if less(own[j].dep_delay, 0)), None)
            if end is not None and end - i >= 3 and own[end].ts - start.ts <= 10 * DAY:
                found.append(Match(own[i : end + 1]))
        yield from consume(found)


RULES = {
    "fast_turnaround": fast_turnaround,
    "fog_delays": fog_delays,
    "late_again": late_again,
    "late_streak": late_streak,
    "lost_flight": lost_flight,
    "rebooked": rebooked,
    "rebooked/timeout": rebooked_timeout,
    "rising_gusts": rising_gusts,
    "route_trouble": route_trouble,
    "storm_cancellations": storm_cancellations,
}


def to_text(line):
    return json.dumps(line, separators=(",", ":"))


def digest(lines):
    return hashlib.sha256("".join(line + "\n" for line in sorted(lines)).encode()).hexdigest()


def expected_lines():
    events = read_events()
    return {rule: [to_text(match.line(rule)) for match in find(events)] for rule, find in RULES.items()}


def replay_lines(path):
    """The lines of a replay, by rule; a time-out counts as rule/timeout."""
    found = {rule: [] for rule in RULES}
    with open(path, encoding="utf-8") as lines:
        for match in map(json.loads, lines):
            rule = match["rule"] + ("" if match["kind"] == "match" else "/" + match["kind"])
            found.setdefault(rule, []).append(to_text([rule, match["time"], match["first"], match["last"]]))
    return found


def document_of(lines):
    return {
        "rules": {rule: {"count": len(own), "sha256": digest(own)} for rule, own in lines.items()},
        "sha256": digest([line for own in lines.values() for line in own]),
    }


def compare(path):
    expected, actual = expected_lines(), replay_lines(path)
    good = json.loads(EXPECTED.read_text(encoding="utf-8")) == document_of(expected)
    if not good:
        print(f"{EXPECTED.name} is not what this script finds: run it again, and say in the commit why")
    for rule in sorted(actual):
        wanted, got = collections.Counter(expected.get(rule, [])), collections.Counter(actual[rule])
        missing, extra = sorted((wanted - got).elements()), sorted((got - wanted).elements())
        print(f"{rule}: expected {wanted.total()}, got {got.total()}, {len(missing)} missing, {len(extra)} extra")
        for sign, lines in (("-", missing), ("+", extra)):
            for line in lines[:5]:
                print(f"  {sign} {line}")
        good = good and not missing and not extra
    return 0 if good else 1


def main():
    if len(sys.argv) == 3 and sys.argv[1] == "--compare":
        return compare(sys.argv[2])
    lines = expected_lines()
    if sys.argv[1:] == ["--lines"]:
        print("\n".join(sorted(line for own in lines.values() for line in own)))
        return 0
    if sys.argv[1:]:
        print(__doc__, file=sys.stderr)
        return 2
    EXPECTED.write_text(json.dumps(document_of(lines), indent=2) + "\n", encoding="utf-8")
    for rule, own in lines.items():
        print(f"{rule}: {len(own)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
