"""What the runs are fed with: events, rules, and what becomes of the rules on the way. All fixed by the seed."""

import json
import random

RULES = """
RULE pair KEY k MATCH a AS x THEN b AS y WITHIN 1m EMIT k, x.n AS first, y.n AS last DO file(), webhook(n: y.n)
RULE quiet KEY k MATCH a AS x THEN NOT b WITHIN 5s EMIT k, x.n AS n DO file()
RULE burst KEY k MATCH c{3} AS cs WITHIN 30s EMIT k, count(cs) AS n INTO burst_seen LIMIT 1 PER 1m DO webhook(n: n)
RULE chain KEY k MATCH burst_seen THEN a AS x WITHIN 1m EMIT k, x.n AS n DO file()
RULE wide MATCH d AS x THEN d AS y WITHIN 2s EMIT x.n AS first, y.n AS last DO file()
RULE mark MATCH mark AS m WITHIN 1s DO webhook(n: m.n)
"""
# Of events that carry the time at which they are sent.
LIVE_RULES = """
RULE pair KEY k MATCH a AS x THEN b AS y WITHIN 500ms EMIT k, x.n AS first, y.n AS last DO file(), webhook(n: y.n)
RULE quiet KEY k MATCH a AS x THEN NOT b WITHIN 150ms EMIT k, x.n AS n DO file()
"""
# Tells of each event that is handled.
EVERY_RULE = "RULE every MATCH a | b | c | d AS e WITHIN 1s EMIT e.n AS n DO file()\n"

BEGIN_MS = 1_700_000_000_000
MAX_DELAY_MS = 1000
FAR_FUTURE_MS = 4_000_000_000_000


def make_events(count, seed, marks=()):
    """Lines of events: out of order, some too late, some no events, some from a far future. In front of the line numbers
    `marks` an event `mark` that is handled as soon as it is taken: all that could stand before it has come."""
    chance = random.Random(seed)
    lines, newest, marks = [], BEGIN_MS, set(marks)
    for n in range(count):
        if n in marks:
            lines.append(json.dumps({"type": "mark", "ts": newest - MAX_DELAY_MS, "n": n}))
        ms = BEGIN_MS + 20 * n - chance.randrange(0, 900)
        kind = chance.choices("abcd", (3, 2, 2, 1))[0]
        odd = chance.random()
        if odd < 0.002:
            ms -= 60_000  # late
        elif odd < 0.003:
            ms = FAR_FUTURE_MS
        line = json.dumps({"type": kind, "ts": ms, "k": chance.randrange(0, max(50, count // 20)), "n": n})
        broken = 0.003 <= odd < 0.004
        if ms < FAR_FUTURE_MS and not broken:
            newest = max(newest, ms)
        lines.append(line[:-3] if broken else line)
    return lines


def rule_steps(count, seed, rules):
    """What becomes of the rule directory, step by step: rules that come, go, change, or are only written otherwise. Each
    step is file -> text or None. Each file stands for itself, so that it does not matter which one a start sees first."""
    chance = random.Random(f"rules {seed}")
    steps = []
    for number in range(count):
        step = {}
        if chance.random() < 0.6:
            within = chance.choice((5, 10, 20))
            text = (f"RULE changing KEY k MATCH a AS x THEN d AS y WITHIN {within}s "
                    "EMIT k, x.n AS first, y.n AS last DO file()\n")
            step["changing.rules"] = text if chance.random() < 0.7 else f"# step {number}\n{text}"
        if chance.random() < 0.5:
            step["extra.rules"] = chance.choice((
                None, "RULE extra KEY k MATCH b AS x THEN c AS y WITHIN 20s EMIT k, y.n AS n DO file(), webhook(n: y.n)\n"))
        if chance.random() < 0.5:
            step["other.rules"] = chance.choice((None, "RULE other SHADOW KEY k MATCH a THEN c WITHIN 20s\n"))
        if chance.random() < 0.5:
            # Read first, so that events have their fields in another order.
            step["above.rules"] = chance.choice((
                None, "RULE above SHADOW KEY n MATCH a AS x THEN b[k = x.k] WITHIN 5s\n"))
        steps.append(step or {"all.rules": f"# step {number}\n{rules}"})
    return steps
