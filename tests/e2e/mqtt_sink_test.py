"""The mqtt action against a real broker: with TLS and passwords, away, stopped and killed."""

import json
import signal
import subprocess
import unittest

import cepd_e2e
from cepd_e2e import Broker, CepdTest, Receiver, certificates, find_program, free_port, wait_until

QUICK = {"retry_first_wait": "10ms", "retry_longest_wait": "200ms"}


class MqttAction(CepdTest):
    def setUp(self):
        super().setUp()
        self.broker = Broker(self.directory / "broker")
        self.addCleanup(self.broker.stop)

    def settings(self, source=None, servers=None, **actions):
        self.configure(sources={"lines": source or self.follow()}, daemon={"stop_timeout": "0s"},
                       actions={name: {"type": "mqtt", "servers": servers or f"mqtt://127.0.0.1:{self.broker.port}", **QUICK, **each}
                                for name, each in actions.items()})

    def subscribe(self, topic="#", *more):
        """What comes goes into out/messages, one JSON object a line; the broker keeps it while the subscriber is away."""
        out = open(self.directory / "out/messages", "ab")
        process = subprocess.Popen(
            ["stdbuf", "-oL", find_program("mosquitto_sub"), "-p", str(self.broker.port), "-V", "5", "-c", "-i", "reader", "-x", "1000", "-q", "2",
             "-t", topic, "-F", "%j", *more], stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.STDOUT)
        out.close()

        def end():
            process.kill()
            process.wait()

        self.addCleanup(end)
        log = self.broker.directory / "mosquitto.log"
        wait_until(lambda: "Sending SUBACK to reader" in log.read_text(), "the subscription")

    def messages(self):
        lines = (self.directory / "out/messages").read_text().splitlines()
        return [json.loads(line) for line in lines if line.startswith("{") and line.endswith("}")]

    def numbers(self):
        return [int(message["payload"]) for message in self.messages()]

    def wait_numbers(self, count, daemon):
        wait_until(lambda: len(set(self.numbers())) == count, lambda: f"{len(set(self.numbers()))}\n{daemon.log()}")

    def action(self, name):
        return json.loads(self.cepd("status", "--config", self.config_file, "--json").stdout)["actions"][name]

    def wait_delivered(self, name, count, daemon):
        wait_until(lambda: self.action(name)["delivered"] == count, daemon.log)

    def load(self, first, count):
        self.events(*({"type": "a", "ts": 1000 + n, "n": n} for n in range(first, first + count)))

    def test_what_a_message_is_made_of(self):
        self.broker.start()
        self.subscribe()
        self.rules('RULE r MATCH a EMIT a.n AS n DO out(topic: "alerts/{a.site}/x", more: a.n), last(value: "n is {a.n}"), '
                   'old("alerts/old", value: a.n), out("alerts/gone", value: a.missing)')
        self.settings(out={"qos": 2}, last={"topic": "last", "retain": True, "qos": 0}, old={"version": "3.1.1"})
        self.events(*({"type": "a", "ts": n, "n": n, "site": site} for n, site in ((1, "north"), (2, "süd"))))
        daemon = self.run_daemon()
        wait_until(lambda: len(self.messages()) == 8, lambda: str(self.messages()))
        by_topic = {}
        for message in self.messages():
            by_topic.setdefault(message["topic"], []).append(message)
        north, = by_topic["alerts/north/x"]
        body = json.loads(north["payload"])
        self.assertEqual((north["qos"], body["arguments"], body["match"]["emit"]), (2, {"more": 1}, {"n": 1}))
        self.assertIn("alerts/süd/x", by_topic)
        self.assertEqual([(m["payload"], m["qos"]) for m in by_topic["last"]], [("n is 1", 0), ("n is 2", 0)])
        self.assertEqual([m["payload"] for m in by_topic["alerts/old"]], ["1", "2"])
        self.assertEqual([m["payload"] for m in by_topic["alerts/gone"]], [None, None])
        properties = subprocess.run([find_program("mosquitto_sub"), "-p", str(self.broker.port), "-V", "5", "-t", "last",
                                     "-C", "1", "-W", "10", "-F", "%r %p %P"], capture_output=True, text=True, timeout=15, check=True)
        self.assertRegex(properties.stdout, r"^1 n is 2 .*idempotency-key:[0-9a-f]{32}.*rule:r")
        self.assertEqual(daemon.end(), 0)

    def test_away_at_the_start_stopped_and_killed(self):
        self.rules("RULE r MATCH a DO out(value: a.n)")
        self.settings(out={"topic": "t", "breaker_failures": 2})
        self.load(0, 500)
        self.broker.start()
        self.subscribe("t")
        self.broker.stop()
        daemon = self.run_daemon()
        daemon.wait_log("action out: 2 attempts in a row failed: its circuit breaker is open")
        daemon.wait_log("is tried again in .* ms: MQTT broker 127.0.0.1:.*Connection refused")
        self.assertIn(self.action("out")["breaker"], ("open", "half-open"))
        self.assertEqual(daemon.end(), 0)
        daemon = self.run_daemon()
        self.broker.start()
        self.wait_delivered("out", 500, daemon)
        self.load(500, 1_000)
        self.wait_numbers(1_500, daemon)
        self.broker.stop()
        self.load(1_500, 500)
        self.broker.start()
        self.wait_delivered("out", 2_000, daemon)
        self.assertEqual(self.action("out")["breaker"], "closed")
        self.wait_numbers(2_000, daemon)
        self.assertEqual(list(dict.fromkeys(self.numbers())), list(range(2_000)))
        # A killed broker forgets what it has acknowledged and not yet written, so nothing is asked of the subscriber.
        self.load(2_000, 1_000)
        self.broker.stop(signal.SIGKILL)
        self.broker.start()
        self.wait_delivered("out", 3_000, daemon)
        self.assertEqual(daemon.end(), 0)

    def test_a_broker_that_does_not_answer(self):
        self.rules("RULE r MATCH a DO out(value: a.n)")
        self.broker.start()
        self.subscribe("t")
        self.settings(out={"topic": "t", "request_time_limit": "300ms"})
        self.load(0, 10)
        daemon = self.run_daemon()
        self.wait_numbers(10, daemon)
        self.broker.process.send_signal(signal.SIGSTOP)
        self.load(10, 10)
        daemon.wait_log("is tried again in .* ms: MQTT broker 127.0.0.1:.*no acknowledgement")
        daemon.wait_log("circuit breaker is open")
        self.broker.process.send_signal(signal.SIGCONT)
        self.wait_numbers(20, daemon)
        self.assertEqual(list(dict.fromkeys(self.numbers())), list(range(20)))
        # Nor does a stop wait for it.
        self.settings(out={"topic": "t", "request_time_limit": "5m"})
        self.assertEqual(daemon.end(), 0)
        daemon = self.run_daemon()
        self.broker.process.send_signal(signal.SIGSTOP)
        self.load(20, 1)
        wait_until(lambda: self.action("out")["calls"] == 1, "a call that waits")
        self.assertEqual(daemon.end(), 0)
        self.broker.process.send_signal(signal.SIGCONT)
        daemon = self.run_daemon()
        self.wait_numbers(21, daemon)
        self.assertEqual(daemon.end(), 0)

    def test_kills_of_cepd_lose_nothing(self):
        self.rules("RULE r MATCH a DO out(value: a.n)")
        self.broker.start()
        self.subscribe("t")
        self.settings(out={"topic": "t"})
        self.load(0, 5_000)
        for at in (1, 2):
            daemon = self.run_daemon({"CEPD_FAULT": f"before_mark=kill@{at}"}, ready=False)
            self.assertEqual(daemon.wait_end(), -signal.SIGKILL, daemon.log())
        daemon = self.run_daemon()
        self.wait_numbers(5_000, daemon)
        self.assertEqual(list(dict.fromkeys(self.numbers())), list(range(5_000)))
        self.assertEqual(daemon.end(), 0)

    def test_source_and_action_of_one_broker(self):
        self.rules("RULE r MATCH a DO out(value: a.n), hook()")
        self.broker.start()
        self.subscribe("out")
        receiver = Receiver()
        self.addCleanup(receiver.close)
        receiver.stall()
        self.settings(source={"type": "mqtt", "servers": f"mqtt://127.0.0.1:{self.broker.port}", "topics": "in"}, out={"topic": "out"},
                      hook={"type": "webhook", "url": receiver.url(), "queue_bytes": 65_536, "request_time_limit": "100ms", **QUICK})
        config = json.loads(self.config_file.read_text())
        del config["actions"]["hook"]["servers"]
        self.config_file.write_text(json.dumps(config))
        daemon = self.run_daemon()
        daemon.wait_log("source lines: connected")
        self.broker.publish("in", *({"type": "a", "ts": n, "n": n} for n in range(2_000)))
        # The source waits for the other action; what this one has to do goes on.
        daemon.wait_log("action hook: its queue is full")
        wait_until(lambda: self.action("out")["calls"] == 0, "the calls of the other action")
        self.assertLess(self.action("out")["delivered"], 2_000)
        receiver.go_on()
        self.wait_numbers(2_000, daemon)
        self.assertEqual(daemon.end(), 0)

    def test_passwords_certificates_and_topics_that_are_refused(self):
        tls, port = certificates(self.directory / "tls"), free_port()
        self.broker.access = ("allow_anonymous false\npassword_file DIR/passwords\nacl_file DIR/acl\n"
                              f"listener {port} 127.0.0.1\ncafile {tls}/ca.crt\ncertfile {tls}/server.crt\n"
                              f"keyfile {tls}/server.key\nrequire_certificate true\n")
        subprocess.run([find_program("mosquitto_passwd"), "-b", "-c", self.broker.directory / "passwords", "cepd", "right"],
                       check=True, capture_output=True, timeout=15)
        (self.broker.directory / "acl").write_text("user cepd\ntopic readwrite ok/#\n")
        self.broker.start()
        self.subscribe("ok/#", "-u", "cepd", "-P", "right")
        self.rules('RULE r MATCH a DO out(a.topic, value: a.n)')
        self.write("password", "not-this")
        mine = {"username": "cepd", "password": "${file:password}", "ca_file": str(tls / "ca.crt"),
                "cert_file": str(tls / "client.crt"), "key_file": str(tls / "client.key")}
        self.events({"type": "a", "ts": 1, "n": 1, "topic": "ok/a/#"}, {"type": "a", "ts": 2, "n": 2, "topic": "ok/a"})
        other = certificates(self.directory / "other")
        server = f"mqtts://localhost:{port}"
        for changed, why in (({}, "[Nn]ot authorized|[Bb]ad user ?name"), ({"ca_file": str(other / "ca.crt")}, "certificate verify failed"),
                             ({"ca_file": "/missing.pem"}, "cannot be read")):
            with self.subTest(why):
                self.settings(out={**mine, **changed}, servers=server)
                daemon = self.run_daemon()
                daemon.wait_log(f"is tried again in .* ms: MQTT broker localhost:{port}: .*({why})")
                self.assertNotIn("not-this", daemon.log())
                self.assertEqual(daemon.end(), 0)
        self.write("password", "right")
        self.settings(out=mine, servers=server)
        daemon = self.run_daemon()
        self.wait_numbers(1, daemon)
        # MQTT 5 says who may not publish where; an operator can mend that.
        self.events({"type": "a", "ts": 3, "n": 3, "topic": "secret"})
        daemon.wait_log("is tried again in .* ms: MQTT broker localhost:.*Not authorized")
        self.assertEqual(daemon.end(), 0)
        self.assertRegex(self.log_file.read_text(), "is given up: .*a topic to publish to has no")

    def test_mistakes_in_the_configuration(self):
        self.rules("RULE r MATCH a")
        for options, problem in (({"servers": "localhost"}, "mqtt://host:port"), ({"servers": []}, "at least one"), ({"topic": "a/#"}, "no \\+ and #"),
                                 ({"qos": 3}, "0 to 2"), ({"ca_file": "ca.pem"}, "TLS"), ({"password": "plain"}, "password"),
                                 ({"retained": True}, "retained")):
            with self.subTest(options):
                self.settings(out=options)
                checked = self.cepd("check", "--config", self.config_file)
                self.assertEqual(checked.returncode, 1)
                self.assertRegex(checked.stderr, rf"cepd\.yaml:\d+:\d+: error: .*{problem}")


if __name__ == "__main__":
    if not find_program("mosquitto") or not find_program("mosquitto_sub"):
        cepd_e2e.skip_all("mosquitto is not installed: the mqtt action is NOT tested against a broker")
    cepd_e2e.main()
