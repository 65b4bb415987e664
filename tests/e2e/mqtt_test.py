"""The MQTT source against a real broker, which also goes away and comes back."""

import contextlib
import json
import re
import signal
import subprocess
import threading
import time

import cepd_e2e
from cepd_e2e import Broker, CepdTest, find_program, json_lines, wait_until


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

    def acknowledged(self, client, topic, count):
        """Waits until the client has answered `count` messages of the topic, and all else."""

        def all_answered():
            log = self.broker.log()
            sent = re.findall(rf"Sending PUBLISH to {re.escape(client)} \(d\d, q1, r\d, m(\d+), '(.*?)'", log)
            answered = len(re.findall(rf"Received PUBACK from {re.escape(client)} ", log))
            return sum(each == topic for _, each in sent) >= count and answered >= len(sent)

        wait_until(all_answered, lambda: f"{count} answers of {client}:\n{self.broker.log()}")

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

    def test_levels_of_topics_are_fields(self):
        self.rules("RULE hot KEY site, device MATCH temp[value > 30] WITHIN 1h EMIT site, device DO file()\n"
                   "RULE gates KEY site MATCH door WITHIN 1h EMIT site, door.device AS device, door.state AS state DO file()")
        self.broker.start()
        self.settings(["sensors/{site}/{device}/{type}", "$share/g/plant/{site}/#"])
        daemon = self.run_daemon()
        self.connected(daemon)
        self.broker.publish("sensors/north/7/temp", self.event(value=31), self.event(value=29))
        # The topic, which a broker's access rules are about, says it, whatever the payload says.
        self.broker.publish("sensors/north/8/temp", self.event(value=32, site="south", type="door"))
        self.broker.publish("plant/west/gate", self.event(type="door", device=9, state="open"))
        lines = self.wait_lines("actions.jsonl", 3, daemon)
        self.assertEqual([line["match"]["emit"] for line in lines],
                         [{"site": "north", "device": "7"}, {"site": "north", "device": "8"},
                          {"site": "west", "device": 9, "state": "open"}])
        self.broker.publish("sensors/x/7/temp", b"junk")
        daemon.wait_log("not_json")
        self.assertEqual(daemon.end(), 0)
        # As it came, without what the topic says.
        self.assertEqual(json_lines(self.directory / "out/dead_letter.jsonl")[0]["text"], "junk")

    def test_payloads_that_are_numbers_and_texts(self):
        self.rules("RULE hot KEY device MATCH temp[value >= 30.5] AS t WITHIN 1h EMIT device, t.value AS value DO file()\n"
                   "RULE switched KEY device MATCH power[said = \"ON\"] WITHIN 1h EMIT device DO file()")
        self.broker.start()
        server = f"mqtt://127.0.0.1:{self.broker.port}"
        common = {"type": "mqtt", "servers": server, "time_from": "arrival"}
        self.configure(sources={"numbers": {**common, "topics": "n/{device}/{type}", "payload": "number"},
                                "texts": {**common, "topics": "t/{device}/power", "payload": "text", "type_from": "topic",
                                          "value_field": "said"},
                                "objects": {**common, "topics": "o/{device}/{type}"}},
                       actions={"file": {"path": "out/actions.jsonl"}})
        daemon = self.run_daemon()
        for source in ("numbers", "texts", "objects"):
            daemon.wait_log(f"source {source}: connected to")
        self.broker.publish("n/a/temp", "30.5", "30.4", "warm", "+31")
        self.broker.publish("t/b/power", "OFF", "ON")
        self.broker.publish("o/c/temp", {"value": 40, "ts": 5})  # its own clock does not count
        # Each source waits for the others to get as far.
        self.broker.publish("n/z/temp", "0")
        self.broker.publish("t/z/power", "OFF")
        self.broker.publish("o/z/temp", {"value": 0})
        lines = self.wait_lines("actions.jsonl", 4, daemon)
        self.assertEqual(sorted((line["match"]["emit"]["device"], line["match"]["emit"].get("value")) for line in lines),
                         [("a", 30.5), ("a", 31), ("b", None), ("c", 40)])
        now = time.time() * 1000
        self.assertTrue(all(now - 60_000 < line["time_ms"] <= now for line in lines))
        self.assertEqual(daemon.end(), 0)
        letter, = json_lines(self.directory / "out/dead_letter.jsonl")
        self.assertEqual((letter["reason"], letter["text"]), ("not_json", "warm"))

    def test_retained_messages(self):
        self.rules("RULE r MATCH a AS a WITHIN 1h EMIT a.n AS n DO file()")
        self.broker.start()
        self.broker.publish("t/old", self.event(type="a", n=0), more=["-r"])
        taken = {}
        for version in ("5", "3.1.1"):
            for policy in ("new", "always", "never"):
                name = f"{policy}-{version}"
                self.settings("t/#", retained=policy, version=version, client_id=name)
                for run in (1, 2):
                    daemon = self.run_daemon()
                    self.connected(daemon)
                    # Behind what is retained.
                    self.broker.publish("t/now", self.event(type="a", n=1))
                    self.acknowledged(name, "t/now", run)
                    self.assertEqual(daemon.end(), 0)
                    taken.setdefault(name, []).append(int(re.search(r"(\d+) messages read", daemon.log())[1]))
        self.assertEqual(taken, {"new-5": [2, 1], "always-5": [2, 2], "never-5": [1, 1],
                                 # To 3.1.1 nobody can say that the subscription is not new.
                                 "new-3.1.1": [2, 2], "always-3.1.1": [2, 2], "never-3.1.1": [1, 1]})

    def test_the_will_is_published_when_cepd_dies_and_not_when_it_stops(self):
        self.rules("RULE r MATCH a WITHIN 1h DO file()")
        self.broker.start()
        for version in ("5", "3.1.1"):
            for how, published in ((signal.SIGKILL, True), (signal.SIGTERM, False)):
                with self.subTest(version=version, how=how):
                    topic = f"will/{version}/{how.name}"
                    self.settings("t", version=version, will_topic=topic, will_payload="gone", will_retain=True)
                    daemon = self.run_daemon()
                    self.connected(daemon)
                    daemon.end(how)
                    # The will is retained, and the other message comes behind it.
                    self.broker.publish(topic + "/end", "end", more=["-r"])
                    got = subprocess.run(
                        [find_program("mosquitto_sub"), "-h", "127.0.0.1", "-p", str(self.broker.port), "-t", topic + "/#",
                         "-C", "2" if published else "1", "-W", "10"], capture_output=True, timeout=30, check=True)
                    self.assertEqual(sorted(got.stdout.decode().split()), ["end", "gone"] if published else ["end"])

    def test_shared_subscription(self):
        self.rules("RULE r MATCH a AS a WITHIN 1h EMIT a.n AS n DO file()")
        self.broker.start()
        daemons = []
        for member in ("one", "two"):
            self.configure(sources={"bus": {"type": "mqtt", "servers": f"mqtt://127.0.0.1:{self.broker.port}",
                                            "topics": "$share/cepd/t/#", "client_id": member}},
                           state={"directory": f"state-{member}"}, daemon={"run_directory": f"run-{member}"},
                           actions={"file": {"path": f"out/{member}.jsonl"}})
            daemons.append(self.run_daemon())
            self.connected(daemons[-1])
        self.broker.publish("t/x", *(self.event(type="a", n=n) for n in range(400)))

        def taken():
            return [[line["match"]["emit"]["n"] for line in json_lines(self.directory / f"out/{member}.jsonl")]
                    for member in ("one", "two")]

        wait_until(lambda: sum(map(len, taken())) >= 400, taken)
        self.assertEqual(sorted(taken()[0] + taken()[1]), list(range(400)))
        self.assertTrue(all(taken()), "one member has taken everything")

    def count_each(self, daemon, count):
        """Waits until each of the events 0..count-1 has had its effect, once."""
        path = self.directory / "out/actions.jsonl"
        wait_until(lambda: path.exists() and path.read_bytes().count(b"\n") >= count,
                   lambda: f"{count} lines, have {len(json_lines(path))}\n" + daemon.log(), patience=60)
        self.assertEqual(sorted(line["match"]["emit"]["n"] for line in json_lines(path)), list(range(count)))

    def test_what_comes_again_is_dropped_by_its_id(self):
        self.rules("RULE each MATCH a AS a WITHIN 1h EMIT a.n AS n DO file()")
        self.broker.start()
        for version in ("5", "3.1.1"):
            with self.subTest(version):
                (self.directory / "out/actions.jsonl").unlink(missing_ok=True)
                self.configure(sources={f"bus-{version}": {
                    "type": "mqtt", "servers": f"mqtt://127.0.0.1:{self.broker.port}", "topics": "t", "version": version,
                    "dedup": "meta.id", "max_delay": "1h"}},
                               state={"directory": f"state-{version}"}, actions={"file": {"path": "out/actions.jsonl"}})
                # Killed when messages are durable, and the broker does not know: it sends them again.
                daemon = self.run_daemon({"CEPD_FAULT": "before_acknowledge=kill@1"})
                daemon.wait_log("connected to")
                events = [{"type": "a", "ts": 1000 + n, "n": n, "meta": {"id": f"id{n}"}} for n in range(50)]
                self.broker.publish("t", *events[:10])
                self.assertEqual(daemon.wait_end(), -signal.SIGKILL)
                daemon = self.run_daemon()
                daemon.wait_log("connected to .*, the broker has kept the session")
                self.broker.publish("t", *events[5:40])  # a publisher that has lost its answers
                daemon.wait_log("dropped .* duplicate: ")
                self.assertEqual(daemon.end(), 0)
                # What is known of ids outlives a stop as well.
                daemon = self.run_daemon()
                self.broker.publish("t", *events)
                # Nothing is known of time yet, so that all of them still wait for their order.
                self.broker.publish("t", {"type": "b", "ts": 3_700_000 + 1000})
                self.count_each(daemon, 50)
                self.assertEqual(daemon.end(), 0)
                self.assertRegex(daemon.log(), "events dropped: duplicate")
                self.assertEqual(json_lines(self.directory / "out/dead_letter.jsonl"), [])

    def test_cepd_killed_again_and_again_under_load(self):
        count = 6000
        self.rules("RULE each MATCH a AS a WITHIN 1h EMIT a.n AS n DO file()")
        self.broker.start()
        self.settings("t", dedup="n")
        daemon = self.run_daemon()
        self.connected(daemon)
        publisher = threading.Thread(target=self.broker.publish, args=(
            "t", *({"type": "a", "ts": 1000 + n, "n": n} for n in range(count))))
        publisher.start()
        for at in (3, 1, 5, 2):
            daemon.end(signal.SIGKILL)
            daemon = self.run_daemon({"CEPD_FAULT": f"before_acknowledge=kill@{at}"}, ready=False)
            with contextlib.suppress(AssertionError):  # all there was has come
                daemon.wait_end(3)
        publisher.join()
        if daemon.process.poll() is None:
            daemon.end(signal.SIGKILL)
        daemon = self.run_daemon()
        self.count_each(daemon, count)
        self.assertEqual(daemon.end(), 0)

    def test_broker_killed_again_and_again_under_load(self):
        """Mosquitto forgets what came within a second of its own end, also what it has answered: the publisher of the round
        sends all of it again, as one does that has no answer. What cepd has taken is dropped by its id."""
        rounds, each = 4, 1500
        self.rules("RULE each MATCH a AS a WITHIN 1h EMIT a.n AS n DO file()")
        self.settings("t", dedup="n", max_delay="1h")
        daemon = self.run_daemon()
        for number in range(rounds):
            events = [{"type": "a", "ts": 1000 + n, "n": n} for n in range(number * each, (number + 1) * each)]
            begin = len(daemon.log())
            self.broker.start()
            self.connected(daemon, begin)
            answered = self.broker.log().count("Received PUBACK from cepd-bus ")
            publisher = self.broker.publisher("t", *events)
            wait_until(lambda a=answered: self.broker.log().count("Received PUBACK from cepd-bus ") > a + 200,
                       "messages under way")
            self.broker.stop(signal.SIGKILL)
            publisher.kill()
            publisher.wait()
            begin = len(daemon.log())
            self.broker.start()
            self.connected(daemon, begin)
            self.broker.publish("t", *events)
            self.broker.stop(signal.SIGTERM)
        self.broker.start()
        self.broker.publish("t", {"type": "b", "ts": 3_700_000})
        self.count_each(daemon, rounds * each)
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
