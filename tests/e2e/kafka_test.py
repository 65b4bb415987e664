"""The Kafka source against a real broker, which is killed, too. One broker for all tests; topics and groups are each
test's own."""

import json
import os
import pathlib
import random
import signal
import subprocess
import tempfile
import shutil
import unittest

import cepd_e2e
from cepd_e2e import CepdTest, free_port, json_lines, port_open, wait_until

PATIENCE = 60.0  # a broker and a Java machine on a busy one
SERVICES = None  # the directory with kafka-start
broker = None


def find_services():
    """shared/services beside one of the directories above, or in $CEPD_SHARED."""
    given = os.environ.get("CEPD_SHARED")
    above = pathlib.Path(__file__).resolve().parents
    for directory in [pathlib.Path(given)] if given else [each / "shared" for each in above]:
        if (directory / "services/kafka-start").is_file():
            return directory / "services"
    return None


class Broker:
    def __init__(self, settings=""):
        """`settings`: further lines of the broker's configuration, in which PORT stands for its port PORT+1 is the controller's."""
        self.settings = settings
        self.directory = pathlib.Path(tempfile.mkdtemp(prefix="cepd-kafka-"))
        self.port = next(port for port in iter(free_port, None) if not port_open(port + 1))

    @property
    def address(self):
        return f"127.0.0.1:{self.port}"

    def start(self):
        done = subprocess.run([SERVICES / "kafka-start", self.directory, str(self.port)], capture_output=True, text=True,
                              env={**os.environ, "KAFKA_HEAP": "-Xms64m -Xmx160m", **self._more()}, timeout=180, check=False)
        if done.returncode != 0:
            raise AssertionError(f"kafka-start: {done.stdout}{done.stderr}")
        return self

    def _more(self):
        if not self.settings:
            return {}
        file = self.directory / "more.properties"
        text = self.settings
        for more in (2, 1):
            text = text.replace(f"PORT+{more}", str(self.port + more))
        file.write_text(text.replace("PORT", str(self.port)))
        return {"KAFKA_OPTS_EXTRA": str(file)}

    def kill(self):
        pid = int((self.directory / "kafka.pid").read_text())
        os.kill(pid, signal.SIGKILL)
        wait_until(lambda: not port_open(self.port), "the end of the broker")

    def stop(self):
        subprocess.run([SERVICES / "kafka-stop", self.directory], check=False, timeout=60)
        shutil.rmtree(self.directory, ignore_errors=True)


class Tool:
    """kafka_tool: puts records in, makes topics."""

    def __init__(self, transactional_id=None, address=None):
        path = pathlib.Path(cepd_e2e._cepd).parent / "kafka_tool"
        self.process = subprocess.Popen([path, address or broker.address, *([transactional_id] if transactional_id else [])],
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def do(self, what, **arguments):
        self._write({"do": what, **arguments})
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        answer = json.loads(line) if line else {"error": "kafka_tool has ended"}
        if "error" in answer:
            raise AssertionError(f"{what} {arguments}: {answer['error']}")
        return answer

    def send(self, topic, *records, partition=0):
        """Returns once they are there. Records: values (objects or text), or dicts with `value` and more as kafka_tool
        takes it."""
        for record in records:
            if not (isinstance(record, dict) and ("value" in record or "key" in record)):
                record = {"value": record}
            if "value" in record and not isinstance(record["value"], str):
                record = {**record, "value": json.dumps(record["value"])}
            self._write({"do": "send", "topic": topic, "partition": partition, **record})
        self.do("flush")

    def _write(self, command):
        self.process.stdin.write(json.dumps(command) + "\n")

    def close(self):
        self.process.stdin.close()
        self.process.wait(cepd_e2e.PATIENCE)
        self.process.stdout.close()


def setUpModule():
    global broker
    broker = Broker()
    unittest.addModuleCleanup(broker.stop)
    broker.start()


class KafkaSource(CepdTest):
    def setUp(self):
        super().setUp()
        self.topic = self._testMethodName.removeprefix("test_")
        self.tool = Tool()
        self.addCleanup(self.tool.close)

    def settings(self, topics=None, **more):
        """`more`: options of the source; sections of the configuration where they are maps."""
        sections = {name: more.pop(name) for name in list(more) if isinstance(more[name], dict)}
        self.configure(sources={"bus": {"type": "kafka", "brokers": broker.address, "topics": self.topic if topics is None else topics,
                                        "group": self.topic, "instance": "one", "look_every": "500ms", **more}},
                       actions={"file": {"path": "out/actions.jsonl"}}, **sections)

    def create(self, partitions=1, topic=None):
        self.tool.do("create", topic=topic or self.topic, partitions=partitions)

    def send(self, *records, topic=None, partition=0):
        self.tool.send(topic or self.topic, *records, partition=partition)

    def committed(self, partitions=1):
        return self.tool.do("committed", group=self.topic, topic=self.topic, partitions=partitions)["offsets"]

    def lines(self, count, daemon):
        return self.wait_lines("actions.jsonl", count, daemon, PATIENCE)

    def dead_letters(self):
        return json_lines(self.directory / "out/dead_letter.jsonl")

    def assigned(self, daemon, count=1, begin=0):
        daemon.wait_log(rf"source bus: \d+ partitions were assigned, {count} in all", begin, PATIENCE)

    # What a record becomes

    def test_positions_name_topic_partition_and_offset(self):
        self.rules("RULE r KEY k MATCH a THEN b WITHIN 1h DO file()")
        self.create(2)
        self.settings()
        daemon = self.run_daemon()
        self.assigned(daemon, 2)
        self.send({"type": "c", "ts": 1, "k": 1}, {"type": "a", "ts": 2, "k": 1}, {"type": "b", "ts": 3, "k": 1},
                  partition=1)
        line, = self.lines(1, daemon)
        source = f"bus/{self.topic}"
        self.assertEqual(line["match"]["events"], {"a": [{"source": source, "partition": 1, "offset": 1}],
                                                   "b": [{"source": source, "partition": 1, "offset": 2}]})
        self.assertEqual(daemon.end(), 0)
        self.assertEqual(self.committed(2)[1], 3)

    def test_type_and_time_from_headers_and_key_from_the_record(self):
        self.rules("RULE r KEY user MATCH a THEN gone WITHIN 1h EMIT user, a.n AS n, gone.__deleted AS d DO file()")
        self.create()
        self.settings(type_from="header", type_header="kind", time_from="header", time_header="at", time_unit="s",
                      key_field="user")
        daemon = self.run_daemon()
        self.send({"key": "u1", "value": {"n": 7}, "headers": {"kind": "a", "at": "1.5"}},
                  {"key": "u1", "value": {"n": 8, "user": "u2"}, "headers": {"kind": "a", "at": "2"}},
                  {"key": "u1", "value": {"n": 9}, "headers": {"at": "3"}},
                  {"key": "u1", "value": {"n": 9}, "headers": {"kind": "a", "at": "soon"}},
                  {"key": "u1", "headers": {"kind": "gone", "at": "1970-01-01T00:00:04Z"}})  # a tombstone
        line, = self.lines(1, daemon)
        self.assertEqual(line["match"]["emit"], {"user": "u1", "n": 7, "d": True})
        self.assertEqual(line["time_ms"], 4000)
        self.assertEqual(daemon.end(), 0)
        self.assertEqual([(r["offset"], r["reason"]) for r in self.dead_letters()], [(2, "no_type"), (3, "no_time")])

    def test_type_from_the_topic_and_time_of_the_record(self):
        topics = [f"{self.topic}.{n}" for n in "ab"]
        self.rules(f"RULE r KEY k MATCH `{topics[0]}` AS a THEN `{topics[1]}` AS b WITHIN 1h DO file()")
        for topic in topics:
            self.create(topic=topic)
        self.settings(f"^{self.topic}[.]", type_from="topic", time_from="record", max_delay="10s")
        self.send({"value": {"k": 1}, "time": 60_000}, topic=topics[1])
        self.send({"value": {"k": 1}, "time": 50_000}, topic=topics[0])
        daemon = self.run_daemon()
        self.assigned(daemon, 2)
        for topic in topics:
            self.send({"value": {"k": 2}, "time": 100_000}, topic=topic)
        line, = self.lines(1, daemon)
        self.assertEqual((line["time_ms"], line["match"]["events"]["b"][0]["source"]), (60_000, f"bus/{topics[1]}"))
        self.assertEqual(daemon.end(), 0)

    def test_bad_records_and_tombstones_without_a_type(self):
        self.rules("RULE r MATCH a WITHIN 1h DO file()")
        self.create()
        self.settings(max_message=2048)
        daemon = self.run_daemon()
        self.send("junk", {"key": "k"}, json.dumps({"type": "a", "ts": 1, "x": "y" * 5000}), {"type": "a", "ts": 1})
        self.lines(1, daemon)
        self.assertEqual(daemon.end(), 0)
        self.assertEqual([(r["offset"], r["reason"], r["source"]) for r in self.dead_letters()],
                         [(n, reason, f"bus/{self.topic}") for n, reason in
                          enumerate(("not_json", "no_type", "too_long"))])
        self.assertIn("a record without a value", self.dead_letters()[1]["detail"])

    def test_transactions_that_were_aborted_are_not_read(self):
        self.rules("RULE r MATCH a WITHIN 1h EMIT a.n AS n DO file()")
        self.create()
        tool = Tool(transactional_id=self.topic)
        self.addCleanup(tool.close)
        for n, outcome in enumerate(("commit", "abort", "commit")):
            tool.do("begin")
            tool.send(self.topic, {"type": "a", "ts": n, "n": n})
            tool.do(outcome)
        self.settings()
        daemon = self.run_daemon()
        self.assertEqual([line["match"]["emit"]["n"] for line in self.lines(2, daemon)], [0, 2])
        self.assertEqual(daemon.end(), 0)

    def test_changes_of_a_database(self):
        self.rules('RULE r KEY id MATCH orders[__op = "u"] AS x THEN orders[__op = "d"] AS y WITHIN 1h '
                   "EMIT id, x.__before.status AS was, x.status AS became, y.status AS last DO file()")
        self.create()
        self.settings(format="debezium", type_from="fixed", type_name="orders")
        daemon = self.run_daemon()
        old, new = {"id": 7, "status": "open"}, {"id": 7, "status": "paid"}
        self.send({"value": {"before": None, "after": old, "op": "c", "ts_ms": 1000}},
                  {"value": {"payload": {"before": old, "after": new, "op": "u", "ts_ms": 2000}}},
                  {"value": {"id": 7}},
                  {"value": {"before": new, "after": None, "op": "d", "ts_ms": 9000, "source": {"ts_ms": 3000}}},
                  {"key": '{"id":7}'})  # the tombstone behind the deletion is no event
        line, = self.lines(1, daemon)
        self.assertEqual(line["match"]["emit"], {"id": 7, "was": "open", "became": "paid", "last": "paid"})
        self.assertEqual(line["time_ms"], 3000)
        self.assertEqual(daemon.end(), 0)
        self.assertEqual([(r["offset"], r["reason"]) for r in self.dead_letters()], [(2, "schema")])

    # Where reading begins

    def test_a_restart_goes_on_where_the_state_says(self):
        self.rules("RULE r KEY k MATCH a THEN b WITHIN 1h DO file()")
        self.create()
        self.settings()
        daemon = self.run_daemon()
        self.send({"type": "a", "ts": 1, "k": 1}, {"type": "a", "ts": 2, "k": 2}, {"type": "b", "ts": 3, "k": 2})
        self.lines(1, daemon)
        self.assertEqual(daemon.end(), 0)
        self.assertEqual(self.committed(), [3])
        self.send({"type": "b", "ts": 4, "k": 1})
        daemon = self.run_daemon()
        self.assertEqual(self.lines(2, daemon)[1]["match"]["events"]["a"][0]["offset"], 0)
        self.assertEqual(daemon.end(), 0)
        # Without state the group's offsets say it.
        shutil.rmtree(self.directory / "state")
        self.send({"type": "a", "ts": 5, "k": 3}, {"type": "b", "ts": 6, "k": 3})
        daemon = self.run_daemon()
        self.lines(3, daemon)
        self.assertEqual(daemon.end(), 0)
        self.assertRegex(daemon.log(), "2 messages read")

    def test_start_at_the_latest_and_partitions_that_are_added(self):
        self.rules("RULE r MATCH a WITHIN 1h EMIT a.n AS n DO file()")
        self.create()
        self.send({"type": "a", "ts": 1, "n": 0})
        self.settings(start="latest", state={"interval": "1h"})
        daemon = self.run_daemon()
        self.assigned(daemon)
        self.send({"type": "a", "ts": 2, "n": 1})
        self.lines(1, daemon)
        # A kill before the first checkpoint: the journal knows where it began.
        self.assertEqual(daemon.end(signal.SIGKILL), -signal.SIGKILL)
        daemon = self.run_daemon()
        self.tool.do("grow", topic=self.topic, partitions=3)
        for partition in (1, 2):
            self.send({"type": "a", "ts": 3, "n": partition + 1}, {"type": "c", "ts": 4}, partition=partition)
        self.assigned(daemon, 3)
        self.send({"type": "c", "ts": 4})
        lines = self.lines(3, daemon)
        self.assertEqual([line["match"]["emit"]["n"] for line in lines][0], 1)
        self.assertEqual(sorted(line["match"]["emit"]["n"] for line in lines), [1, 2, 3])
        self.assertEqual(daemon.end(), 0)

    def test_records_that_are_gone(self):
        self.rules("RULE r MATCH a WITHIN 1h EMIT a.n AS n DO file()")
        self.create()
        self.settings()
        self.send(*({"type": "a", "ts": n, "n": n} for n in range(5)))
        daemon = self.run_daemon()
        self.lines(5, daemon)
        self.assertEqual(daemon.end(), 0)
        for policy, expected in (("stop", []), ("earliest", [8, 9]), ("latest", [19])):
            with self.subTest(policy):
                before = json_lines(self.directory / "out/actions.jsonl")
                first = 5 if policy != "latest" else 10
                if policy != "earliest":
                    self.send(*({"type": "a", "ts": n, "n": n} for n in range(first, first + 5)))
                    self.tool.do("forget", topic=self.topic, partition=0, before=first + 3)
                self.settings(out_of_range=policy)
                daemon = self.run_daemon()
                daemon.wait_log(f"and {first} (is|was) the next to be read", patience=PATIENCE)
                if policy == "latest":
                    daemon.wait_log("read from 15 on")
                    self.send({"type": "a", "ts": 19, "n": 19})
                lines = self.lines(len(before) + len(expected), daemon)
                self.assertEqual([line["match"]["emit"]["n"] for line in lines[len(before):]], expected)
                self.assertEqual(daemon.end(), 0)

    # What comes and goes

    def test_topic_that_is_made_later_deleted_and_made_again(self):
        self.rules("RULE r MATCH a WITHIN 1h EMIT a.n AS n DO file()")
        self.settings()
        daemon = self.run_daemon()
        self.create()
        self.send({"type": "a", "ts": 1, "n": 1}, {"type": "a", "ts": 2, "n": 2})
        self.lines(2, daemon)
        begin = len(daemon.log())
        self.tool.do("delete", topic=self.topic)
        daemon.wait_log("partitions were revoked, 0 are left", begin, PATIENCE)
        wait_until(self.recreated, "the topic once more", PATIENCE)
        self.send({"type": "a", "ts": 3, "n": 3})
        # Its offsets begin again: what is next to be read is not there.
        daemon.wait_log("2 was the next to be read: it is read from 0 on", begin, PATIENCE)
        self.assertEqual(self.lines(3, daemon)[2]["match"]["emit"]["n"], 3)
        self.assertEqual(daemon.end(), 0)

    def recreated(self):
        try:
            self.create()
            return True
        except AssertionError:
            return False

    def test_broker_killed_and_started_again(self):
        self.rules("RULE r KEY k MATCH a THEN b WITHIN 1h EMIT k DO file()")
        self.create(3)
        self.settings()
        daemon = self.run_daemon()
        self.assigned(daemon, 3)
        for n in range(3):
            self.send({"type": "a", "ts": n + 1, "k": n}, partition=n)
        for n in range(3):
            begin = len(daemon.log())
            broker.kill()
            if n == 1:
                daemon.wait_log("source bus: ", begin, PATIENCE)
            if n == 2:  # also a restart while it is away
                self.assertEqual(daemon.end(signal.SIGKILL), -signal.SIGKILL)
                broker.start()
                daemon = self.run_daemon()
            else:
                broker.start()
            self.send({"type": "b", "ts": 100 * n + 110, "k": n}, partition=n)
            # The partitions that are quiet hold back no time for long.
            self.send({"type": "c", "ts": 100 * n + 120}, partition=(n + 1) % 3)
            self.send({"type": "c", "ts": 100 * n + 120}, partition=(n + 2) % 3)
            self.lines(n + 1, daemon)
        self.assertEqual(daemon.end(), 0)

    def test_stop_while_the_broker_is_away(self):
        self.rules("RULE r MATCH a WITHIN 1h DO file()")
        self.create()
        self.settings()
        daemon = self.run_daemon()
        self.send({"type": "a", "ts": 1})
        self.lines(1, daemon)
        broker.kill()
        try:
            self.assertEqual(daemon.end(patience=30), 0)
        finally:
            broker.start()

    # Order, kills

    def load(self, partitions, count, seed):
        """Records for each partition: a and b of many keys, each at most 2 s (of event time) out of order within its
        partition, and partitions of unlike length; and the same as one sorted file."""
        random_ = random.Random(seed)
        by_partition = [[] for _ in range(partitions)]
        weights = [1 + n * n for n in range(partitions)]
        for n in range(count):
            partition = random_.choices(range(partitions), weights)[0]
            event = {"type": random_.choice("ab"), "ts": 1_000_000 + 10 * n, "k": random_.randrange(40), "n": n}
            by_partition[partition].append((event["ts"] + random_.randrange(2000), event))
        for each in by_partition:
            each.sort(key=lambda pair: pair[0])
        end = {"type": "end", "ts": 1_000_000 + 10 * count + 10_000}  # sends time past all events
        by_partition = [[event for _, event in each] + [end] for each in by_partition]
        everything = sorted((event["ts"], partition, offset, event) for partition, events in enumerate(by_partition)
                            for offset, event in enumerate(events))
        self.events(*(event for *_, event in everything), name="sorted.jsonl")
        return by_partition

    RULE = "RULE r KEY k MATCH a AS x THEN b AS y WITHIN 1s EMIT k, x.n AS x, y.n AS y DO file()"

    def expected(self):
        return [(match["emit"]["x"], match["emit"]["y"]) for match in self.replay("sorted.jsonl")]

    def actual(self):
        lines = json_lines(self.directory / "out/actions.jsonl")
        ids = [line["id"] for line in lines]
        self.assertEqual(len(ids), len(set(ids)), "each match once")
        return [(line["match"]["emit"]["x"], line["match"]["emit"]["y"]) for line in lines]

    def test_twelve_partitions_give_the_matches_of_the_sorted_file(self):
        self.rules(self.RULE)
        self.create(12)
        self.settings(max_delay="2s")
        records = self.load(12, 12_000, seed=1)
        expected = self.expected()
        self.assertGreater(len(expected), 1000)
        for partition, events in enumerate(records):
            self.send(*events, partition=partition)
        daemon = self.run_daemon()
        self.lines(len(expected), daemon)
        self.assertEqual(self.actual(), expected)
        self.assertEqual(daemon.end(), 0)
        self.assertNotIn("events dropped", daemon.log())

    def test_kills_in_the_middle_of_the_load(self):
        self.rules(self.RULE)
        self.create(4)
        self.settings(max_delay="2s", state={"interval": "100ms", "min_interval": "10ms"})
        records = self.load(4, 20_000, seed=2)
        expected = self.expected()
        random_ = random.Random(3)
        for partition, events in enumerate(records):
            self.send(*events, partition=partition)
        for kill in range(6):
            point = random_.choice(("take", "after_group", "before_slice", "before_finish", "after_finish"))
            at = random_.randrange(300, 2500) if point == "take" else random_.randrange(1, 3)
            daemon = self.run_daemon({"CEPD_FAULT": f"{point}=kill@{at}"}, ready=False)
            self.assertEqual(daemon.wait_end(PATIENCE), -signal.SIGKILL, daemon.log())
            if kill == 3:
                broker.kill()
                broker.start()
        daemon = self.run_daemon()
        self.lines(len(expected), daemon)
        self.assertEqual(self.actual(), expected)
        self.assertEqual(daemon.end(), 0)

    def test_mistakes_in_the_configuration(self):
        self.rules("RULE r MATCH a WITHIN 1h")
        for options, problem in (({"brokers": "here"}, "host:port"), ({"topics": "a/b"}, "topic's name"),
                                 ({"topics": []}, ""), ({"topcis": "a"}, "topcis"),
                                 ({"type_from": "header"}, "type_header"), ({"type_name": "a"}, "type_from"),
                                 ({"time_from": "clock"}, "header, record"), ({"start": "stop"}, "earliest"),
                                 ({"ca_file": "ca.pem"}, "TLS"), ({"sasl": "plain"}, "username"),
                                 ({"password": "plain"}, "password"), ({"format": "avro"}, "debezium")):
            with self.subTest(options):
                self.settings(**options)
                checked = self.cepd("check", "--config", self.config_file)
                self.assertEqual(checked.returncode, 1)
                self.assertRegex(checked.stderr, rf"cepd\.yaml:\d+:\d+: error: .*{problem}")


def need_services(what):
    """Ends the whole file where there is nothing to start a broker with."""
    global SERVICES
    SERVICES = find_services()
    if SERVICES is None:
        cepd_e2e.skip_all("no shared/services/kafka-start beside the sources, and none in $CEPD_SHARED: "
                          f"{what} is NOT tested against a broker")
    for name in ("java", "mvn"):
        if not cepd_e2e.find_program(name):
            cepd_e2e.skip_all(f"{name} is not installed: {what} is NOT tested against a broker")


if __name__ == "__main__":
    need_services("the Kafka source")
    cepd_e2e.main()
