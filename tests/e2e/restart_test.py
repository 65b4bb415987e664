"""Stops, kills and starts again: nothing is lost, nothing is matched twice, undelivered actions go out."""

import signal

import cepd_e2e
from cepd_e2e import CepdTest, Receiver, free_port, json_lines, wait_until

# Every pair of an `a` and a later `b` of a key: an event that is read twice shows as further matches.
PAIRS = 'RULE pairs KEY k MATCH a THEN ANY b WITHIN 1h AFTER MATCH NO SKIP DO file(path: "{out}/pairs.jsonl")\n'
SEEN = 'RULE seen MATCH a | b AS e WITHIN 1h DO file(path: "{out}/seen.jsonl")\n'


class Restart(CepdTest):
    def setUp(self):
        super().setUp()
        out = str(self.directory / "out")
        self.rules((PAIRS + SEEN).replace("{out}", out))
        self.count = 0  # of events written
        self.events()
        self.settings()

    def settings(self, **state):
        self.configure(sources={"input": self.follow()}, state=state)

    def send(self, daemon, *events):
        """Appends (type, ms, key) and waits until the rules have seen them."""
        self.append(*events)
        self.wait_lines("seen.jsonl", self.count, daemon)

    def append(self, *events):
        self.events(*({"type": kind, "ts": ms, "k": k} for kind, ms, k in events))
        self.count += len(events)

    def assert_as_replayed(self):
        """What the daemon reported, over all its starts, is what one replay of the whole file reports, once each."""
        replayed = self.replay(self.directory / "events.jsonl")
        for rule in ("pairs", "seen"):
            self.assertEqual([line["id"] for line in json_lines(self.directory / f"out/{rule}.jsonl")],
                             [match["match"] for match in replayed if match["rule"] == rule], rule)

    def test_partial_match_survives_a_stop(self):
        daemon = self.run_daemon()
        self.send(daemon, ("a", 1, 1), ("a", 2, 2), ("a", 3, 1))
        self.assertEqual(daemon.end(), 0)
        self.assertRegex(daemon.log(), r"stopping: no more input is taken")
        self.append(("b", 4, 1))  # while it is away
        daemon = self.run_daemon()
        daemon.wait_log(r"restored partial matches of [1-9]\d* keys, 0 waiting events and 0 undelivered actions")
        self.wait_lines("pairs.jsonl", 2, daemon)
        self.send(daemon, ("b", 5, 2))
        self.assertEqual(daemon.end(signal.SIGINT), 0)
        self.assert_as_replayed()

    def test_source_goes_on_where_it_stood(self):
        total = 0
        for start in range(4):
            daemon = self.run_daemon()
            for i in range(5):
                ms = 10 * (start * 5 + i)
                self.send(daemon, ("a", ms, 1), ("b", ms + 1, 1))
                total += 2
            self.assertEqual(daemon.end(), 0)
            self.assertRegex(daemon.log(), r"10 messages read, 10 events handled")
        self.assertEqual(len(json_lines(self.directory / "out/pairs.jsonl")), sum(range(1, total // 2 + 1)))
        self.assert_as_replayed()

    def test_stop_at_once_after_the_start(self):
        self.append(*(("ab"[i % 2], i, 1) for i in range(30)))
        for _ in range(3):
            daemon = self.run_daemon()
            self.assertEqual(daemon.end(), 0)
        daemon = self.run_daemon()
        self.wait_lines("seen.jsonl", 30, daemon)
        self.assertEqual(daemon.end(), 0)
        self.assert_as_replayed()

    def test_events_in_the_order_buffer_survive_a_stop(self):
        self.configure(sources={"input": self.follow(max_delay="10s")})
        daemon = self.run_daemon()
        self.append(("a", 1000, 1), ("b", 3000, 1), ("b", 11000, 9))
        self.wait_lines("seen.jsonl", 1, daemon)  # `a` was handled, the others wait
        self.assertEqual(daemon.end(), 0)
        daemon = self.run_daemon()
        daemon.wait_log(r"restored partial matches of \d+ keys, 2 waiting events")
        self.append(("a", 2000, 1), ("b", 13000, 9))
        self.wait_lines("pairs.jsonl", 2, daemon)  # of a@1000 and a@2000 with b@3000
        self.assertEqual(daemon.end(), 0)

    def test_changed_rule_drops_its_partial_matches_at_the_start(self):
        daemon = self.run_daemon()
        self.send(daemon, ("a", 1, 1))
        self.assertEqual(daemon.end(), 0)
        self.rules((PAIRS.replace("1h", "2h") + SEEN).replace("{out}", str(self.directory / "out")))
        daemon = self.run_daemon()
        daemon.wait_log(r"[1-9]\d* keys of rules that changed dropped")
        self.send(daemon, ("b", 2, 1))
        self.assertEqual(daemon.end(), 0)
        self.wait_lines("pairs.jsonl", 0)

    def test_killed_after_a_save_goes_on_from_it(self):
        self.settings(interval="20ms")
        daemon = self.run_daemon()
        self.send(daemon, ("a", 1, 1), ("a", 2, 2))
        self.saved()
        self.assertEqual(daemon.end(signal.SIGKILL), -signal.SIGKILL)
        self.append(("b", 3, 1), ("b", 4, 2))
        daemon = self.run_daemon()
        daemon.wait_log(r"restored partial matches of [1-9]\d* keys")
        self.wait_lines("pairs.jsonl", 2, daemon)
        self.assertEqual(daemon.end(), 0)
        self.assertRegex(daemon.log(), r"2 messages read, 2 events handled")
        self.assert_as_replayed()

    def test_a_rule_that_gets_on_timeout_at_the_start_keeps_its_partial_matches(self):
        daemon = self.run_daemon()
        self.send(daemon, ("a", 1, 1))
        self.assertEqual(daemon.end(), 0)
        self.rules((PAIRS.rstrip() + " ON TIMEOUT\n" + SEEN).replace("{out}", str(self.directory / "out")))
        daemon = self.run_daemon()
        daemon.wait_log(r"restored partial matches of [1-9]\d* keys, .* 0 keys of rules that changed dropped")
        self.send(daemon, ("b", 2, 1))
        self.wait_lines("pairs.jsonl", 1, daemon)
        self.assertEqual(daemon.end(), 0)

    def test_rotated_file_before_and_while_away(self):
        for how in (signal.SIGTERM, signal.SIGKILL):
            daemon = self.run_daemon()
            base = self.count
            self.send(daemon, *(("a", base + i, i) for i in range(5)))
            (self.directory / "events.jsonl").rename(self.directory / f"events.jsonl.{base}")
            self.send(daemon, *(("a", base + i, i) for i in range(5, 8)))
            daemon.end(how)
            # More lines than the file before had, and once more another file.
            self.append(*(("a", base + i, i) for i in range(8, 20)))
            (self.directory / "events.jsonl").rename(self.directory / f"events.jsonl.{base + 1}")
            self.append(("a", base + 20, 20))
            daemon = self.run_daemon()
            self.send(daemon, ("b", base + 21, 20))
            self.assertEqual(daemon.end(), 0)
        offsets = [line["match"]["events"]["e"][0]["offset"] for line in json_lines(self.directory / "out/seen.jsonl")]
        self.assertEqual(offsets, list(range(self.count)))
        self.assertEqual(json_lines(self.directory / "out/dead_letter.jsonl"), [])

    def test_source_that_is_gone_from_the_configuration_holds_no_time_back(self):
        two = {"input": self.follow(idle_after="1d"), "more": self.follow("more.jsonl", idle_after="1d")}
        for how in (signal.SIGTERM, signal.SIGKILL):
            self.configure(sources=two)
            base = 100 * self.count
            daemon = self.run_daemon()
            self.append(("a", base, 1))
            self.events({"type": "x", "ts": base, "k": 1}, name="more.jsonl")
            self.wait_lines("seen.jsonl", self.count, daemon)
            daemon.end(how)
            self.configure(sources={"input": two["input"]})
            daemon = self.run_daemon()
            self.send(daemon, ("b", base + 1, 1))
            self.assertEqual(daemon.end(), 0)

    def test_other_rules_after_a_kill_read_other_fields(self):
        # What is done once more from the journal is under way when the new rules come: their fields come in another order.
        out = self.directory / "out/fields.jsonl"
        rule = f'RULE fields KEY k MATCH a AS x THEN b WITHIN 1h EMIT k, x.n AS n DO file(path: "{out}")\n'
        self.rules(rule, "fields.rules")
        self.settings(interval="1h")
        daemon = self.run_daemon()
        self.events(*({"type": "a", "ts": i, "k": i, "n": 10 + i, "z": 20 + i} for i in range(3)))
        self.wait_lines("seen.jsonl", 3, daemon)
        self.assertEqual(daemon.end(signal.SIGKILL), -9)
        self.rules("RULE first KEY z MATCH a[y > 0] AS x THEN c[y = x.n] WITHIN 1h\n", "a_first.rules")
        daemon = self.run_daemon()
        daemon.wait_log("3 messages taken once more")
        self.events(*({"type": "b", "ts": 10 + i, "k": i} for i in range(3)))
        lines = self.wait_lines("fields.jsonl", 3, daemon)
        self.assertEqual([line["match"]["emit"] for line in lines], [{"k": i, "n": 10 + i} for i in range(3)])
        # And by a reload that is done once more.
        self.events(*({"type": "a", "ts": 20 + i, "k": i, "n": 30 + i} for i in range(3)))
        self.wait_lines("seen.jsonl", 9, daemon)
        self.rules("RULE b KEY q MATCH a[p > 0] AS x THEN b[q = x.k AND p = 2] WITHIN 1h\n", "a_first.rules")
        daemon.process.send_signal(signal.SIGHUP)
        daemon.wait_log("reloaded: ")
        self.assertEqual(daemon.end(signal.SIGKILL), -9)
        daemon = self.run_daemon()
        self.events(*({"type": "b", "ts": 30 + i, "k": i} for i in range(3)))
        lines = self.wait_lines("fields.jsonl", 6, daemon)
        self.assertEqual([line["match"]["emit"] for line in lines[3:]], [{"k": i, "n": 30 + i} for i in range(3)])

    def test_killed_before_a_save_reads_again_and_repeats_nothing(self):
        self.settings(interval="1h")
        daemon = self.run_daemon()
        self.send(daemon, ("a", 1, 1), ("b", 2, 1))
        self.wait_lines("pairs.jsonl", 1, daemon)
        daemon.end(signal.SIGKILL)
        self.append(("b", 3, 1))
        daemon = self.run_daemon()
        self.wait_lines("pairs.jsonl", 2, daemon)
        self.assertEqual(daemon.end(), 0)
        self.assertEqual([line["id"] for line in json_lines(self.directory / "out/pairs.jsonl")],
                         [m["match"] for m in self.replay(self.directory / "events.jsonl") if m["rule"] == "pairs"])

    def test_killed_again_and_again(self):
        self.settings(interval="10ms")
        for start in range(8):
            daemon = self.run_daemon()
            ms = 10 * start
            self.append(("a", ms, 1), ("b", ms + 1, 1))
            if start % 2 == 1:
                self.saved()
            daemon.end(signal.SIGKILL)
        daemon = self.run_daemon()
        ids = {match["match"] for match in self.replay(self.directory / "events.jsonl") if match["rule"] == "pairs"}

        def reported():
            return {line["id"] for line in json_lines(self.directory / "out/pairs.jsonl")}

        wait_until(lambda: reported() >= ids, lambda: f"{ids - reported()}\n{daemon.log()}")
        self.assertEqual(daemon.end(), 0)
        self.assertEqual(reported(), ids)
        self.assertEqual(len(ids), 8 * 9 // 2)


class FullState(CepdTest):
    def test_full_state_is_said_and_mends_itself(self):
        self.rules("RULE big KEY k MATCH a THEN b[x = a.x] WITHIN 1h", name="big.rules")
        self.rules('RULE seen MATCH c WITHIN 1h DO file()', name="seen.rules")
        self.events()
        settings = {"sources": {"input": self.follow()}, "state": {"map_size": "1MiB", "interval": "20ms"},
                    "actions": {"file": {"path": "out/actions.jsonl"}}}
        self.configure(**settings)
        daemon = self.run_daemon()
        self.events(*({"type": "a", "ts": i, "k": i, "x": "y" * 5000} for i in range(400)))
        daemon.wait_log(r"\[error\] the state was not saved, it will be tried again: .*: the state is full at 1 MiB: "
                        r"raise state\.map_size and start cepd again, nothing is lost")
        daemon.wait_log("no input is taken until the state can be saved")
        # What cannot be kept is not taken: it waits in the source.
        self.events({"type": "c", "ts": 1000})
        reload = self.cepd("reload", "--config", self.config_file)
        self.assertEqual(reload.returncode, 1)
        self.assertRegex(reload.stderr, r"reload refused: the state cannot be saved: .*raise state\.map_size")
        self.assertIn("reload again once the state can be saved", reload.stderr)
        self.assertEqual(daemon.log().count("the state was not saved"), 1)
        self.assertEqual(daemon.end(signal.SIGKILL), -signal.SIGKILL)
        # A larger map, and nothing is missing.
        settings["state"]["map_size"] = "64MiB"
        self.configure(**settings)
        daemon = self.run_daemon()
        daemon.wait_log(r"[1-9]\d* messages taken once more")
        self.wait_lines("actions.jsonl", 1, daemon)
        self.assertEqual(self.cepd("reload", "--config", self.config_file).returncode, 0)
        self.saved()
        self.assertEqual(daemon.end(signal.SIGKILL), -signal.SIGKILL)
        daemon = self.run_daemon()
        self.assertEqual(daemon.end(), 0)
        self.assertRegex(daemon.log(), r"\b0 messages read")
        self.wait_lines("actions.jsonl", 1)

    def test_state_that_is_full_at_the_stop_is_a_failure(self):
        self.rules("RULE big KEY k MATCH a THEN b[x = a.x] WITHIN 1h")
        self.events()
        self.configure(sources={"input": self.follow()}, state={"map_size": "1MiB", "interval": "20ms"})
        daemon = self.run_daemon()
        self.events(*({"type": "a", "ts": i, "k": i, "x": "y" * 5000} for i in range(400)))
        daemon.wait_log("the state was not saved")
        self.assertEqual(daemon.end(), 1)


    def test_state_file_that_is_removed_is_an_error(self):
        self.rules("RULE open KEY k MATCH a THEN b WITHIN 1h")
        self.events({"type": "a", "ts": 0, "k": 1})
        self.configure(sources={"input": self.follow()}, state={"interval": "20ms"})
        daemon = self.run_daemon()
        self.saved()
        (self.directory / "state/data.mdb").unlink()
        daemon.wait_log("data.mdb was removed while cepd runs")
        self.assertEqual(daemon.end(), 1)


class Undelivered(CepdTest):
    def setUp(self):
        super().setUp()
        self.port = free_port()
        self.rules("RULE pay KEY k MATCH a WITHIN 1h DO webhook(n: a.n), file()")
        self.events()
        self.configure(
            sources={"input": self.follow()}, daemon={"stop_timeout": "50ms"}, state={"interval": "20ms"},
            actions={"webhook": {"url": f"http://127.0.0.1:{self.port}/", "retry_first_wait": "10ms",
                                 "retry_longest_wait": "20ms"},
                     "file": {"path": "out/actions.jsonl"}})

    def deliver_after(self, end):
        daemon = self.run_daemon()
        self.events(*({"type": "a", "ts": i, "k": i, "n": i} for i in range(5)))
        self.wait_lines("actions.jsonl", 5, daemon)  # one action that does not get through holds up no other
        daemon.wait_log("action webhook: [0-9a-f]{32} is tried again")
        end(daemon)
        receiver = Receiver(port=self.port)
        self.addCleanup(receiver.close)
        daemon = self.run_daemon()
        daemon.wait_log("5 undelivered actions")
        requests = receiver.wait(5, daemon)
        self.assertEqual([headers["idempotency-key"] for _, headers, _, _ in requests],
                         [match["match"] for match in self.replay(self.directory / "events.jsonl")])
        self.assertEqual([body["arguments"]["n"] for _, _, body, _ in requests], list(range(5)))
        self.assertEqual(daemon.end(), 0)
        # What was delivered is forgotten: a third start does nothing.
        daemon = self.run_daemon()
        self.assertEqual(daemon.end(), 0)
        self.assertEqual(len(receiver.requests), 5)
        self.wait_lines("actions.jsonl", 5)

    def test_webhook_goes_out_after_a_stop(self):
        def stop(daemon):
            self.assertEqual(daemon.end(), 0)
            self.assertRegex(daemon.log(), r"action webhook: 0 delivered, \d+ retries, 0 rejected, 5 left for the next")

        self.deliver_after(stop)

    def test_webhook_goes_out_after_a_kill(self):
        def kill(daemon):
            self.saved()
            daemon.end(signal.SIGKILL)

        self.deliver_after(kill)

    def test_action_that_is_gone_from_the_configuration(self):
        """Its calls are kept for when it comes back, and the log says so."""
        self.rules("RULE pay KEY k MATCH a WITHIN 1h DO hook(n: a.n), file()")
        hook = {"type": "webhook", "url": f"http://127.0.0.1:{self.port}/", "retry_first_wait": "10ms",
                "retry_longest_wait": "20ms"}
        file = {"path": "out/actions.jsonl"}
        self.configure(sources={"input": self.follow()}, daemon={"stop_timeout": "50ms"},
                       actions={"hook": hook, "file": file})
        daemon = self.run_daemon()
        self.events({"type": "a", "ts": 1, "k": 1, "n": 1})
        daemon.wait_log("action hook: [0-9a-f]{32} is tried again")
        self.assertEqual(daemon.end(), 0)

        self.rules("RULE pay KEY k MATCH a WITHIN 1h DO file()")
        self.configure(sources={"input": self.follow()}, daemon={"stop_timeout": "50ms"}, actions={"file": file})
        daemon = self.run_daemon()
        daemon.wait_log(r"\[warning\] 1 undelivered calls are of actions that the configuration no longer has")
        self.assertEqual(daemon.end(), 0)

        receiver = Receiver(port=self.port)
        self.addCleanup(receiver.close)
        self.configure(sources={"input": self.follow()}, actions={"hook": hook, "file": file})
        daemon = self.run_daemon()
        receiver.wait(1, daemon)
        self.assertEqual(daemon.end(), 0)
        self.wait_lines("actions.jsonl", 1)

    def test_stop_waits_for_what_can_be_delivered(self):
        self.configure(
            sources={"input": self.follow()}, daemon={"stop_timeout": "10s"},
            actions={"webhook": {"url": f"http://127.0.0.1:{self.port}/", "retry_first_wait": "10ms",
                                 "retry_longest_wait": "20ms"},
                     "file": {"path": "out/actions.jsonl"}})
        daemon = self.run_daemon()
        self.events({"type": "a", "ts": 1, "k": 1, "n": 1})
        daemon.wait_log("action webhook: [0-9a-f]{32} is tried again")
        daemon.process.send_signal(signal.SIGTERM)
        daemon.wait_log("stopping")
        receiver = Receiver(port=self.port)
        self.addCleanup(receiver.close)
        receiver.wait(1, daemon)
        self.assertEqual(daemon.wait_end(), 0)
        self.assertRegex(daemon.log(), r"action webhook: 1 delivered, \d+ retries, 0 rejected, 0 left")


if __name__ == "__main__":
    cepd_e2e.main()
