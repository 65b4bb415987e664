"""More partial matches than state.memory: the keys that wait longest are on disk only, and nothing else changes."""

import re
import signal

import cepd_e2e
from cepd_e2e import CepdTest, json_lines

KEYS = 8_000  # each takes over a KiB in memory, so that 1 MiB holds less than a tenth of them
# One that events end, one that deadlines end, and one that a reload brings.
PAIR = 'RULE pair KEY k MATCH a THEN b WITHIN 1h DO file(path: "{out}/matches.jsonl")\n'
SILENT = 'RULE silent KEY k MATCH a THEN NOT b WITHIN 10m DO file(path: "{out}/matches.jsonl")\n'
MARK = 'RULE mark MATCH x DO file(path: "{out}/marks.jsonl")\n'
LATER = 'RULE later KEY k MATCH a THEN b THEN c WITHIN 2h DO file(path: "{out}/matches.jsonl")\n'


def events(kind, second, keys):
    return [{"type": kind, "ts": 1_000_000_000_000 + 1000 * second + i // 8, "k": k} for i, k in enumerate(keys)]


class Memory(CepdTest):
    def setUp(self):
        super().setUp()
        self.text = (PAIR + SILENT + MARK).replace("{out}", str(self.directory / "out"))
        self.rules(self.text)
        self.configure(sources={"input": self.follow(idle_after="1h")},
                       state={"memory": "1MiB", "interval": "50ms", "min_interval": "0s"})
        self.events()

    def keys_line(self, daemon):
        found = re.findall(r"keys: (\d+) in memory and (\d+) on disk only; (\d+) forgotten and (\d+) read", daemon.log())
        self.assertTrue(found, daemon.log())
        return [int(figure) for figure in found[-1]]

    def assert_as_replayed(self):
        matches = [line["id"] for name in ("matches", "marks")
                   for line in json_lines(self.directory / f"out/{name}.jsonl")]
        replayed = [match["match"] for match in self.replay(self.directory / "events.jsonl")]
        self.assertEqual(len(matches), len(replayed))
        self.assertEqual(set(matches), set(replayed))

    def test_ten_times_more_keys_than_fit(self):
        pairs = range(0, KEYS, 3)
        self.events(*events("a", 0, range(KEYS)), *events("b", 300, pairs), *events("a", 900, range(100)),
                    *events("x", 2000, [0]))
        expected = KEYS + 100
        daemon = self.run_daemon()
        self.wait_lines("matches.jsonl", expected, daemon, patience=60)
        self.assertEqual(daemon.end(), 0)
        _, cold, forgotten, read = self.keys_line(daemon)
        self.assertGreater(forgotten, KEYS * 8 // 10)
        self.assertGreater(read, KEYS * 8 // 10)
        self.assert_as_replayed()

    def test_start_reads_no_key_and_a_kill_changes_nothing(self):
        self.events(*events("a", 0, range(KEYS)), *events("x", 100, [0]))
        daemon = self.run_daemon()
        self.wait_lines("marks.jsonl", 1, daemon, patience=60)
        self.saved()
        self.assertEqual(daemon.end(signal.SIGKILL), -9)
        daemon = self.run_daemon()
        daemon.wait_log(rf"restored partial matches of {2 * KEYS} keys")
        self.assertEqual(daemon.end(), 0)
        here, cold, forgotten, read = self.keys_line(daemon)
        self.assertEqual((here, cold, read), (0, KEYS, 0))
        daemon = self.run_daemon()
        self.events(*events("b", 300, range(0, KEYS, 2)), *events("x", 1000, [0]))
        self.wait_lines("matches.jsonl", KEYS, daemon, patience=60)
        self.assertEqual(daemon.end(), 0)
        self.assert_as_replayed()

    def test_reload_keeps_what_is_on_disk_only(self):
        self.events(*events("a", 0, range(KEYS)), *events("x", 100, [0]))
        daemon = self.run_daemon()
        self.wait_lines("marks.jsonl", 1, daemon, patience=60)
        self.saved()
        self.rules(self.text.replace("RULE silent", "RULE other").replace("10m", "11m") +
                   LATER.replace("{out}", str(self.directory / "out")))
        daemon.process.send_signal(signal.SIGHUP)
        daemon.wait_log(r"reloaded: 4 rules, 2 of them unchanged")
        # And back: what the rule had begun went with the first reload.
        self.rules(self.text)
        daemon.process.send_signal(signal.SIGHUP)
        daemon.wait_log(r"reloaded: 3 rules, 2 of them unchanged")
        self.events(*events("b", 300, range(0, KEYS, 2)), *events("x", 1000, [0]))
        self.wait_lines("matches.jsonl", KEYS // 2, daemon, patience=60)
        self.assertEqual(daemon.end(), 0)
        self.assertEqual({line["rule"] for line in json_lines(self.directory / "out/matches.jsonl")}, {"pair"})
        self.assertGreater(self.keys_line(daemon)[2], KEYS // 2)


if __name__ == "__main__":
    cepd_e2e.main()
