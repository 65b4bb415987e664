"""Rules that read what other rules make: replay prints makers' ids; a daemon goes on in the middle of a chain."""

import json
import re

import cepd_e2e
from cepd_e2e import CepdTest, json_lines

CHAIN = '''
RULE fails
  KEY   user.id
  MATCH fail{2} WITHIN 1m
  EMIT  count(fail) AS n INTO burst
RULE quiet
  KEY   user.id
  MATCH burst THEN NOT logout WITHIN 10s
  EMIT  burst.n AS n INTO quiet_burst
RULE alarm
  KEY   user.id
  MATCH quiet_burst AS q THEN burst AS b WITHIN 1h
  EMIT  q.n AS n, q.user AS user
  DO    file(path: "{out}/alarm.jsonl")
'''
SEEN = 'RULE seen MATCH fail | logout AS e DO file(path: "{out}/seen.jsonl")\n'


class Chain(CepdTest):
    def setUp(self):
        super().setUp()
        self.count = 0
        self.put(CHAIN)
        self.rules(SEEN.replace("{out}", str(self.directory / "out")), name="seen.rules")
        self.events()

    def put(self, text):
        self.rules(text.replace("{out}", str(self.directory / "out")), name="chain.rules")

    def append(self, *events):
        self.events(*({"type": kind, "ts": seconds * 1000, "user": {"id": user}} for kind, seconds, user in events))
        self.count += len(events)

    def send(self, daemon, *events):
        self.append(*events)
        self.wait_lines("seen.jsonl", self.count, daemon)

    def by_rule(self, matches, rule):
        return [match for match in matches if match["rule"] == rule]

    def test_replay_of_two_levels_prints_the_makers(self):
        self.append(("fail", 0, 1), ("fail", 1, 1), ("fail", 2, 2), ("fail", 11, 2), ("fail", 20, 1), ("fail", 21, 1))
        matches = self.replay(self.directory / "events.jsonl")
        chained = [match for match in matches if match["rule"] != "seen"]
        self.assertEqual([(match["rule"], match["key"]["user"]["id"], match["time"]) for match in chained],
                         [("fails", 1, 1000), ("fails", 2, 11000), ("quiet", 1, 11000),
                          ("fails", 1, 21000), ("alarm", 1, 21000), ("quiet", 2, 21000), ("quiet", 1, 31000)])
        first, _, quiet, second, alarm = chained[:5]
        self.assertEqual(quiet["events"], {"burst": [first["match"]]})
        self.assertEqual(alarm["events"], {"q": [quiet["match"]], "b": [second["match"]]})
        self.assertEqual(alarm["emit"], {"n": 2, "user": {"id": 1}})
        self.assertEqual((alarm["first"], alarm["last"]), (11000, 21000))
        full = self.replay(self.directory / "events.jsonl", "--events", "full")
        self.assertEqual(self.by_rule(full, "alarm")[0]["events"], alarm["events"])

    def test_replay_with_lanes_prints_the_same(self):
        self.append(*((("fail", "fail", "logout")[i * i % 3 % 2 + i % 2], i // 3, i % 17) for i in range(3000)))
        arguments = ("replay", "--rules", "rules", "--input", "events.jsonl")
        one = self.cepd(*arguments)
        self.assertEqual(one.returncode, 0, one.stderr)
        self.assertGreater(one.stdout.count('"rule":"alarm"'), 20)
        for lanes in ("2", "4"):
            more = self.cepd(*arguments, "--lanes", lanes)
            self.assertEqual((more.returncode, more.stderr), (0, one.stderr))
            self.assertEqual(more.stdout, one.stdout)

    def test_type_that_a_source_brings_too_is_a_warning(self):
        self.append(("burst", 0, 1), ("burst", 1, 1))
        done = self.cepd("replay", "--rules", "rules", "--input", "events.jsonl")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stderr.count("warning"), 1, done.stderr)
        self.assertIn("events.jsonl:1: warning: events of type burst come from a source, and the rule fails makes such "
                      "too: rules that name the type read both", done.stderr)
        self.assertEqual(len(self.by_rule([json.loads(line) for line in done.stdout.splitlines()], "quiet")), 2)

    def test_restart_in_the_middle_of_a_chain(self):
        self.configure(sources={"input": self.follow()})
        steps = [("fail", 0, 1), ("fail", 1, 1), ("fail", 5, 2), ("fail", 15, 2), ("fail", 30, 1), ("fail", 31, 1)]
        for step in steps:
            daemon = self.run_daemon()
            self.send(daemon, step)
            self.assertEqual(daemon.end(), 0)
        alarm, = json_lines(self.directory / "out/alarm.jsonl")
        replayed = self.by_rule(self.replay(self.directory / "events.jsonl"), "alarm")
        self.assertEqual([alarm["id"]], [match["match"] for match in replayed])
        self.assertEqual(alarm["match"]["events"], replayed[0]["events"])
        # A rule that makes events and has no DO writes nothing to the log.
        self.assertIn("action file", daemon.log())
        self.assertNotIn("action log", daemon.log())

    def test_reload_changes_levels_and_refuses_a_cycle(self):
        self.configure(sources={"input": self.follow()})
        daemon = self.run_daemon()
        self.send(daemon, ("fail", 0, 1), ("fail", 1, 1))
        self.put(CHAIN + "RULE back MATCH quiet_burst AS q EMIT q.n AS n INTO fail\n")
        done = self.cepd("reload", "--config", self.config_file)
        self.assertEqual(done.returncode, 1)
        place = re.escape(str(self.directory / "rules/chain.rules"))
        self.assertRegex(done.stderr, place + r":5:31: error: these rules feed each other: fails makes burst for quiet, "
                         r"quiet \(" + place + r":9:27\) makes quiet_burst for back, back \(" + place +
                         r":15:53\) makes fail for fails\n")
        # Another level between bursts and those who read them.
        self.put(CHAIN.replace("INTO burst", "INTO raw") +
                 "RULE pass KEY user.id MATCH raw EMIT raw.n AS n INTO burst\n")
        done = self.cepd("reload", "--config", self.config_file)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("4 of them unchanged with their partial matches", done.stdout)
        self.send(daemon, ("fail", 30, 1), ("fail", 31, 1))
        alarm, = self.wait_lines("alarm.jsonl", 1, daemon)
        self.assertEqual(alarm["match"]["time"], 31000)
        self.assertEqual(daemon.end(), 0)


if __name__ == "__main__":
    cepd_e2e.main()
