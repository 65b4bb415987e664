"""A receiver that stalls: its calls wait in a bounded queue on the disk, the others go on until that is full, then the sources
wait, and in the end everything was delivered in order."""

import concurrent.futures
import json
import re
import signal
import stat
import time
import unittest
import urllib.request

import cepd_e2e
from cepd_e2e import Broker, CepdTest, Receiver, as_line, free_port, json_lines, post, wait_until

QUEUE = 65_536  # bytes, the least that queue_bytes may be
WAITING = 4  # requests at a time


def now_ms():
    return int(time.time() * 1000)


class StalledReceiver(CepdTest):
    def setUp(self):
        super().setUp()
        self.receiver = Receiver()
        self.addCleanup(self.receiver.close)
        self.web, self.port = free_port(), free_port()
        self.rules("RULE r MATCH a EMIT a.n AS n DO hook(), file()")

    def settings(self, hook=None, daemon=None, **sources):
        quick = {"retry_first_wait": "10ms", "retry_longest_wait": "50ms", "request_time_limit": "100ms"}
        self.configure(
            metrics={"listen": f"127.0.0.1:{self.port}"}, sources=sources,
            daemon={"queue_messages": 200, "stop_timeout": "0s", **(daemon or {})},
            actions={"file": {"path": "out/actions.jsonl"},
                     "hook": {"type": "webhook", "url": self.receiver.url(), "queue_bytes": QUEUE,
                              "breaker_failures": 3, **quick, **(hook or {})}})

    def metric(self, name, action="hook"):
        with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/metrics", timeout=15) as page:
            return float(re.search(rf'^{name}{{action="{action}"}} (\S+)$', page.read().decode(), re.MULTILINE)[1])

    def status(self):
        return json.loads(self.cepd("status", "--config", self.config_file, "--json").stdout)

    def event(self, n, ts=None):
        return {"type": "a", "ts": ts or 1_000 + n, "n": n}

    def written(self):
        return [line["match"]["emit"]["n"] for line in json_lines(self.directory / "out/actions.jsonl")]

    def received(self):
        """Of each call the first time that it was answered. A request that was given up may have got through too."""
        return list(dict.fromkeys(body["match"]["emit"]["n"] for _, _, body, _ in list(self.receiver.requests)))

    def wait_full(self):
        wait_until(lambda: self.metric("cepd_outbox_full") == 1, "a full queue")
        # Nothing more is taken: what was written stays as it is once the other action is through.
        wait_until(lambda: self.metric("cepd_outbox_calls", "file") == 0, "the calls of the other action")
        return len(self.written())

    def test_everything_waits_and_everything_comes(self):
        count = 3_000
        self.events(*(self.event(n) for n in range(count)))
        self.settings(lines=self.follow())
        self.receiver.stall()
        daemon = self.run_daemon()
        full = self.wait_full()
        self.assertLess(full, count)
        daemon.wait_log("action hook: its queue is full .*: no input is taken")
        daemon.wait_log("action hook: 3 attempts in a row failed: its circuit breaker is open")
        self.assertGreater(self.metric("cepd_outbox_bytes"), QUEUE)
        # Beyond the queue only what was one batch of input.
        self.assertLess(self.metric("cepd_outbox_bytes"), 4 * QUEUE)
        self.assertGreaterEqual(self.metric("cepd_action_breaker"), 1)
        self.assertEqual(self.metric("cepd_action_breaker_opened_total"), 1)
        self.assertEqual(self.metric("cepd_action_breaker", "file"), 0)
        self.assertEqual(len(self.written()), full)
        self.assertEqual(stat.S_IMODE((self.directory / "run/cepd.sock").stat().st_mode), 0o600)
        status = self.status()
        self.assertEqual(status["input_waits"], "the queue of action hook is full")
        self.assertEqual([status["actions"]["hook"]["delivered"], status["actions"]["file"]["delivered"]], [0, full])
        self.assertIn(status["actions"]["hook"]["breaker"], ("open", "half-open"))
        text = self.cepd("status", "--config", self.config_file).stdout
        self.assertRegex(text, r"(?m)^input     waits: the queue of action hook is full; \d+ of 200 messages in the queue$")
        self.assertRegex(text, rf"(?m)^file +closed +0 +0\.0 of 256\.0 +{full} +0 +0$")
        self.assertRegex(text, r"(?m)^hook +(half-)?open +\d+ +\d+\.\d of 0\.1 +0 +\d+ +0  the last attempt failed$")

        # A restart in between, by a kill and by a stop, changes nothing of it.
        for how, code in ((signal.SIGKILL, -signal.SIGKILL), (signal.SIGTERM, 0)):
            self.assertEqual(daemon.end(how), code)
            daemon = self.run_daemon()
            self.wait_full()

        self.receiver.go_on()
        wait_until(lambda: len(self.received()) >= count, lambda: f"{len(self.received())} calls\n{daemon.log()}")
        self.assertEqual(self.received(), list(range(count)))
        wait_until(lambda: self.metric("cepd_outbox_calls") == 0, "an empty queue")
        self.assertEqual([self.metric("cepd_action_breaker"), self.metric("cepd_outbox_full")], [0, 0])
        self.assertIsNone(self.status()["input_waits"])
        self.assertEqual(self.status()["actions"]["hook"]["breaker"], "closed")
        self.assertEqual(daemon.end(), 0)
        self.assertEqual(self.written(), list(range(count)))
        gone = self.cepd("status", "--config", self.config_file)
        self.assertEqual((gone.returncode, gone.stdout), (1, ""))
        self.assertRegex(gone.stderr, "^cepd status: no cepd runs with .*/run\n$")

    def test_http_and_mqtt_wait(self):
        if not cepd_e2e.find_program("mosquitto"):
            self.skipTest("mosquitto is not installed")
        broker = Broker(self.directory / "broker").start()
        self.addCleanup(broker.stop)
        mqtt = {"type": "mqtt", "servers": f"mqtt://127.0.0.1:{broker.port}", "topics": "t/#"}
        http = {"type": "http", "port": self.web}
        live = {"max_delay": "1s", "idle_after": "3s"}
        self.settings(bus={**mqtt, **live}, web={**http, **live}, daemon={"queue_messages": 20})
        self.receiver.stall()
        daemon = self.run_daemon()
        daemon.wait_log("source bus: connected")
        posts = {}  # first number: the request under way

        def refused():
            if sum(not request.done() for request in posts.values()) == WAITING:
                return False
            first = 10 * len(posts)
            body = b"".join(as_line(self.event(n, now_ms())) for n in range(first, first + 10))
            posts[first] = pool.submit(post, self.web, "/events", body, "application/x-ndjson")
            return any(request.done() and request.result()[0] == 429 for request in posts.values())

        pool = concurrent.futures.ThreadPoolExecutor(WAITING)
        self.addCleanup(pool.shutdown)
        wait_until(refused, "429")
        self.wait_full()
        count = 300
        broker.publish("t/x", *(self.event(10_000 + n, now_ms()) for n in range(count)))
        self.receiver.go_on()
        answers = {first: request.result()[0] for first, request in posts.items()}
        self.assertEqual(set(answers.values()), {200, 429})
        accepted = [n for first, status in answers.items() if status == 200 for n in range(first, first + 10)]
        everything = accepted + list(range(10_000, 10_000 + count))
        wait_until(lambda: set(everything) <= set(self.received()), lambda: f"{len(self.received())}\n{daemon.log()}")
        self.assertEqual(sorted(self.received()), everything)
        # Each source's events in its own order.
        self.assertEqual([n for n in self.received() if n >= 10_000], everything[len(accepted):])
        self.assertEqual(daemon.end(), 0)
        self.assertNotRegex(daemon.log(), r"dropped \d+ event")


if __name__ == "__main__":
    cepd_e2e.main()
