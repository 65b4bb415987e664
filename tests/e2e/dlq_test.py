"""Dead letters: what `cepd dlq` shows of them, that they can be taken once more, and that an action gets them too."""

import gzip
import json
import signal
import subprocess

import cepd_e2e
from cepd_e2e import Broker, CepdTest, Receiver, find_program, free_port, json_lines, post, wait_until

RUBBISH = gzip.compress(b'{"type":"a","ts":1}')


class DeadLetters(CepdTest):
    def setUp(self):
        super().setUp()
        self.web = free_port()
        self.rules("EVENT a (k int)\nRULE r MATCH a EMIT a.k AS k DO file()")

    def settings(self, actions=None, **daemon):
        self.configure(sources={"web": {"type": "http", "port": self.web, "max_delay": "1h"}, "lines": self.follow(max_delay="1h")},
                       daemon={"dead_letter": "out/dead.jsonl", **daemon},
                       actions={"file": {"path": "out/actions.jsonl"}, **(actions or {})}, state={"interval": "100ms", "min_interval": "10ms"})

    def dlq(self, *arguments, code=0):
        done = self.cepd("dlq", arguments[0], "--config", self.config_file, *arguments[1:])
        self.assertEqual(done.returncode, code, done.stderr)
        return done

    def kept(self, count):
        return wait_until(lambda: len(json_lines(self.directory / "out/dead.jsonl")) == count and
                          json_lines(self.directory / "out/dead.jsonl"),
                          lambda: f"{count} dead letters, have {json_lines(self.directory / 'out/dead.jsonl')}")

    def test_what_an_operator_sees_and_does(self):
        self.settings()
        daemon = self.run_daemon()
        # A batch with bad ones in it, rubbish, and one that is too long.
        batch = [{"type": "a", "ts": 1, "k": "one"}, {"type": "a", "ts": 2, "k": 2}, {"ts": 3}, {"type": "a", "ts": 4, "k": []}]
        self.assertEqual(post(self.web, "/events", json.dumps(batch))[0], 200)
        self.events(RUBBISH, b'{"type":"a","ts":5,"x":"' + b"y" * 2_000_000 + b'"}', b'{"type":\t"a","ts":6,\r"k":"six"}')
        kept = self.kept(6)
        listed = self.dlq("list")
        self.assertEqual(listed.stderr, "6 dead letters\n")
        lines = [line.split("  ") for line in listed.stdout.splitlines()]
        self.assertEqual([line[0] for line in lines], list("123456"))
        by_reason = {}
        for line in lines:
            by_reason.setdefault((line[3].split(" ")[0], line[2]), []).append(line[0])
        self.assertEqual({key: len(numbers) for key, numbers in by_reason.items()},
                         {("web", "schema"): 2, ("web", "no_type"): 1, ("lines", "invalid_utf8"): 1, ("lines", "too_long"): 1,
                          ("lines", "schema"): 1})
        self.assertEqual([line.split("  ")[0] for line in self.dlq("list", "--source", "web", "--reason", "schema").stdout.splitlines()],
                         by_reason["web", "schema"])
        self.assertEqual(self.dlq("list", "--after", "5").stderr, "1 dead letters\n")

        rubbish, = by_reason["lines", "invalid_utf8"]
        shown = self.dlq("show", rubbish).stdout
        self.assertRegex(shown, r"number  \d+\ntime    .*\nreason  invalid_utf8\ndetail  .*\nfrom    lines 0:0\nbytes   \d+\n\\x1f\\x8b")
        raw = self.directory / "out/raw"
        with open(raw, "wb") as out:
            self.cepd("dlq", "show", "--config", self.config_file, rubbish, "--raw", stdout=out)
        self.assertEqual(raw.read_bytes(), RUBBISH)
        long, = by_reason["lines", "too_long"]
        self.assertRegex(self.dlq("show", long).stdout, r"\nbytes   the first 4096\n\{")
        self.assertRegex(self.dlq("show", "99", code=1).stderr, "1 of these numbers are not there")

        # The declaration was wrong: with the right one they are taken.
        done = self.dlq("replay", "--reason", "schema")
        self.assertEqual(sorted(json.loads(line)["ts"] for line in done.stdout.splitlines()), [1, 4, 6])
        self.rules("RULE r MATCH a EMIT a.k AS k DO file()")
        self.assertEqual(self.cepd("reload", "--config", self.config_file).returncode, 0)
        self.assertEqual(self.dlq("replay", "--reason", "schema", "--to", "web").stderr, "3 events given, 0 left out\n")
        post(self.web, "/events", json.dumps({"type": "end", "ts": 10_000_000}))
        ks = [line["match"]["emit"]["k"] for line in self.wait_lines("actions.jsonl", 4, daemon)]
        self.assertEqual(sorted(map(str, ks)), ["2", "[]", "one", "six"])
        # What cannot be an event is said, and the exit code says so.
        done = self.dlq("replay", "--to", "web", code=1)
        self.assertRegex(done.stderr, f"cepd dlq: {rubbish} is left out: it is no JSON object\n")
        self.assertRegex(done.stderr, f"cepd dlq: {long} is left out: only its beginning is kept\n")
        self.assertRegex(self.dlq("replay", "--to", "lines", code=1).stderr, "expected a URL or the name of an http source")
        self.assertEqual(daemon.end(), 0)
        self.assertRegex(self.dlq("replay", rubbish, code=1).stderr, "0 events given, 1 left out")

    def test_numbers_go_on_over_restarts_and_older_ones_go(self):
        self.settings(dead_letter_bytes="4MiB")
        daemon = self.run_daemon()
        path = self.directory / "out/dead.jsonl"
        line = b"x" * 60_000
        for n in range(3):
            self.events(*([line] * 40))
            wait_until(lambda n=n: self.dlq("list", "--after", str(40 * n + 39)).stderr == "1 dead letters\n", daemon.log)
            self.assertEqual(daemon.end(), 0)
            daemon = self.run_daemon()
        self.assertEqual(daemon.end(), 0)
        older = self.directory / "out/dead.jsonl.1"
        self.assertLess(path.stat().st_size + older.stat().st_size, 5 << 20)
        numbers = [int(line.split("  ")[0]) for line in self.dlq("list").stdout.splitlines()]
        self.assertGreater(numbers[0], 1)
        self.assertEqual(numbers, list(range(numbers[0], 121)))

    def sent(self, receiver):
        return [body["arguments"]["value"] for _, _, body, _ in list(receiver.requests)]

    def test_an_action_gets_them_also_after_a_kill(self):
        receiver = Receiver()
        self.addCleanup(receiver.close)
        receiver.stall()
        self.settings({"dead": {"type": "webhook", "url": receiver.url(), "retry_first_wait": "10ms", "retry_longest_wait": "50ms",
                                "request_time_limit": "200ms"}}, dead_letter_action="dead")
        self.events(*(b"bad %d" % n for n in range(20)))
        daemon = self.run_daemon()
        daemon.wait_log("action dead: .* is tried again")
        self.kept(20)
        status = json.loads(self.cepd("status", "--config", self.config_file, "--json").stdout)["actions"]["dead"]
        self.assertEqual((status["calls"], status["delivered"], status["failing"]), (20, 0, True))
        self.assertEqual(daemon.end(signal.SIGKILL), -signal.SIGKILL)
        daemon = self.run_daemon()
        receiver.go_on()
        wait_until(lambda: len({record["n"] for record in self.sent(receiver)}) == 20, daemon.log)
        self.events(*(b"bad %d" % n for n in range(20, 30)))
        wait_until(lambda: len({record["n"] for record in self.sent(receiver)}) == 30, daemon.log)
        wait_until(lambda: (self.directory / "out/dead.jsonl.sent").read_text() == "30\n", "the note of what was sent")
        self.assertEqual(daemon.end(), 0)
        self.assertEqual(list({record["n"]: record["text"] for record in self.sent(receiver)}.values()), [f"bad {n}" for n in range(30)])
        self.assertEqual({headers["idempotency-key"] for _, headers, _, _ in receiver.requests},
                         {f"dead-letter-{n}" for n in range(1, 31)})
        before = len(receiver.requests)
        daemon = self.run_daemon()
        self.events(b"bad 30")
        wait_until(lambda: len(receiver.requests) > before, daemon.log)
        self.assertEqual(self.sent(receiver)[before]["text"], "bad 30")
        self.assertEqual(daemon.end(), 0)

    def test_into_an_mqtt_topic_with_the_topic_it_came_from(self):
        if not find_program("mosquitto"):
            self.skipTest("mosquitto is not installed")
        broker = Broker(self.directory / "broker").start()
        self.addCleanup(broker.stop)
        server = f"mqtt://127.0.0.1:{broker.port}"
        self.settings({"dead": {"type": "mqtt", "servers": server, "topic": "dead", "retain": True}}, dead_letter_action="dead")
        config = json.loads(self.config_file.read_text())
        config["sources"]["bus"] = {"type": "mqtt", "servers": server, "topics": "t/#"}
        self.config_file.write_text(json.dumps(config))
        daemon = self.run_daemon()
        daemon.wait_log("source bus: connected")
        broker.publish("t/x", b"junk")
        said = subprocess.run([find_program("mosquitto_sub"), "-p", str(broker.port), "-t", "dead", "-C", "1", "-W", "15"],
                              capture_output=True, text=True, timeout=30, check=True).stdout
        record = json.loads(said)
        self.assertEqual((record["source"], record["topic"], record["reason"], record["text"]), ("bus", "t/x", "not_json", "junk"))
        self.assertIn("bus 0:0 (t/x)", self.dlq("list").stdout)
        self.assertEqual(daemon.end(), 0)

    def test_mistakes_in_the_configuration(self):
        for daemon, actions, problem in (({"dead_letter_action": "none"}, {}, "there is no action none"),
                                         ({"dead_letter_action": "kafka"}, {}, "`topic` configured"),
                                         ({"dead_letter_action": "log"}, {}, "`message` configured"),
                                         ({"dead_letter_action": "m", "dead_letter": ""}, {"m": {"type": "mqtt", "topic": "t"}}, "needs the file"),
                                         ({"dead_letter_bytes": "1KiB"}, {}, "4MiB|4194304")):
            with self.subTest(problem):
                self.settings(actions, **daemon)
                checked = self.cepd("check", "--config", self.config_file)
                self.assertEqual(checked.returncode, 1)
                self.assertRegex(checked.stderr, rf"cepd\.yaml:\d+:\d+: error: .*({problem})")
        self.settings(dead_letter="")
        self.assertRegex(self.dlq("list", code=1).stderr, "says no daemon.dead_letter: nothing is kept")


if __name__ == "__main__":
    cepd_e2e.main()
