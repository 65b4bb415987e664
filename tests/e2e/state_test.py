"""`cepd state` beside daemons: state in use, and moved to another directory."""

import cepd_e2e
from cepd_e2e import CepdTest, json_lines

PAIRS = 'RULE pairs KEY k MATCH a THEN ANY b WITHIN 1h AFTER MATCH NO SKIP DO file(path: "{out}/pairs.jsonl")\n'
SEEN = 'RULE seen MATCH a | b AS e WITHIN 1h DO file(path: "{out}/seen.jsonl")\n'


class State(CepdTest):
    def setUp(self):
        super().setUp()
        out = str(self.directory / "out")
        self.rules((PAIRS + SEEN).replace("{out}", out))
        self.count = 0
        self.events()
        self.configure(sources={"input": self.follow()})

    def send(self, daemon, *events):
        self.events(*({"type": kind, "ts": ms, "k": k} for kind, ms, k in events))
        self.count += len(events)
        self.wait_lines("seen.jsonl", self.count, daemon)

    def stopped_with_state(self):
        daemon = self.run_daemon()
        self.send(daemon, *(("a", i, i) for i in range(200)))
        self.assertEqual(daemon.end(), 0)

    def state(self, *arguments, **more):
        return self.cepd("state", *arguments, "--config", self.config_file, **more)

    def test_state_in_use_is_left_alone(self):
        daemon = self.run_daemon()
        self.send(daemon, ("a", 1, 1))
        for what in (["list"], ["verify"], ["stats"], ["rollback", "1"], ["export", self.directory / "exported"]):
            with self.subTest(what[0]):
                done = self.state(*what)
                self.assertEqual(done.returncode, 1)
                self.assertIn(f"state is in use by process {daemon.pid}: stop that cepd", done.stderr)
        self.assertFalse((self.directory / "exported").exists())
        self.assertEqual(daemon.end(), 0)
        self.assertEqual(self.state("verify").returncode, 0)

    def test_a_daemon_goes_on_from_imported_state(self):
        self.stopped_with_state()
        done = self.state("export", self.directory / "exported")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.configure(sources={"input": self.follow()}, state={"directory": "other"})
        done = self.state("import", self.directory / "exported")
        self.assertEqual(done.returncode, 0, done.stderr)
        daemon = self.run_daemon()
        self.send(daemon, *(("b", 1000 + i, i) for i in range(200)))
        self.assertEqual(daemon.end(), 0)
        replayed = self.replay(self.directory / "events.jsonl")
        for rule in ("pairs", "seen"):
            self.assertEqual([line["id"] for line in json_lines(self.directory / f"out/{rule}.jsonl")],
                             [match["match"] for match in replayed if match["rule"] == rule], rule)

    def test_as_many_checkpoints_are_kept_as_asked_for(self):
        self.configure(sources={"input": self.follow()}, state={"keep": 3})
        for i in range(6):
            daemon = self.run_daemon()
            self.send(daemon, ("a", 1000 * i, i))
            self.assertEqual(daemon.end(), 0)
        done = self.state("verify")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(self.state("list").stdout.count("checkpoint "), 3)

    def test_a_cut_off_or_foreign_export_is_refused_and_leaves_no_state(self):
        self.stopped_with_state()
        exported = self.directory / "exported"
        self.assertEqual(self.state("export", exported).returncode, 0)
        whole = exported.read_bytes()
        self.configure(sources={"input": self.follow()}, state={"directory": "other"})
        for content in (whole[:-1], whole[:len(whole) // 2], b"", b"something else\n"):
            exported.write_bytes(content)
            done = self.state("import", exported)
            self.assertEqual(done.returncode, 1)
            self.assertIn("exported is damaged, or no export of cepd's state", done.stderr)
        exported.write_bytes(whole)
        self.assertEqual(self.state("import", exported).returncode, 0)

    def test_wrong_use(self):
        for arguments in ([], ["list"], ["list", "--config", "a", "--directory", "b"], ["rollback", "--directory", "b"],
                          ["rollback", "x", "--directory", "b"],
                          ["rollback", "-1", "--directory", "b"], ["export", "--directory", "b"],
                          ["forget", "--directory", "b"]):
            with self.subTest(" ".join(arguments)):
                self.assertEqual(self.cepd("state", *arguments).returncode, 2)
        done = self.cepd("state", "list", "--directory", "nowhere")
        self.assertEqual((done.returncode, done.stderr), (1, "cepd state: there is no state in nowhere\n"))
        self.assertFalse((self.directory / "nowhere").exists())


if __name__ == "__main__":
    cepd_e2e.main()
