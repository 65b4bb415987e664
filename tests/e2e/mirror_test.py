"""Checkpoints are copied to a real Redis, and a machine without state goes on from there."""

import shutil
import signal

import cepd_e2e
from cepd_e2e import CepdTest, json_lines, wait_until
from redis_server import RedisServer

# Every pair of an `a` and a later `b` of a key: one that is missing or doubled shows.
RULES = '''RULE pairs KEY k MATCH a THEN ANY b WITHIN 1h AFTER MATCH NO SKIP DO file(path: "{out}/pairs.jsonl")
RULE seen MATCH a | b AS e WITHIN 1h DO file(path: "{out}/seen.jsonl")
'''


class Mirror(CepdTest):
    def setUp(self):
        super().setUp()
        self.server = RedisServer(self.directory / "redis").start()
        self.addCleanup(self.server.stop)
        self.write("password", "right")
        self.write("wrong", "wrong")
        self.rules(RULES.replace("{out}", str(self.directory / "out")))
        self.count = 0
        self.events()
        self.settings()

    def settings(self, tls=True, **mirror):
        where = f"rediss://localhost:{self.server.tls_port}" if tls else f"redis://127.0.0.1:{self.server.port}"
        if tls:
            mirror = {"ca_file": str(self.server.tls / "ca.crt"), **mirror}
        self.configure(sources={"input": self.follow()}, state={"interval": "50ms", "min_interval": "10ms"},
                       mirror={"server": where, "username": "cepd", "password": "${file:password}",
                               "instance": "gateway-7", "keep": 3, **mirror})

    def send(self, daemon, *events):
        self.events(*({"type": kind, "ts": ms, "k": k} for kind, ms, k in events))
        self.count += len(events)
        self.wait_lines("seen.jsonl", self.count, daemon)

    def copies(self):
        return self.server.ask("ZRANGE", "{cepd:gateway-7}:copies", "0", "-1")

    def wait_copied(self, daemon):
        """Everything so far is in a copy: two more, as the first may have begun before."""
        last = int((self.copies() or ["0"])[-1])
        wait_until(lambda: int((self.copies() or ["0"])[-1]) >= last + 2, daemon.log)

    def lose_the_disk(self):
        shutil.rmtree(self.directory / "state")

    def assert_as_replayed(self):
        replayed = self.replay(self.directory / "events.jsonl")
        self.assertEqual(sorted({line["id"] for line in json_lines(self.directory / "out/pairs.jsonl")}),
                         sorted(match["match"] for match in replayed if match["rule"] == "pairs"))

    def test_a_machine_without_state_goes_on_from_the_mirror(self):
        daemon = self.run_daemon()
        for n in range(6):
            self.send(daemon, ("a", 10 * n, n % 2), ("a", 10 * n + 1, 7))
            self.wait_copied(daemon)
        self.assertLessEqual(len(self.copies()), 3 * 3)
        daemon.end(signal.SIGKILL)
        self.lose_the_disk()
        daemon = self.run_daemon()
        daemon.wait_log(r"restored checkpoint \d+ of \S+ from the mirror: [1-9]\d* records")
        daemon.wait_log(r"restored partial matches of [1-9]\d* keys")
        self.send(daemon, ("b", 100, 0), ("b", 101, 7))
        self.assertEqual(daemon.end(), 0)
        self.assert_as_replayed()
        # A stop has copied its last checkpoint.
        self.lose_the_disk()
        daemon = self.run_daemon()
        daemon.wait_log(r"restored checkpoint")
        self.send(daemon, ("b", 200, 1))
        self.assertEqual(daemon.end(), 0)
        self.assert_as_replayed()

    def test_a_server_that_is_away_holds_up_nothing_and_gets_the_rest(self):
        daemon = self.run_daemon()
        self.send(daemon, ("a", 1, 1))
        self.wait_copied(daemon)
        self.server.stop(signal.SIGKILL)
        daemon.wait_log(r"mirror: Redis at localhost:\d+: .*the next checkpoint is tried")
        self.send(daemon, ("a", 2, 2), ("a", 3, 3))
        self.server.start()
        self.wait_copied(daemon)
        self.server.ask("FLUSHALL")
        self.send(daemon, ("a", 4, 4))
        self.wait_copied(daemon)
        daemon.end(signal.SIGKILL)
        self.lose_the_disk()
        daemon = self.run_daemon()
        self.send(daemon, *(("b", 10 + k, k) for k in range(1, 5)))
        self.assertEqual(daemon.end(), 0)
        self.assert_as_replayed()

    def test_a_damaged_copy_is_told_and_the_one_before_taken(self):
        daemon = self.run_daemon()
        self.send(daemon, ("a", 1, 1))
        self.wait_copied(daemon)
        self.send(daemon, ("a", 2, 2))
        self.assertEqual(daemon.end(), 0)
        last = self.copies()[-1]
        chunk = "{cepd:gateway-7}:chunk:" + last.zfill(20) + ":0"
        self.assertEqual(self.server.ask("SETRANGE", chunk, "9", "damaged") > 9, True)
        self.lose_the_disk()
        daemon = self.run_daemon()
        daemon.wait_log(rf"mirror: copy {last} is damaged.*: the one before is taken")
        self.send(daemon, ("b", 3, 1), ("b", 4, 2))
        self.assertEqual(daemon.end(), 0)
        self.assert_as_replayed()

    def test_copies_are_listed_and_any_can_be_restored(self):
        daemon = self.run_daemon()
        self.send(daemon, ("a", 1, 1))
        self.wait_copied(daemon)
        self.assertEqual(daemon.end(), 0)
        listed = self.cepd("state", "copies", "--config", self.config_file)
        self.assertEqual(listed.returncode, 0, listed.stderr)
        numbers = self.copies()
        self.assertEqual(len(listed.stdout.splitlines()), len(numbers))
        self.assertRegex(listed.stdout, rf"checkpoint {numbers[0]} of \S+: [1-9]\d* records, [1-9]\d* bytes; all of it in")
        self.assertIn(f"changes since {numbers[-2]} in", listed.stdout)
        refused = self.cepd("state", "restore", "--config", self.config_file)
        self.assertEqual(refused.returncode, 1)
        self.assertIn("and it is not written over", refused.stderr)
        self.lose_the_disk()
        restored = self.cepd("state", "restore", "--config", self.config_file, numbers[-2])
        self.assertEqual(restored.returncode, 0, restored.stderr)
        self.assertIn(f"the state is that of checkpoint {numbers[-2]} of", restored.stdout)
        verified = self.cepd("state", "verify", "--config", self.config_file)
        self.assertEqual(verified.returncode, 0, verified.stdout)
        self.assertEqual(verified.stdout.count(": good"), 1)
        self.lose_the_disk()
        unknown = self.cepd("state", "restore", "--config", self.config_file, "999999")
        self.assertEqual((unknown.returncode, unknown.stderr),
                         (1, "cepd state: the mirror has no copy 999999\n"))

    def test_a_start_without_state_and_mirror_fails_and_says_why(self):
        for settings, said in (({"password": "${file:wrong}"}, "WRONGPASS"),
                               ({"ca_file": str(self.directory / "other/ca.crt")}, "certificate verify failed"),
                               ({}, "Connection refused")):
            with self.subTest(said):
                if said == "certificate verify failed":
                    cepd_e2e.certificates(self.directory / "other")
                if said == "Connection refused":
                    self.server.stop()
                self.settings(**settings)
                daemon = self.run_daemon(ready=False)
                self.assertEqual(daemon.wait_end(), 1)
                self.assertIn("there is no state, and the mirror cannot be taken up", daemon.log())
                self.assertIn(said, daemon.log())
        self.settings(restore=False)
        daemon = self.run_daemon()
        self.send(daemon, ("a", 1, 1))
        self.assertEqual(daemon.end(), 0)

    def test_copies_of_another_state_are_left_alone(self):
        daemon = self.run_daemon()
        self.send(daemon, ("a", 1, 1))
        self.wait_copied(daemon)
        self.assertEqual(daemon.end(), 0)
        before = self.copies()
        self.lose_the_disk()
        self.settings(restore=False, tls=False)
        daemon = self.run_daemon()
        daemon.wait_log(r"mirror: the mirror holds copy \d+ of another state: nothing is written over it")
        self.assertEqual(self.copies(), before)
        self.assertEqual(daemon.end(), 0)

    def test_a_full_server_is_told_and_matching_goes_on(self):
        daemon = self.run_daemon()
        self.send(daemon, ("a", 1, 1))
        self.wait_copied(daemon)
        self.server.ask("CONFIG", "SET", "maxmemory-policy", "noeviction")
        self.server.ask("CONFIG", "SET", "maxmemory", "1")
        self.send(daemon, ("a", 2, 2))
        daemon.wait_log(r"mirror: Redis at \S+: OOM .*the next checkpoint is tried")
        self.server.ask("CONFIG", "SET", "maxmemory", "0")
        self.wait_copied(daemon)
        self.assertEqual(daemon.end(), 0)
        self.lose_the_disk()
        daemon = self.run_daemon()
        self.send(daemon, ("b", 3, 1), ("b", 4, 2))
        self.assertEqual(daemon.end(), 0)
        self.assert_as_replayed()


if __name__ == "__main__":
    cepd_e2e.main()
