"""Rules change while cepd runs: by SIGHUP and by `cepd reload`."""

import os
import signal

import cepd_e2e
from cepd_e2e import CepdTest

# `seen` shows in out/seen.jsonl that an event has been through the rules.
SEEN = 'RULE seen MATCH a | b | c AS e WITHIN 1h DO file(path: "{out}/seen.jsonl")\n'
PAIR = 'RULE pair KEY k MATCH a THEN b WITHIN 1h EMIT k DO file(path: "{out}/pair.jsonl")\n'


class Reload(CepdTest):
    def setUp(self):
        super().setUp()
        self.next_ms = 0
        self.count = 0
        self.put("seen.rules", SEEN)
        self.put("pair.rules", PAIR)
        self.events()

    def start(self, **reload):
        self.configure(sources={"input": self.follow()}, reload=reload)
        return self.run_daemon()

    def put(self, name, text):
        self.rules(text.replace("{out}", str(self.directory / "out")), name=name)

    def send(self, daemon, *types, k=1):
        """Writes events and waits until they have been through the rules."""
        for kind in types:
            self.next_ms += 1
            self.events({"type": kind, "ts": self.next_ms, "k": k})
        self.count += len(types)
        self.wait_lines("seen.jsonl", self.count, daemon)

    def reload(self):
        return self.cepd("reload", "--config", self.config_file)

    def good_reload(self):
        done = self.reload()
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stderr, "")
        return done.stdout

    def test_new_rule_is_taken_by_reload_command(self):
        daemon = self.start()
        self.put("more.rules", 'RULE more MATCH c WITHIN 1h DO file(path: "{out}/more.jsonl")\n')
        self.send(daemon, "c")
        self.assertIn("reloaded: 3 rules, 2 of them unchanged with their partial matches, 1 new or changed, 0 gone",
                      self.good_reload())
        self.send(daemon, "c")
        line, = self.wait_lines("more.jsonl", 1, daemon)
        self.assertEqual(line["match"]["events"]["c"][0]["offset"], 1)
        (self.directory / "rules/more.rules").unlink()
        self.assertIn("reloaded: 2 rules, 2 of them unchanged with their partial matches, 0 new or changed, 1 gone",
                      self.good_reload())
        self.send(daemon, "c")
        self.assertEqual(daemon.end(), 0)
        self.wait_lines("more.jsonl", 1)

    def test_new_rule_is_taken_by_sighup(self):
        daemon = self.start()
        self.put("more.rules", 'RULE more MATCH c WITHIN 1h DO file(path: "{out}/more.jsonl")\n')
        os.kill(daemon.pid, signal.SIGHUP)
        daemon.wait_log("reloaded: 3 rules")
        self.send(daemon, "c")
        self.wait_lines("more.jsonl", 1, daemon)
        self.assertEqual(daemon.end(), 0)

    def test_broken_file_is_refused_and_old_rules_go_on(self):
        daemon = self.start()
        self.send(daemon, "a")
        self.put("broken.rules", "RULE broken\n  MATCH a THEN b WITHIN soon\n")
        self.put("good.rules", 'RULE good MATCH c WITHIN 1h DO file(path: "{out}/good.jsonl")\n')
        done = self.reload()
        self.assertEqual(done.returncode, 1)
        place = f"{self.directory}/rules/broken.rules:2:25: error: "
        self.assertIn(place, done.stderr)
        self.assertRegex(done.stderr, r"(?m)^ +\^")
        self.assertIn("the rules that ran before keep running", done.stderr)
        self.assertEqual(done.stdout, "")
        daemon.wait_log(r"\[error\] \S*rules/broken\.rules:2:25: error: ")
        # None of the new set is taken, and the partial match of the old one goes on.
        self.send(daemon, "c", "b")
        self.wait_lines("pair.jsonl", 1, daemon)
        self.wait_lines("good.jsonl", 0)
        (self.directory / "rules/broken.rules").unlink()
        self.assertIn("reloaded: 3 rules", self.good_reload())
        self.send(daemon, "c")
        self.wait_lines("good.jsonl", 1, daemon)

    def test_link_that_leads_nowhere_is_named(self):
        self.start()
        (self.directory / "rules/lost.rules").symlink_to("/nonexistent.rules")
        done = self.reload()
        self.assertEqual(done.returncode, 1)
        self.assertIn("rules/lost.rules:1:1: error: cannot read the rule file: No such file or directory", done.stderr)

    def test_unknown_action_is_refused(self):
        daemon = self.start()
        self.put("more.rules", "RULE more MATCH c WITHIN 1h DO fil()\n")
        done = self.reload()
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stderr, r"more\.rules:1:\d+: error: .*fil")
        self.assertIn("did you mean file?", done.stderr)
        self.assertIsNone(daemon.process.poll())

    def test_unchanged_meaning_keeps_partial_matches(self):
        daemon = self.start()
        for text in (
                "\n\n# a comment\n" + PAIR.replace("KEY k MATCH", "KEY k\n    MATCH  # here too\n"),
                PAIR.replace("RULE pair", 'RULE pair "a description"'),
                PAIR.replace("DO file(", 'DO log("{k}"), file(note: "other", '),
                PAIR.replace("EMIT k", "EMIT k, b.ts AS at"),
        ):
            with self.subTest(text):
                self.send(daemon, "a")
                self.put("pair.rules", text)
                self.assertIn("reloaded: 2 rules, 2 of them unchanged", self.good_reload())
                before = len(cepd_e2e.json_lines(self.directory / "out/pair.jsonl"))
                self.send(daemon, "b")
                line = self.wait_lines("pair.jsonl", before + 1, daemon)[-1]
                self.assertEqual([e["offset"] for es in line["match"]["events"].values() for e in es],
                                 [self.count - 2, self.count - 1])

    def test_new_action_text_is_what_runs_after_the_reload(self):
        daemon = self.start()
        self.send(daemon, "a")
        self.put("pair.rules", PAIR.replace("DO file(", 'DO file(note: "new {k}", '))
        self.good_reload()
        self.send(daemon, "b")
        line, = self.wait_lines("pair.jsonl", 1, daemon)
        self.assertEqual(line["arguments"], {"note": "new 1"})

    def test_changed_pattern_starts_anew(self):
        daemon = self.start()
        for text in (PAIR.replace("WITHIN 1h", "WITHIN 2h"), PAIR.replace("THEN b", "THEN b[k = 1]"),
                     PAIR.replace("THEN b", "NEXT b"), PAIR.replace("KEY k ", "")):
            with self.subTest(text):
                self.send(daemon, "a")
                self.put("pair.rules", text.replace("EMIT k ", "" if "KEY" not in text else "EMIT k "))
                self.assertIn("reloaded: 2 rules, 1 of them unchanged with their partial matches, 1 new or changed",
                              self.good_reload())
                self.send(daemon, "b")
        self.assertEqual(daemon.end(), 0)
        self.wait_lines("pair.jsonl", 0)

    def test_field_first_read_by_a_new_rule(self):
        """What waits in the order buffer is decoded again by the new rules' fields."""
        self.configure(sources={"input": self.follow(max_delay="10s")})
        daemon = self.run_daemon()
        self.events({"type": "a", "ts": 1000, "k": 1}, {"type": "b", "ts": 2000, "k": 1, "deep": {"v": [5, 6]}},
                    {"type": "c", "ts": 11000, "k": 1})
        # `c` lets `a` through, so `b` was read and waits.
        self.wait_lines("seen.jsonl", 1, daemon)
        self.put("deep.rules", 'RULE deep MATCH b[deep.v[1] = 6] WITHIN 1h EMIT b.deep.v AS v '
                               'DO file(path: "{out}/deep.jsonl")\n')
        self.assertIn("reloaded: 3 rules", self.good_reload())
        self.events({"type": "c", "ts": 20000, "k": 1})
        line, = self.wait_lines("deep.jsonl", 1, daemon)
        self.assertEqual(line["match"]["emit"], {"v": [5, 6]})

    def test_require_tests_refuses_failing_tests(self):
        self.put("pair.test.rules", 'TEST t FOR pair\n  GIVEN a @0s {k: 1}\n        b @1s {k: 1}\n  EXPECT MATCH {k: 1}\n')
        daemon = self.start(require_tests=True)
        self.assertIn("reloaded", self.good_reload())
        self.send(daemon, "a")
        self.put("pair.rules", PAIR.replace("THEN b", "THEN c"))
        done = self.reload()
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stderr, r"FAIL t \(\S*rules/pair\.test\.rules:1\)")
        self.assertIn("reload refused, tests fail", done.stderr)
        self.send(daemon, "b")
        self.wait_lines("pair.jsonl", 1, daemon)

    def test_without_require_tests_they_do_not_count(self):
        self.put("pair.test.rules", "TEST t FOR pair\n  GIVEN a @0s {k: 1}\n  EXPECT MATCH {k: 1}\n")
        self.start()
        self.assertIn("reloaded: 2 rules", self.good_reload())

    def test_reload_without_a_daemon(self):
        self.configure(sources={"input": self.follow()})
        done = self.reload()
        self.assertEqual(done.returncode, 1)
        self.assertIn(f"no cepd runs with {self.directory}/run", done.stderr)

    def test_many_reloads_lose_no_event(self):
        daemon = self.start()
        for i in range(20):
            self.put("more.rules", f"RULE more{i} MATCH c WITHIN 1h\n")
            os.kill(daemon.pid, signal.SIGHUP)
            self.next_ms += 1
            self.events({"type": "a", "ts": self.next_ms, "k": i}, {"type": "b", "ts": self.next_ms, "k": i})
        self.wait_lines("pair.jsonl", 20, daemon)
        self.wait_lines("seen.jsonl", 40, daemon)
        self.assertEqual(daemon.end(), 0)


if __name__ == "__main__":
    cepd_e2e.main()
