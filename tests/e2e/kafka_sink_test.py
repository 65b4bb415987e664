"""The kafka action against a real broker that is away, killed, or does not know cepd. One broker for all tests; topics are each
test's own."""

import json
import re
import signal
import unittest
import urllib.request

import cepd_e2e
import kafka_test
from cepd_e2e import CepdTest, Receiver, free_port, json_lines, wait_until
from kafka_test import PATIENCE

# Beside the plain listener one on which clients log in.
LOGIN = """
listeners=PLAINTEXT://127.0.0.1:PORT,CONTROLLER://127.0.0.1:PORT+1,LOGIN://127.0.0.1:PORT+2
advertised.listeners=PLAINTEXT://127.0.0.1:PORT,LOGIN://127.0.0.1:PORT+2
listener.security.protocol.map=PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT,LOGIN:SASL_PLAINTEXT
sasl.enabled.mechanisms=PLAIN
listener.name.login.plain.sasl.jaas.config=org.apache.kafka.common.security.plain.PlainLoginModule required user_cepd="right";
"""
QUICK = {"retry_first_wait": "10ms", "retry_longest_wait": "200ms"}
broker = None


def setUpModule():
    global broker
    broker = kafka_test.Broker(LOGIN)
    unittest.addModuleCleanup(broker.stop)
    broker.start()


class KafkaSink(CepdTest):
    def setUp(self):
        super().setUp()
        self.topic = self._testMethodName.removeprefix("test_")
        self.tool = kafka_test.Tool(address=broker.address)
        self.addCleanup(self.tool.close)
        self.port = free_port()

    def create(self, partitions=1, topic=None):
        self.tool.do("create", topic=topic or self.topic, partitions=partitions)

    def settings(self, hook=None, source=None, **options):
        self.configure(metrics={"listen": f"127.0.0.1:{self.port}"}, sources={"lines": source or self.follow()},
                       actions={"kafka": {"brokers": broker.address, **QUICK, **options}, **(hook or {})},
                       daemon={"stop_timeout": "30s"})

    def records(self, partitions=1, topic=None):
        return self.tool.do("read", topic=topic or self.topic, partitions=partitions)["records"]

    def metric(self, name, action="kafka"):
        with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/metrics", timeout=15) as page:
            return float(re.search(rf'^{name}{{action="{action}"}} (\S+)$', page.read().decode(), re.MULTILINE)[1])

    def wait_delivered(self, count, daemon):
        wait_until(lambda: self.metric("cepd_action_delivered_total") == count, daemon.log, PATIENCE)

    def emitted(self, records):
        return [json.loads(record["value"])["match"]["emit"]["n"] for record in records]

    def load(self, first, count):
        self.events(*({"type": "a", "ts": 1000 + n, "n": n} for n in range(first, first + count)))

    RULE = "RULE r MATCH a EMIT a.n AS n DO kafka(topic: {topic})"

    def rule(self):
        self.rules(self.RULE.replace("{topic}", json.dumps(self.topic)))

    def test_what_a_record_is_made_of(self):
        self.rules('RULE r MATCH a EMIT a.n AS n DO kafka(topic: "made.{a.site}", key: "k{a.n}", more: a.n), '
                   'kafka("made.x", key: a.missing, value: "n is {a.n}"), kafka("made.x", "gone", value: a.missing)')
        for site in "xy":
            self.create(topic=f"made.{site}")
        self.events(*({"type": "a", "ts": n, "n": n, "site": site} for n, site in ((1, "x"), (2, "y"))))
        self.settings(compression="lz4")
        daemon = self.run_daemon()
        self.wait_delivered(6, daemon)
        (y,), x = self.records(topic="made.y"), self.records(topic="made.x")
        self.assertEqual(len(x), 5)
        body = json.loads(y["value"])
        self.assertEqual((y["key"], body["arguments"], body["match"]["emit"]), ("k2", {"more": 2}, {"n": 2}))
        self.assertEqual(y["headers"], {"idempotency-key": body["id"], "rule": "r"})
        self.assertEqual([(record["key"], record["value"]) for record in x[1:3]], [(None, "n is 1"), ("gone", None)])
        self.assertEqual([record["headers"]["idempotency-key"].partition("-")[2] for record in x[:3]], ["", "2", "3"])
        self.assertEqual(daemon.end(), 0)

    def test_one_key_is_in_one_partition_in_order(self):
        self.rules("RULE r MATCH a EMIT a.n AS n DO kafka(key: a.n % 7)")
        self.create(3)
        self.load(0, 5_000)
        self.settings(topic=self.topic)
        daemon = self.run_daemon()
        self.wait_delivered(5_000, daemon)
        records = self.records(3)
        self.assertEqual(len(records), 5_000)
        self.assertEqual(len({record["partition"] for record in records}), 3)
        for key in {record["key"] for record in records}:
            of_key = [record for record in records if record["key"] == key]
            self.assertEqual(len({record["partition"] for record in of_key}), 1)
            numbers = self.emitted(of_key)
            self.assertEqual(numbers, sorted(numbers))
        self.assertEqual(daemon.end(), 0)

    def test_broker_away_at_the_start_and_killed_in_the_middle(self):
        self.rule()
        self.create()
        self.settings(request_time_limit="1s", breaker_failures=2)
        self.load(0, 1_000)
        broker.kill()
        daemon = self.run_daemon()
        daemon.wait_log("action kafka: 2 attempts in a row failed: its circuit breaker is open", patience=PATIENCE)
        daemon.wait_log("is tried again in .* ms: Kafka topic .*timed out.*Connection refused")
        self.assertGreaterEqual(self.metric("cepd_action_breaker"), 1)
        self.assertEqual(daemon.end(signal.SIGKILL), -signal.SIGKILL)
        # A stop does not wait for what is under way.
        self.settings(request_time_limit="5m")
        self.configure_stop("0s")
        daemon = self.run_daemon()
        wait_until(lambda: self.metric("cepd_outbox_calls") == 1_000, "calls that wait")
        self.assertEqual(daemon.end(), 0)
        daemon = self.run_daemon()
        broker.start()
        self.wait_delivered(1_000, daemon)
        self.load(1_000, 1_000)
        broker.kill()
        self.load(2_000, 1_000)
        broker.start()
        self.wait_delivered(3_000, daemon)
        self.assertEqual(list(dict.fromkeys(self.emitted(self.records()))), list(range(3_000)))
        self.assertEqual(daemon.end(), 0)

    def configure_stop(self, timeout):
        config = json.loads(self.config_file.read_text())
        config["daemon"]["stop_timeout"] = timeout
        self.config_file.write_text(json.dumps(config))

    def test_wrong_password_then_the_right_one(self):
        self.rule()
        self.create()
        self.load(0, 10)
        login = {"brokers": f"127.0.0.1:{broker.port + 2}", "sasl": "plain", "username": "cepd"}
        self.write("password", "not-this")
        self.settings(password="${file:password}", request_time_limit="1s", breaker_failures=2, **login)
        self.configure_stop("0s")
        daemon = self.run_daemon()
        daemon.wait_log("is tried again in .* ms: Kafka topic .*[Aa]uthentication failed", patience=PATIENCE)
        daemon.wait_log("its circuit breaker is open", patience=PATIENCE)
        self.assertNotIn("not-this", daemon.log())
        self.assertEqual(daemon.end(), 0)
        self.write("password", "right")
        daemon = self.run_daemon()
        self.wait_delivered(10, daemon)
        self.assertEqual(self.emitted(self.records()), list(range(10)))
        self.assertEqual(daemon.end(), 0)

    def test_kills_of_cepd_lose_nothing(self):
        self.rule()
        self.create()
        self.settings()
        count = 20_000
        self.load(0, count)
        for at in (1, 3, 2):
            daemon = self.run_daemon({"CEPD_FAULT": f"before_mark=kill@{at}"}, ready=False)
            self.assertEqual(daemon.wait_end(PATIENCE), -signal.SIGKILL, daemon.log())
        daemon = self.run_daemon()
        wait_until(lambda: len(set(self.emitted(self.records()))) == count, daemon.log, PATIENCE)
        records = self.records()
        keys = [record["headers"]["idempotency-key"] for record in records]
        self.assertEqual(len(set(keys)), count)
        self.assertGreater(len(keys), count)  # what was delivered and not yet marked came twice, with the same key
        self.assertEqual(list(dict.fromkeys(self.emitted(records))), list(range(count)))
        self.assertEqual(daemon.end(), 0)

    def test_topic_that_is_made_later_and_records_that_are_refused(self):
        self.rules(f'RULE r MATCH a EMIT a.n AS n DO kafka("{self.topic}", value: a.text), kafka(a.topic)')
        self.settings(request_time_limit="2s", source=self.follow(max_line="4MiB"))
        self.events({"type": "a", "ts": 1, "n": 1, "text": "x" * 2_000_000, "topic": "a/b"},
                    {"type": "a", "ts": 2, "n": 2, "text": "short", "topic": self.topic})
        daemon = self.run_daemon()
        daemon.wait_log("is tried again in .*[Uu]nknown topic", patience=PATIENCE)
        self.create()
        wait_until(lambda: self.metric("cepd_outbox_calls") == 0, daemon.log, PATIENCE)
        self.assertEqual([record["value"][:5] for record in self.records()], ["short", '{"id"'])
        self.assertEqual(self.metric("cepd_action_rejected_total"), 2)
        self.assertRegex(daemon.log(), "is given up: .*(too large|a topic's name has)")
        self.assertEqual(daemon.end(), 0)

    def test_a_stalled_receiver_pauses_the_kafka_source(self):
        receiver = Receiver()
        self.addCleanup(receiver.close)
        self.create()
        self.rules("RULE r MATCH a EMIT a.n AS n DO hook()")
        source = {"type": "kafka", "brokers": broker.address, "topics": self.topic, "prefetch": "64KiB"}
        self.settings(source=source, hook={"hook": {"type": "webhook", "url": receiver.url(), "queue_bytes": 65_536, **QUICK,
                                                    "request_time_limit": "100ms"}})
        receiver.stall()
        count = 3_000
        self.tool.send(self.topic, *({"type": "a", "ts": n, "n": n} for n in range(count)))
        daemon = self.run_daemon()
        daemon.wait_log("action hook: its queue is full", patience=PATIENCE)
        self.assertLess(self.metric("cepd_outbox_calls", "hook"), count)
        receiver.go_on()

        def received():
            return list(dict.fromkeys(body["match"]["emit"]["n"] for _, _, body, _ in list(receiver.requests)))

        wait_until(lambda: len(received()) == count, daemon.log, PATIENCE)
        self.assertEqual(received(), list(range(count)))
        self.assertEqual(daemon.end(), 0)

    def test_dead_letters_go_into_a_topic(self):
        self.rules("RULE r MATCH a")
        self.create()
        self.create(topic="dead")
        source = {"type": "kafka", "brokers": broker.address, "topics": self.topic}
        self.settings(source=source, hook={"dead": {"type": "kafka", "brokers": broker.address, "topic": "dead", **QUICK}})
        config = json.loads(self.config_file.read_text())
        config["daemon"]["dead_letter_action"] = "dead"
        self.config_file.write_text(json.dumps(config))
        self.tool.send(self.topic, "junk", {"type": "a", "ts": 1}, '{"ts": 1}')
        daemon = self.run_daemon()
        wait_until(lambda: self.metric("cepd_action_delivered_total", "dead") == 2, daemon.log, PATIENCE)
        records = self.records(topic="dead")
        self.assertEqual([(letter["source"], letter["offset"], letter["reason"], letter["text"]) for letter in
                          (json.loads(record["value"]) for record in records)],
                         [(f"lines/{self.topic}", 0, "not_json", "junk"), (f"lines/{self.topic}", 2, "no_type", '{"ts": 1}')])
        self.assertEqual([record["headers"]["idempotency-key"] for record in records], ["dead-letter-1", "dead-letter-2"])
        self.assertEqual(daemon.end(), 0)

    def test_mistakes_in_the_configuration(self):
        self.rules("RULE r MATCH a")
        for options, problem in (({"brokers": "here"}, "host:port"), ({"brokers": []}, "at least one"), ({"topic": "a/b"}, "topic's name"),
                                 ({"compression": "rar"}, "zstd"), ({"ca_file": "ca.pem"}, "TLS"), ({"sasl": "plain"}, "username"),
                                 ({"password": "plain"}, "password"), ({"topik": "a"}, "topik")):
            with self.subTest(options):
                self.settings(**options)
                checked = self.cepd("check", "--config", self.config_file)
                self.assertEqual(checked.returncode, 1)
                self.assertRegex(checked.stderr, rf"cepd\.yaml:\d+:\d+: error: .*{problem}")


if __name__ == "__main__":
    kafka_test.need_services("the kafka action")
    cepd_e2e.main()
