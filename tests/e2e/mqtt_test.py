"""The MQTT source against a real broker, which also goes away and comes back."""

import json
import signal

import cepd_e2e
from cepd_e2e import Broker, CepdTest, find_program, json_lines


class MqttSource(CepdTest):
    def setUp(self):
        super().setUp()
        self.broker = Broker(self.directory / "broker")
        self.addCleanup(self.broker.stop)
        self.next_ms = 0

    def settings(self, topics, **source):
        self.configure(sources={"bus": {"type": "mqtt", "servers": f"mqtt://127.0.0.1:{self.broker.port}",
                                        "topics": topics, **source}},
                       actions={"file": {"path": "out/actions.jsonl"}})

    def event(self, **fields):
        self.next_ms += 1
        return {"ts": self.next_ms, **fields}

    def connected(self, daemon, begin=0):
        daemon.wait_log(rf"source bus: connected to \S*127\.0\.0\.1:{self.broker.port}", begin)

    def test_topic_filters_and_type_from_the_topic(self):
        self.rules("RULE fire KEY k MATCH smoke THEN heat WITHIN 1h DO file()\n"
                   "RULE shop MATCH cart_add WITHIN 1h DO file()")
        self.broker.start()
        self.settings(["plant/+/alarm/#", "shop/cart_add"], type_from="topic")
        daemon = self.run_daemon()
        self.connected(daemon)
        self.broker.publish("plant/1/alarm/smoke", self.event(k=1))
        self.broker.publish("plant/1/other/heat", self.event(k=1))  # no filter takes it
        self.broker.publish("shop/cart_add/heat", self.event(k=1))  # nor this
        # The topic decides, whatever the field says.
        self.broker.publish("plant/2/alarm/deep/down/heat", self.event(k=1, type="cart_add"))
        self.broker.publish("shop/cart_add", self.event())
        fire, shop = self.wait_lines("actions.jsonl", 2, daemon)
        self.assertEqual((fire["rule"], shop["rule"]), ("fire", "shop"))
        self.assertEqual(fire["match"]["events"], {
            "smoke": [{"source": "bus", "partition": 0, "offset": 0}],
            "heat": [{"source": "bus", "partition": 0, "offset": 1}]})
        self.assertEqual(daemon.end(), 0)
        self.assertRegex(daemon.log(), "3 messages read, 3 events handled")

    def test_type_from_a_field_and_bad_payloads(self):
        self.rules("RULE r KEY k MATCH a THEN b WITHIN 1h DO file()")
        self.broker.start()
        self.settings("#", type_field="payload.kind", time_field="at", time_unit="s", max_message=2048)
        daemon = self.run_daemon()
        self.connected(daemon)
        self.broker.publish("x", {"payload": {"kind": "a"}, "at": 1, "k": 7}, b"junk", '{"at":1}',
                            {"payload": {"kind": "a"}, "at": 1, "more": "y" * 5000},
                            {"payload": {"kind": "b"}, "at": 2, "k": 7})
        line, = self.wait_lines("actions.jsonl", 1, daemon)
        self.assertEqual(line["time_ms"], 2000)
        self.assertEqual(daemon.end(), 0)
        self.assertEqual([(r["offset"], r["reason"]) for r in json_lines(self.directory / "out/dead_letter.jsonl")],
                         [(1, "not_json"), (2, "no_type"), (3, "too_long")])

    def test_many_messages_of_qos_1_all_come_in_order(self):
        count = 3000
        self.rules(f"RULE r MATCH a[n = count(a)]{{{count}}} AS a WITHIN 1h "
                   "EMIT first(a.n) AS first, last(a.n) AS last, count(a) AS n DO file()")
        self.broker.start()
        self.settings("t")
        daemon = self.run_daemon()
        self.connected(daemon)
        self.broker.publish("t", *(self.event(type="a", n=n) for n in range(count)))
        line, = self.wait_lines("actions.jsonl", 1, daemon)
        self.assertEqual(line["match"]["emit"], {"first": 0, "last": count - 1, "n": count})

    def test_broker_away_at_the_start(self):
        self.rules("RULE r MATCH a WITHIN 1h DO file()")
        self.settings("t")
        daemon = self.run_daemon()  # ready all the same: other sources may work
        daemon.wait_log(r"source bus: .*trying again in \d+ ms")
        self.broker.start()
        self.connected(daemon)
        self.broker.publish("t", self.event(type="a"))
        self.wait_lines("actions.jsonl", 1, daemon)
        self.assertEqual(daemon.end(), 0)

    def test_stop_while_the_broker_is_away(self):
        self.rules("RULE r MATCH a WITHIN 1h DO file()")
        self.settings("t")
        daemon = self.run_daemon()
        daemon.wait_log(r"source bus: .*trying again in \d+ ms")
        self.assertEqual(daemon.end(), 0)

    def test_broker_killed_and_started_again(self):
        self.rules("RULE r KEY k MATCH a THEN b WITHIN 1h DO file()")
        self.broker.start()
        self.settings("t")
        daemon = self.run_daemon()
        self.connected(daemon)
        self.broker.publish("t", self.event(type="a", k=1))
        self.broker.publish("t", self.event(type="a", k=2), self.event(type="b", k=2))
        self.wait_lines("actions.jsonl", 1, daemon)
        for n in (2, 3):
            begin = len(daemon.log())
            self.broker.stop(signal.SIGKILL)
            if n == 2:
                daemon.wait_log(r"source bus: .*lost.*trying again in \d+ ms", begin)
            self.broker.start()
            self.connected(daemon, begin)
            # The partial match has waited, and the subscription holds.
            self.broker.publish("t", self.event(type="b", k=1), self.event(type="a", k=1))
            self.wait_lines("actions.jsonl", n, daemon)
        self.assertEqual(daemon.end(), 0)

    def test_broker_keeps_messages_while_cepd_is_away(self):
        self.rules("RULE r KEY k MATCH a THEN b WITHIN 1h DO file()")
        self.broker.start()
        for version in ("5", "3.1.1"):
            with self.subTest(version):
                before = len(json_lines(self.directory / "out/actions.jsonl"))
                self.settings("t", version=version, client_id="cepd-" + version)
                daemon = self.run_daemon()
                self.connected(daemon)
                self.broker.publish("t", self.event(type="a", k=1), self.event(type="a", k=2), self.event(type="b", k=2))
                self.wait_lines("actions.jsonl", before + 1, daemon)
                self.assertEqual(daemon.end(), 0)
                self.broker.publish("t", self.event(type="b", k=1))
                daemon = self.run_daemon()
                daemon.wait_log("connected to .*, the broker has kept the session")
                self.wait_lines("actions.jsonl", before + 2, daemon)
                self.assertEqual(daemon.end(), 0)

    def test_mistakes_in_the_configuration(self):
        self.rules("RULE r MATCH a WITHIN 1h")
        for options in ({"topics": "a/#/b"}, {"topics": "a/b+"}, {"topics": []}, {"servers": "127.0.0.1:1883"},
                        {"qos": 3}, {"type_from": "header"}, {"version": "4"}, {"password": "plain"}):
            with self.subTest(options):
                self.settings("t")
                config = json.loads(self.config_file.read_text())
                config["sources"]["bus"].update(options)
                self.config_file.write_text(json.dumps(config))
                daemon = self.run_daemon(ready=False)
                self.assertEqual(daemon.wait_end(), 1)
                self.assertRegex(daemon.log(), r"cepd\.yaml:1:\d+: error: ")


if __name__ == "__main__":
    for name in ("mosquitto", "mosquitto_pub"):
        if not find_program(name):
            cepd_e2e.skip_all(f"{name} is not installed")
    cepd_e2e.main()
