"""Input that is none: each bad line is counted by its reason and kept, and the good ones around it match."""

import base64
import json
import time

import cepd_e2e
from cepd_e2e import CepdTest, json_lines

GOOD_A = b'{"type":"a","ts":%d,"k":%d}'
GOOD_B = b'{"type":"b","ts":%d,"k":%d}'

DEEP = b'{"type":"a","ts":1,"x":' + b"[" * 10_000 + b"]" * 10_000 + b"}"
LONG = b'{"type":"a","ts":1,"x":"' + b"y" * 10_000_000 + b'"}'

BAD = [  # what it is, reason, line
    ("text", "not_json", b"this is no JSON"),
    ("cut off", "not_json", b'{"type":"a","ts":1'),
    ("array", "not_json", b'[{"type":"a","ts":1}]'),
    ("two objects", "not_json", b'{"type":"a","ts":1}{"type":"a","ts":1}'),
    ("NaN", "not_json", b'{"type":"a","ts":1,"x":NaN}'),
    ("NUL bytes", "not_json", b'{"type":"a","ts":1,\0"x":1}'),
    ("NUL bytes in a string", "not_json", b'{"type":"a","ts":1,"x":"\0\0"}'),
    ("no type", "no_type", b'{"ts":1,"k":1}'),
    ("type is a number", "no_type", b'{"type":7,"ts":1,"k":1}'),
    ("no time", "no_time", b'{"type":"a","k":1}'),
    ("time is a word", "no_time", b'{"type":"a","ts":"soon","k":1}'),
    ("time out of range", "no_time", b'{"type":"a","ts":1e300,"k":1}'),
    ("300 digits", "bad_number", b'{"type":"a","ts":1,"x":' + b"7" * 300 + b"}"),
    ("no double holds it", "bad_number", b'{"type":"a","ts":1,"x":1e999}'),
    ("10,000 deep", "too_deep", DEEP),
    ("no UTF-8", "invalid_utf8", b'{"type":"a","ts":1,"x":"\xff\xfe"}'),
    ("no UTF-8 in a name", "invalid_utf8", b'{"type":"a","ts":1,"\xc3\x28":1}'),
    ("10 MB", "too_long", LONG),
    ("far future", "future", b'{"type":"a","ts":%d,"k":1}' % int((time.time() + 86400) * 1000)),
]


class BadInput(CepdTest):
    def test_bad_lines_between_good_ones(self):
        self.rules('RULE pair KEY k MATCH a THEN b WITHIN 1h DO file()')
        lines = []
        for i, (_, _, bad) in enumerate(BAD):
            # Each bad line stands in the midst of a match.
            lines += [GOOD_A % (1000 + 2 * i, i), bad, GOOD_B % (1001 + 2 * i, i)]
        events = self.events(*lines)
        self.configure(sources={"input": self.follow()}, actions={"file": {"path": "out/actions.jsonl"}})
        daemon = self.run_daemon()
        matches = self.wait_lines("actions.jsonl", len(BAD), daemon)
        self.assertEqual([[e["offset"] for es in match["match"]["events"].values() for e in es] for match in matches],
                         [[3 * i, 3 * i + 2] for i in range(len(BAD))])
        self.assertEqual(daemon.end(), 0)
        log = daemon.log()
        self.assertRegex(log, rf"{len(lines)} messages read, {2 * len(BAD)} events handled")

        reasons = [reason for _, reason, _ in BAD]
        for reason in set(reasons):
            self.assertRegex(log, rf"{reasons.count(reason)} events dropped: {reason}\b")
        kept = json_lines(self.directory / "out/dead_letter.jsonl")
        self.assertEqual([(record["offset"], record["reason"]) for record in kept],
                         [(3 * i + 1, reason) for i, reason in enumerate(reasons)])
        for record, (what, _, bad) in zip(kept, BAD):
            with self.subTest(what):
                self.assertEqual((record["source"], record["partition"]), ("input", 0))
                original = record["text"].encode() if "text" in record else base64.b64decode(record["base64"])
                self.assertEqual(original, bad[:len(original)])
                if record["reason"] != "too_long":  # of which the source keeps only a beginning
                    self.assertEqual(len(original), len(bad))

        # A replay makes the same matches, and counts all as bad but what only a clock or a source's limit refuses. The
        # event of the future makes those late that come after it: there is no clock that says it cannot be.
        self.assertEqual(BAD[-1][1], "future")
        done = self.cepd("replay", "--rules", "rules", "--input", events, "--config", self.config_file, "--strict")
        self.assertEqual(done.returncode, 3)
        self.assertEqual([json.loads(line)["match"] for line in done.stdout.splitlines()],
                         [match["id"] for match in matches[:-1]])
        self.assertRegex(done.stderr, rf", {len(BAD) - 2} bad lines")

    def test_flood_of_bad_lines_is_logged_seldom_and_counted_fully(self):
        self.rules('RULE last MATCH a WITHIN 1h DO file()')
        self.events(*([b"junk"] * 5000), GOOD_A % (1, 1))
        self.configure(sources={"input": self.follow()}, actions={"file": {"path": "out/actions.jsonl"}})
        daemon = self.run_daemon()
        self.wait_lines("actions.jsonl", 1, daemon)
        self.assertEqual(daemon.end(), 0)
        self.assertRegex(daemon.log(), r"5000 events dropped: not_json")
        self.assertLess(len(daemon.log().splitlines()), 40)
        self.assertEqual(len(json_lines(self.directory / "out/dead_letter.jsonl")), 5000)

    def test_late_events_go_to_their_own_file(self):
        self.rules('RULE pair MATCH a NEXT b WITHIN 1h DO file()')
        self.events(GOOD_A % (2000, 1), GOOD_A % (1000, 1), GOOD_B % (2001, 1))
        self.configure(sources={"input": self.follow()}, daemon={"late": "out/late.jsonl"},
                       actions={"file": {"path": "out/actions.jsonl"}})
        daemon = self.run_daemon()
        self.wait_lines("actions.jsonl", 1, daemon)
        self.assertEqual(daemon.end(), 0)
        self.assertRegex(daemon.log(), r"1 events dropped: late\b")
        late, = json_lines(self.directory / "out/late.jsonl")
        self.assertEqual((late["offset"], late["reason"], late["text"].encode()), (1, "late", GOOD_A % (1000, 1)))
        self.assertEqual(json_lines(self.directory / "out/dead_letter.jsonl"), [])

    def test_declared_types_are_held(self):
        self.rules('EVENT a (k int, v double?)\nRULE r MATCH a WITHIN 1h DO file()')
        self.events({"type": "a", "ts": 1, "k": "one"}, {"type": "a", "ts": 2}, {"type": "a", "ts": 3, "k": 1, "v": "x"},
                    {"type": "a", "ts": 4, "k": 1, "v": None}, {"type": "a", "ts": 5, "k": 1, "v": 3, "more": []})
        self.configure(sources={"input": self.follow()}, actions={"file": {"path": "out/actions.jsonl"}})
        daemon = self.run_daemon()
        lines = self.wait_lines("actions.jsonl", 2, daemon)
        self.assertEqual([line["time_ms"] for line in lines], [4, 5])
        self.assertEqual(daemon.end(), 0)
        kept = json_lines(self.directory / "out/dead_letter.jsonl")
        self.assertEqual([record["reason"] for record in kept], ["schema"] * 3)
        self.assertIn("k", kept[0]["detail"])


if __name__ == "__main__":
    cepd_e2e.main()
