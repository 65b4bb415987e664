"""The redis action against a real server: plain and with TLS, away, killed, and with a password it does not take."""

import json
import signal
import unittest

import cepd_e2e
from cepd_e2e import CepdTest, certificates, wait_until
from redis_server import RedisServer

QUICK = {"retry_first_wait": "10ms", "retry_longest_wait": "200ms"}
USER = {"username": "cepd", "password": "${file:password}"}


class RedisAction(CepdTest):
    def setUp(self):
        super().setUp()
        self.server = RedisServer(self.directory / "redis").start()
        self.addCleanup(self.server.stop)
        self.write("password", "right")

    def settings(self, tls=False, **actions):
        where = f"rediss://localhost:{self.server.tls_port}" if tls else f"redis://127.0.0.1:{self.server.port}"
        if tls:
            actions = {name: {"ca_file": str(self.server.tls / "ca.crt"), **each} for name, each in actions.items()}
        self.configure(sources={"lines": self.follow()}, daemon={"stop_timeout": "0s"},
                       actions={name: {"type": "redis", "server": where, **USER, **QUICK, **each}
                                for name, each in actions.items()})

    def action(self, name):
        return json.loads(self.cepd("status", "--config", self.config_file, "--json").stdout)["actions"][name]

    def wait_delivered(self, name, count, daemon):
        wait_until(lambda: self.action(name)["delivered"] == count, daemon.log)

    def load(self, first, count):
        self.events(*({"type": "a", "ts": 1000 + n, "n": n} for n in range(first, first + count)))

    def test_set_publish_and_xadd_over_tls(self):
        self.rules('RULE r MATCH a EMIT a.n AS n DO cache(key: "n:{a.n}", more: 7), cache("last", value: a.n), '
                   'feed(value: "n is {a.n}"), log_("stream"), log_("stream", value: a.n)')
        self.settings(tls=True, cache={"expiry": "1h", "database": 3}, feed={"command": "publish", "key": "news"},
                      log_={"command": "xadd", "max_length": 1000})
        connection, stream = self.server.connect()
        self.addCleanup(connection.close)
        self.addCleanup(stream.close)
        self.server.ask_on(stream, "SUBSCRIBE", "news")
        self.load(0, 2)
        daemon = self.run_daemon()
        self.wait_delivered("log_", 4, daemon)
        self.wait_delivered("cache", 4, daemon)
        # Of database 3 there is no key elsewhere.
        self.assertEqual(self.server.ask("KEYS", "*"), ["stream"])
        connection2, database = self.server.connect()
        with connection2, database:
            self.server.ask_on(database, "SELECT", 3)
            value = json.loads(self.server.ask_on(database, "GET", "n:1"))
            self.assertEqual((value["arguments"], value["match"]["emit"]), ({"more": 7}, {"n": 1}))
            self.assertEqual(self.server.ask_on(database, "GET", "last"), "1")
            self.assertGreater(self.server.ask_on(database, "PTTL", "last"), 3_500_000)
        self.assertEqual([self.server.read(stream) for _ in range(2)],
                         [["message", "news", "n is 0"], ["message", "news", "n is 1"]])
        entries = [dict(zip(fields[::2], fields[1::2])) for _, fields in self.server.ask("XRANGE", "stream", "-", "+")]
        self.assertEqual([entry["value"] for entry in entries[1::2]], ["0", "1"])
        self.assertEqual([entry["rule"] for entry in entries], ["r"] * 4)
        self.assertEqual(entries[0]["idempotency_key"] + "-2", entries[1]["idempotency_key"])
        self.assertEqual(json.loads(entries[0]["value"])["id"], entries[0]["idempotency_key"])
        self.assertEqual(daemon.end(), 0)

    def test_away_at_the_start_and_killed_in_the_middle(self):
        self.rules("RULE r MATCH a EMIT a.n AS n DO stream(value: a.n)")
        self.settings(stream={"command": "xadd", "key": "s", "breaker_failures": 2})
        self.load(0, 1_000)
        self.server.stop(signal.SIGKILL)
        daemon = self.run_daemon()
        daemon.wait_log("action stream: 2 attempts in a row failed: its circuit breaker is open")
        daemon.wait_log("is tried again in .* ms: Redis at 127.0.0.1:.*Connection refused")
        self.assertIn(self.action("stream")["breaker"], ("open", "half-open"))
        self.assertEqual(daemon.end(), 0)
        daemon = self.run_daemon()
        self.server.start()
        self.wait_delivered("stream", 1_000, daemon)
        for n in range(1, 4):
            self.load(n * 1_000, 500)
            wait_until(lambda n=n: self.action("stream")["delivered"] > n * 1_000 - 500, daemon.log)
            self.server.stop(signal.SIGKILL)
            self.load(n * 1_000 + 500, 500)
            self.server.start()
            self.wait_delivered("stream", (n + 1) * 1_000, daemon)
        self.assertEqual(self.action("stream")["breaker"], "closed")
        numbers = [int(fields[-1]) for _, fields in self.server.ask("XRANGE", "s", "-", "+")]
        self.assertEqual(list(dict.fromkeys(numbers)), list(range(4_000)))
        self.assertEqual(daemon.end(), 0)

    def test_kills_of_cepd_lose_nothing(self):
        self.rules("RULE r MATCH a EMIT a.n AS n DO stream(value: a.n)")
        self.settings(stream={"command": "xadd", "key": "s"})
        self.load(0, 5_000)
        for at in (1, 2):
            daemon = self.run_daemon({"CEPD_FAULT": f"before_mark=kill@{at}"}, ready=False)
            self.assertEqual(daemon.wait_end(), -signal.SIGKILL, daemon.log())
        daemon = self.run_daemon()

        def entries():
            return [fields for _, fields in self.server.ask("XRANGE", "s", "-", "+")]

        wait_until(lambda: len({fields[1] for fields in entries()}) == 5_000, daemon.log)
        self.assertEqual(list(dict.fromkeys(int(fields[-1]) for fields in entries())), list(range(5_000)))
        self.assertEqual(daemon.end(), 0)

    def test_what_the_server_refuses(self):
        self.rules('RULE r MATCH a DO cache(a.key, value: a.value), list_(a.key, value: a.n)')
        self.settings(cache={}, list_={"command": "xadd"})
        self.server.ask("SET", "text", "x")
        self.write("password", "not-this")
        self.events({"type": "a", "ts": 1, "n": 1, "key": "text", "value": "y"})
        daemon = self.run_daemon()
        daemon.wait_log("action cache: .* is tried again in .* ms: Redis at .*AUTH: WRONGPASS")
        daemon.wait_log("action cache: 5 attempts in a row failed")
        self.assertNotIn("not-this", daemon.log())
        self.assertEqual(daemon.end(), 0)
        self.write("password", "right")
        daemon = self.run_daemon()
        daemon.wait_log("action list_: .* is given up: Redis at .*WRONGTYPE")
        self.wait_delivered("cache", 1, daemon)
        self.assertEqual(self.server.ask("GET", "text"), "y")
        self.assertEqual(self.action("list_")["rejected"], 1)
        # A read-only server, or one that is full, may be one that is not later.
        self.server.ask("CONFIG", "SET", "maxmemory", "1")
        self.events({"type": "a", "ts": 2, "n": 2, "key": "other", "value": "z"})
        daemon.wait_log("action cache: .* is tried again in .* ms: Redis at .*OOM")
        self.server.ask("CONFIG", "SET", "maxmemory", "0")
        self.wait_delivered("cache", 2, daemon)
        self.assertEqual(daemon.end(), 0)

    def test_whose_certificate_it_is(self):
        self.rules("RULE r MATCH a DO cache('k', value: a.n)".replace("'", '"'))
        self.load(0, 1)
        other = certificates(self.directory / "other")
        for options, why in (({"ca_file": str(other / "ca.crt")}, "certificate verify failed"),
                             ({"server": f"rediss://127.0.0.2:{self.server.tls_port}"}, "certificate verify failed"),
                             ({"ca_file": "/missing.pem"}, "/missing.pem: .*")):
            with self.subTest(options):
                self.settings(tls=True, cache=options)
                daemon = self.run_daemon()
                daemon.wait_log(f"is tried again in .* ms: Redis at .*({why})")
                self.assertEqual(daemon.end(), 0)
        self.settings(tls=True, cache={"cert_file": str(self.server.tls / "client.crt"),
                                       "key_file": str(self.server.tls / "client.key")})
        daemon = self.run_daemon()
        self.wait_delivered("cache", 1, daemon)
        self.assertEqual(daemon.end(), 0)

    def test_mistakes_in_the_configuration(self):
        self.rules("RULE r MATCH a")
        for options, problem in (({"server": "localhost"}, "redis://host:port"), ({"command": "get"}, "xadd"),
                                 ({"expiry": "1m", "command": "publish"}, "command: set"), ({"max_length": 5}, "command: xadd"),
                                 ({"ca_file": "ca.pem"}, "TLS"), ({"password": "plain"}, "password"), ({"keys": "a"}, "keys")):
            with self.subTest(options):
                self.settings(cache=options)
                checked = self.cepd("check", "--config", self.config_file)
                self.assertEqual(checked.returncode, 1)
                self.assertRegex(checked.stderr, rf"cepd\.yaml:\d+:\d+: error: .*{problem}")


if __name__ == "__main__":
    if not cepd_e2e.find_program("redis-server"):
        cepd_e2e.skip_all("redis-server is not installed: the redis action is NOT tested against a server")
    cepd_e2e.main()
