"""What the wall clock decided is recorded: a crash does not ask it again, whatever it says by then."""

import json
import signal
import time

import cepd_e2e
from cepd_e2e import CepdTest, free_port, json_lines, post

RULES = ('RULE quiet KEY k MATCH a THEN NOT b WITHIN 100ms DO file(path: "{out}/quiet.jsonl")\n'
         'RULE seen MATCH a | b AS e WITHIN 1h DO file(path: "{out}/seen.jsonl")\n')


class ClockDecisions(CepdTest):
    def setUp(self):
        super().setUp()
        self.rules(RULES.replace("{out}", str(self.directory / "out")))
        self.events()
        self.begin_ms = time.time_ns() // 1_000_000

    def settings(self, **source):
        # No checkpoint but the first: all is done once more.
        self.configure(sources={"input": self.follow(**source)}, state={"interval": "1h"})

    def event(self, kind, ms, key):
        return {"type": kind, "ts": self.begin_ms + ms, "k": key}

    def ids(self, name):
        return [line["id"] for line in json_lines(self.directory / f"out/{name}.jsonl")]

    def kill(self, daemon):
        self.assertEqual(daemon.end(signal.SIGKILL), -signal.SIGKILL)

    def test_what_came_of_a_quiet_source_comes_of_it_again(self):
        self.settings(idle_after="50ms", max_future="1d")
        daemon = self.run_daemon()
        self.events(self.event("a", 0, 1))
        self.wait_lines("quiet.jsonl", 1, daemon)  # time went on by the clock
        self.events(self.event("b", 50, 1))
        daemon.wait_log("dropped 1 event: late_after_idle")
        later = time.time_ns() // 1_000_000 - self.begin_ms + 60_000
        self.events(self.event("a", later, 2))
        self.wait_lines("seen.jsonl", 2, daemon)
        before = {name: self.ids(name) for name in ("quiet", "seen")}
        self.kill(daemon)

        # By this clock time would not go on at all.
        daemon = self.run_daemon({"CEPD_FAULT": "clock=-10h"})
        daemon.wait_log("3 messages taken once more")
        self.assertIn("dropped 1 event: late_after_idle", daemon.log())
        self.assertNotIn("has not made all action calls again", daemon.log())
        self.events(self.event("b", later + 50, 2), self.event("a", later + 200, 3))
        self.wait_lines("seen.jsonl", 4, daemon)
        self.assertEqual(daemon.end(), 0)
        self.assertEqual(self.ids("quiet"), before["quiet"])
        self.assertEqual(self.ids("seen")[:2], before["seen"])
        self.assertEqual(len(set(self.ids("seen"))), 4)

    def test_an_event_of_the_future_stays_dropped_when_the_future_has_come(self):
        self.settings(max_future="1h")
        daemon = self.run_daemon()
        self.events(self.event("a", 7_200_000, 1), self.event("a", 0, 2))
        self.wait_lines("seen.jsonl", 1, daemon)
        self.assertIn("dropped 1 event: future", daemon.log())
        self.kill(daemon)
        daemon = self.run_daemon({"CEPD_FAULT": "clock=+3h"})
        daemon.wait_log("2 messages taken once more")
        self.events(self.event("a", 7_200_000, 3))  # now it can be
        self.wait_lines("seen.jsonl", 2, daemon)
        self.assertEqual(daemon.end(), 0)
        self.assertEqual([line["match"]["events"]["e"][0]["offset"] for line in self.wait_lines("seen.jsonl", 2)], [1, 2])

    def test_an_event_of_the_future_over_http(self):
        port = free_port()
        self.configure(sources={"web": {"type": "http", "port": port, "max_future": "1h"}}, state={"interval": "1h"})
        daemon = self.run_daemon()
        for event in (self.event("a", 7_200_000, 1), self.event("a", 0, 2)):
            self.assertEqual(post(port, "/events", json.dumps(event))[0], 200)
        self.wait_lines("seen.jsonl", 1, daemon)
        self.kill(daemon)
        daemon = self.run_daemon({"CEPD_FAULT": "clock=+3h"})
        daemon.wait_log("2 messages taken once more")
        self.assertIn("dropped 1 event: future", daemon.log())
        self.assertEqual(post(port, "/events", json.dumps(self.event("a", 0, 3)))[0], 200)
        self.wait_lines("seen.jsonl", 2, daemon)
        self.assertEqual(daemon.end(), 0)


if __name__ == "__main__":
    cepd_e2e.main()
