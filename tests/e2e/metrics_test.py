"""/metrics: what it says is what was put in, docs/metrics.md lists it, and reading it holds nothing up."""

import json
import os
import pathlib
import re
import signal
import socket
import threading
import unittest
import urllib.request

import cepd_e2e
from cepd_e2e import PATIENCE, CepdTest, Receiver, free_port, post, wait_until

PAGE = pathlib.Path(__file__).resolve().parents[2] / "docs/metrics.md"
SAMPLE = re.compile(r"^(\w+)(?:\{(.*)\})? (\S+)$")
LABEL = re.compile(r'(\w+)="((?:[^"\\]|\\.)*)"')


class Metrics:
    """One page, parsed."""

    def __init__(self, text):
        self.types = dict(re.findall(r"^# TYPE (\w+) (\w+)$", text, re.MULTILINE))
        self.helps = dict(re.findall(r"^# HELP (\w+) (.+)$", text, re.MULTILINE))
        self.samples = {}  # (name, ((label, value), ...)): value
        for line in text.splitlines():
            if line and not line.startswith("#"):
                name, labels, value = SAMPLE.match(line).groups()
                self.samples[name, tuple(LABEL.findall(labels or ""))] = float(value)

    def __call__(self, name, **labels):
        """The value, None without one."""
        return self.samples.get((name, tuple(labels.items())))

    def of_label(self, name):
        """Values by the value of the one label."""
        return {labels[0][1]: value for (sample, labels), value in self.samples.items() if sample == name}

    def labels(self, family):
        """Names of the labels in use, but for those of buckets and quantiles."""
        return {label for (name, labels), _ in self.samples.items() for label, _ in labels
                if re.fullmatch(family + "(_bucket|_sum|_count)?", name)} - {"le", "quantile"}


class MetricsPage(CepdTest):
    def setUp(self):
        super().setUp()
        self.port, self.web = free_port(), free_port()
        out = self.directory / "out"
        self.rules(f"""
RULE pair KEY k MATCH a AS x THEN b AS y WITHIN 10m LIMIT 2 PER 1d DO file(path: "{out}/pair.jsonl")
RULE alone KEY k MATCH c AS x THEN d WITHIN 1m ON TIMEOUT DO webhook(n: x.n)
RULE capped KEY k MATCH e THEN f WITHIN 1h
RULE odd KEY k MATCH e[n / 0 > 1]
""")

    def settings(self, lines=False, webhook="http://127.0.0.1:1/", metrics=None, engine=None, **sections):
        """`lines`: with a source that follows a file, beside the one over HTTP."""
        self.events()
        self.configure(
            metrics={"listen": f"127.0.0.1:{self.port}", **(metrics or {})},
            sources={"web": {"type": "http", "port": self.web}, **({"lines": self.follow()} if lines else {})},
            engine={"max_partial_matches": 2, **(engine or {})}, actions={"webhook": {"url": webhook, "retry_first_wait": "1ms"}},
            **{"daemon": {"stop_timeout": "0s"}, **sections})

    def scrape(self):
        with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/metrics", timeout=PATIENCE) as answer:
            self.assertEqual(answer.status, 200)
            return Metrics(answer.read().decode())

    def wait(self, condition, what):
        """The first page for which the condition holds."""
        pages = []

        def holds():
            pages[:] = [self.scrape()]
            return condition(pages[0]) and pages[0]

        return wait_until(holds, lambda: f"{what}: {pages[0].samples}")

    def send(self, *events):
        lines = "\n".join(event if isinstance(event, str) else json.dumps(event) for event in events)
        self.assertEqual(post(self.web, "/events", lines, "application/x-ndjson")[0], 200)

    def test_figures_are_those_of_the_input(self):
        receiver = Receiver(answers=[503, 200, 400])
        self.addCleanup(receiver.close)
        self.settings(lines=True, webhook=receiver.url(), state={"interval": "100ms"})
        daemon = self.run_daemon()
        page = self.scrape()
        self.assertEqual(page.of_label("cepd_messages_total"), {"lines": 0, "web": 0})
        self.assertIsNone(page("cepd_watermark_lag_seconds"))
        self.assertEqual(page.of_label("cepd_rule_matches_total"), {})

        minute = 60_000
        # Three pairs, of which LIMIT lets two act; two that will time out; five that begin more than may be; a bad line;
        # a late event.
        self.send(*({"type": kind, "ts": at, "k": 1, "n": at} for at in (1, 2, 3) for kind in "ab"),
                  {"type": "c", "ts": 10, "k": 1, "n": 10}, {"type": "c", "ts": 20, "k": 2, "n": 20},
                  *({"type": "e", "ts": at, "k": 3, "n": at} for at in range(30, 35)),
                  "no JSON", {"type": "b", "ts": 5 * minute, "k": 9}, {"type": "a", "ts": 7, "k": 1})
        # Time goes on only once all sources have moved.
        self.events({"type": "a", "ts": 5 * minute, "k": 8})
        page = self.wait(lambda page: page("cepd_action_rejected_total", action="webhook"), "two time-outs posted")
        page = self.wait(lambda page: page("cepd_action_delivered_total", action="file") == 2, "two lines written")
        expected = {
            ("cepd_messages_total", "source"): {"lines": 1, "web": 16},
            ("cepd_rule_matches_total", "rule"): {"pair": 3},
            ("cepd_rule_timeouts_total", "rule"): {"alone": 2},
            ("cepd_rule_suppressed_total", "rule"): {"pair": 1},
            ("cepd_rule_over_cap_total", "rule"): {"capped": 3},
            ("cepd_rule_unknown_values_total", "rule"): {"odd": 5},
            ("cepd_reloads_total", "outcome"): {"done": 0, "refused": 0},
        }
        for (name, _), values in expected.items():
            self.assertEqual(page.of_label(name), values, name)
        dropped = page.of_label("cepd_events_dropped_total")
        self.assertEqual({reason: count for reason, count in dropped.items() if count}, {"not_json": 1, "late": 1})
        for name, value in (("cepd_events_handled_total", 15), ("cepd_events_waiting", 0), ("cepd_queue_messages", 0),
                            ("cepd_queue_messages_limit", 10000), ("cepd_rules", 4), ("cepd_lanes", 1),
                            ("cepd_matches_total", 3), ("cepd_timeouts_total", 2), ("cepd_suppressed_total", 1),
                            ("cepd_over_cap_total", 3), ("cepd_keys_in_memory", 3), ("cepd_keys_stored_only", 0),
                            ("cepd_key_evictions_total", 0), ("cepd_key_loads_total", 0),
                            ("cepd_saving_fails", 0), ("cepd_commit_errors_total", 0)):
            self.assertEqual(page(name), value, name)
        for action, figures in {"webhook": (1, 1, 1, 0, 0), "file": (2, 0, 0, 0, 0)}.items():
            self.assertEqual(
                tuple(page(name, action=action) for name in (
                    "cepd_action_delivered_total", "cepd_action_retries_total", "cepd_action_rejected_total",
                    "cepd_action_failing", "cepd_outbox_calls")), figures, action)
            self.assertEqual(page("cepd_action_latency_seconds_count", action=action), 2, action)
        # The newest event is 5 minutes after 1970.
        self.assertGreater(page("cepd_watermark_lag_seconds"), 1.7e9)
        self.assertGreater(page("cepd_commit_seconds_count"), 0)
        self.assertGreater(page("cepd_commit_bytes_total"), 0)
        # The journal has a record for each message over HTTP, and those of lines, rules and idle sources.
        self.assertGreaterEqual(page("cepd_state_records", space="journal"), 16)
        page = self.wait(lambda page: page("cepd_checkpoint_seconds_count") > 1, "checkpoints")
        self.assertGreater(page("cepd_checkpoint_stall_seconds_count"), 1)
        self.assertLess(page("cepd_checkpoint_age_seconds"), PATIENCE)
        self.assertEqual(daemon.end(), 0)

    def documented(self):
        """Of the tables in docs/metrics.md: type and label by name."""
        rows = re.findall(r"^\| `(\w+)` \| (\w+) \| (?:`(\w+)`)? ?\|", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
        self.assertEqual(len(rows), len({name for name, _, _ in rows}), "a metric stands twice in the page")
        return {name: (kind, {label} - {""}) for name, kind, label in rows}

    def test_page_of_the_documentation(self):
        self.settings(state={"interval": "100ms"})
        self.run_daemon()
        self.send(*({"type": kind, "ts": at, "k": 1, "n": at} for at in (1, 2, 3) for kind in "abce"))
        self.send({"type": "d", "ts": 600_000, "k": 2})
        page = self.wait(lambda page: page("cepd_timeouts_total") and page("cepd_checkpoint_seconds_count"), "time-out")
        documented = self.documented()
        self.assertEqual(page.types, {name: kind for name, (kind, _) in documented.items()})
        self.assertEqual(page.helps.keys(), page.types.keys())
        # All have a value here, so that their labels can be compared.
        self.assertEqual({name: page.labels(name) for name in page.types},
                         {name: labels for name, (_, labels) in documented.items()})
        named = re.findall(r"\b(?:cepd|process|exposer)_\w+", PAGE.read_text(encoding="utf-8"))
        for name in named:
            self.assertIn(re.sub("_(bucket|sum|count)$", "", name), documented, "the page speaks of it")

    def test_rules_that_come_and_go(self):
        self.settings()
        daemon = self.run_daemon()
        self.send(*({"type": kind, "ts": at, "k": 1, "n": at} for at in (1, 2) for kind in "ab"))
        self.wait(lambda page: page("cepd_rule_matches_total", rule="pair") == 2, "two matches")
        self.rules("RULE pair KEY k MATCH a THEN b WITHIN 20m\nRULE other KEY k MATCH b\n")
        self.assertEqual(self.cepd("reload", "--config", self.config_file).returncode, 0)
        self.send({"type": "a", "ts": 5, "k": 1}, {"type": "b", "ts": 6, "k": 1})
        page = self.wait(lambda page: page("cepd_rule_matches_total", rule="other"), "a match of the new rule")
        self.assertEqual(page.of_label("cepd_rule_matches_total"), {"pair": 3, "other": 1})
        self.assertEqual(page("cepd_matches_total"), 4)
        self.assertEqual(page("cepd_rules"), 2)
        self.rules("RULE other KEY k MATCH b\n")
        self.assertEqual(self.cepd("reload", "--config", self.config_file).returncode, 0)
        self.rules("RULE other KEY k MATCH\n")
        self.assertEqual(self.cepd("reload", "--config", self.config_file).returncode, 1)
        page = self.scrape()
        self.assertEqual(page.of_label("cepd_rule_matches_total"), {"other": 1})
        self.assertEqual(page("cepd_matches_total"), 4)
        self.assertEqual(page.of_label("cepd_reloads_total"), {"done": 2, "refused": 1})
        self.assertEqual(daemon.end(), 0)

    def test_more_keys_than_memory_holds(self):
        self.settings(state={"memory": "1MiB", "interval": "50ms", "min_interval": "0s"})
        daemon = self.run_daemon()
        keys = 8000
        for begin in range(0, keys, 500):
            self.send(*({"type": "a", "ts": begin + k, "k": begin + k} for k in range(500)))
        page = self.wait(lambda page: page("cepd_keys_stored_only") > keys // 2, "keys that are put out")
        self.assertEqual(page("cepd_state_memory_limit_bytes"), 1 << 20)
        self.assertGreater(page("cepd_state_memory_bytes"), 0)
        self.assertEqual(page("cepd_keys_in_memory") + page("cepd_keys_stored_only"), keys)
        self.assertGreaterEqual(page("cepd_key_evictions_total"), page("cepd_keys_stored_only"))
        loaded = page("cepd_key_loads_total")
        self.send(*({"type": "b", "ts": keys, "k": k} for k in range(500)))
        page = self.wait(lambda page: page("cepd_rule_matches_total", rule="pair") == 500, "matches of all keys")
        self.assertGreater(page("cepd_key_loads_total"), loaded)
        self.assertEqual(daemon.end(), 0)

    def test_without_figures_of_each_rule(self):
        self.settings(metrics={"each_rule": False})
        self.run_daemon()
        self.send({"type": "a", "ts": 1, "k": 1}, {"type": "b", "ts": 2, "k": 1})
        page = self.wait(lambda page: page("cepd_matches_total") == 1, "a match")
        self.assertEqual(page.of_label("cepd_rule_matches_total"), {})

    def test_what_a_start_takes_up(self):
        self.settings(state={"interval": "1h"})
        daemon = self.run_daemon()
        self.send({"type": "a", "ts": 1, "k": 1}, {"type": "c", "ts": 2, "k": 1, "n": 1})
        self.send({"type": "d", "ts": 600_000, "k": 2})
        page = self.wait(lambda page: page("cepd_action_failing", action="webhook"), "a call that fails")
        self.assertEqual(page("cepd_outbox_calls", action="webhook"), 1)
        self.assertEqual(daemon.end(signal.SIGKILL), -signal.SIGKILL)

        def restored(page):
            return tuple(page(f"cepd_restored_{what}") for what in ("keys", "events", "calls", "messages"))

        daemon = self.run_daemon()
        self.assertEqual(restored(self.scrape()), (0, 0, 1, 3))
        self.assertEqual(daemon.end(), 0)
        self.rules("RULE other MATCH a\n")
        daemon = self.run_daemon()
        page = self.scrape()
        self.assertEqual(restored(page), (0, 0, 1, 0))
        self.assertGreater(page("cepd_restored_keys_dropped"), 0)
        self.assertEqual(daemon.end(), 0)

    def test_disk_that_is_full(self):
        self.settings(state={"interval": "1h"})
        # The first three commits are those of the start.
        daemon = self.run_daemon({"CEPD_FAULT": "commit=ENOSPC@8x6"})
        sender = threading.Thread(
            target=lambda: [self.send({"type": "a", "ts": at, "k": at}) for at in range(1, 9)])
        sender.start()
        self.addCleanup(sender.join)
        page = self.wait(lambda page: page("cepd_saving_fails") == 1, "a commit that fails")
        self.assertGreater(page("cepd_commit_errors_total"), 0)
        page = self.wait(lambda page: page("cepd_saving_fails") == 0, "a commit that works again")
        self.wait(lambda page: page("cepd_messages_total", source="web") == 8, "all messages")
        self.assertEqual(daemon.end(), 0)

    def test_readers_hold_nothing_up(self):
        self.settings(engine={"lanes": 4}, state={"interval": "10ms"})
        daemon = self.run_daemon()
        stop, pages, errors = threading.Event(), [], []

        def read():
            try:
                while not stop.is_set():
                    pages.append(self.scrape())
            except OSError as error:
                errors.append(error)

        readers = [threading.Thread(target=read) for _ in range(3)]
        # One that connects and says nothing must not keep the others out.
        silent = socket.create_connection(("127.0.0.1", self.port))
        self.addCleanup(silent.close)
        for reader in readers:
            reader.start()
        count = 0
        for batch in range(20):
            self.send(*({"type": kind, "ts": batch * 100 + k, "k": k, "n": 1} for k in range(100) for kind in "ab"))
            count += 200
            if batch == 10:
                self.assertEqual(self.cepd("reload", "--config", self.config_file).returncode, 0)
        self.wait(lambda page: page("cepd_events_handled_total") == count, "all events")
        stop.set()
        for reader in readers:
            reader.join()
        self.assertEqual(errors, [])
        self.assertGreater(len(pages), 3)
        self.assertEqual(self.scrape()("cepd_rule_matches_total", rule="pair"), 2000)
        self.assertEqual(daemon.end(), 0)

    def test_a_stop_does_not_wait_for_a_reader(self):
        self.settings()
        daemon = self.run_daemon()
        with socket.create_connection(("127.0.0.1", self.port)) as half:
            half.sendall(b"GET /metrics HTTP/1.1\r\n")
            self.assertEqual(daemon.end(), 0)

    def test_where_it_listens(self):
        self.settings()
        first = self.run_daemon()
        self.settings(daemon={"run_directory": "other_run"}, state={"directory": "other_state"})
        daemon = self.run_daemon(ready=False)
        self.assertEqual(daemon.wait_end(), 1)
        self.assertRegex(daemon.log(), rf"cannot start: metrics\.listen: .*127\.0\.0\.1:{self.port}.*in use")
        self.assertEqual(first.end(), 0)
        for listen, expected in (("0.0.0.0:9464", "this machine alone"), ("192.168.1.1:9464", "this machine alone"),
                                 ("[::1]:9464", "this machine alone"), ("9464", "expected ADDRESS:PORT"),
                                 ("127.0.0.1:0", "expected a port"), ("127.0.0.1:70000", "expected a port"),
                                 ("127.0.0.1:http", "expected a port"), ("", "expected ADDRESS:PORT")):
            with self.subTest(listen):
                self.settings(metrics={"listen": listen})
                checked = self.cepd("check", "--config", self.config_file)
                self.assertEqual(checked.returncode, 1)
                self.assertRegex(checked.stderr, rf"cepd\.yaml:\d+:\d+: error: metrics\.listen: .*{expected}")

    @unittest.skipUnless(os.environ.get("CEPD_OPTIMIZED"), "a build for tests is larger")
    def test_an_idle_daemon_is_small(self):
        out = self.directory / "out"
        self.rules("".join(f"""
RULE pair_{n} KEY k MATCH a AS x THEN b AS y WITHIN 5m WHERE y.n >= x.n + {n} EMIT k, x.item AS item LIMIT 1 PER 1h
  DO file(path: "{out}/pair.jsonl"), alert("{{item}} of {{k}}")
""" for n in range(100)))
        self.settings(lines=True)
        self.run_daemon()
        for _ in range(20):
            page = self.scrape()
        self.assertEqual(page("cepd_rules"), 100)
        self.assertLess(page("process_resident_memory_bytes"), 25e6)

    def test_off_unless_asked_for(self):
        for metrics in (None, {"listen": "off"}):
            self.settings()
            config = json.loads(self.config_file.read_text())
            del config["metrics"]
            self.config_file.write_text(json.dumps({**config, **({"metrics": metrics} if metrics else {})}))
            daemon = self.run_daemon()
            self.assertNotIn("/metrics", daemon.log())
            self.assertFalse(cepd_e2e.port_open(self.port))
            self.assertEqual(daemon.end(), 0)


if __name__ == "__main__":
    cepd_e2e.main()
