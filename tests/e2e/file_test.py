"""A followed file through rules into the `file` action and a webhook that has its bad days."""

import time

import cepd_e2e
from cepd_e2e import CepdTest, Receiver, json_lines

RULE = '''
RULE pay KEY user
  MATCH cart THEN fail WITHIN 5m
  EMIT user, fail.amount AS amount
  LABELS severity: "high"
  DO {actions}
'''


class FileSource(CepdTest):
    def start(self, actions, **configured):
        self.rules(RULE.replace("{actions}", actions))
        self.events()
        # Ids hash the source's name; with that of `cepd replay` they are those of a replay of the same file.
        self.configure(sources={"input": self.follow()}, actions=configured)
        return self.run_daemon()

    def test_file_action_writes_the_matches_of_a_replay(self):
        daemon = self.start('file(note: "{user}: {amount}", amount: amount)', file={"path": "out/actions.jsonl"})
        events = self.events({"type": "cart", "ts": 1000, "user": "u1"}, {"type": "cart", "ts": 1500, "user": "u2"},
                             {"type": "other", "ts": 1700},
                             {"type": "fail", "ts": 2000.5, "user": "u1", "amount": 7.25})
        first, = self.wait_lines("actions.jsonl", 1, daemon)
        # The file grows while it is followed, also by half a line.
        with open(events, "ab") as file:
            file.write(b'{"type":"fail","ts":3000,"us')
            file.flush()
            file.write(b'er":"u2","amount":9}\n')
        first, second = self.wait_lines("actions.jsonl", 2, daemon)

        replayed = self.replay(events)
        self.assertEqual([first["id"], second["id"]], [match["match"] for match in replayed])
        for line, match in zip((first, second), replayed):
            self.assertEqual(line["idempotency_key"], line["id"])
            self.assertEqual(line["rule"], "pay")
            self.assertEqual(line["time_ms"], match["time"])
            events_of = line["match"].pop("events")
            self.assertEqual(events_of, {name: [{"source": "input", "partition": 0, "offset": offset}
                                                for offset in offsets] for name, offsets in match["events"].items()})
            match.pop("events")
            self.assertEqual(line["match"], match)
        self.assertEqual(first["arguments"], {"note": "u1: 7.25", "amount": 7.25})
        self.assertEqual(second["arguments"], {"note": "u2: 9", "amount": 9})

        self.assertEqual(daemon.end(), 0)
        self.assertRegex(daemon.log(), r"5 messages read, 5 events handled")
        self.assertRegex(daemon.log(), r"rule pay: 2 matches")
        self.assertRegex(daemon.log(), r"action file: 2 delivered, 0 retries, 0 rejected, 0 left")

    def test_shadow_rules_and_suppressed_matches_run_no_action(self):
        self.rules('RULE quiet SHADOW MATCH cart DO file()\n'
                   'RULE seldom MATCH cart LIMIT 1 PER 10s DO file()\n'
                   'RULE end MATCH fail DO file()')
        self.events()
        self.configure(sources={"input": self.follow()}, actions={"file": {"path": "out/actions.jsonl"}})
        daemon = self.run_daemon()
        self.events({"type": "cart", "ts": 0}, {"type": "cart", "ts": 1000}, {"type": "cart", "ts": 10000},
                    {"type": "fail", "ts": 11000})
        lines = self.wait_lines("actions.jsonl", 3, daemon)
        self.assertEqual([(line["rule"], line["time_ms"]) for line in lines],
                         [("seldom", 0), ("seldom", 10000), ("end", 11000)])
        self.assertEqual(daemon.end(), 0)
        self.assertEqual(len(json_lines(self.directory / "out/actions.jsonl")), 3)
        self.assertRegex(daemon.log(), r"rule quiet: 3 matches")

    def test_webhook_gets_body_and_key(self):
        receiver = Receiver()
        self.addCleanup(receiver.close)
        daemon = self.start('webhook(amount: amount, text: "{user} <{severity}>")',
                            webhook={"url": receiver.url("/hook?a=b"), "headers": ["X-Team: checkout"]})
        events = self.events({"type": "cart", "ts": 1, "user": "ü\"1"},
                             {"type": "fail", "ts": 2, "user": "ü\"1", "amount": 9007199254740993})
        (path, headers, body, _), = receiver.wait(1, daemon)
        match, = self.replay(events)
        self.assertEqual(path, "/hook?a=b")
        self.assertEqual(headers["idempotency-key"], match["match"])
        self.assertEqual(headers["content-type"], "application/json")
        self.assertEqual(headers["x-team"], "checkout")
        self.assertEqual(body["id"], match["match"])
        self.assertEqual(body["rule"], "pay")
        self.assertEqual(body["time_ms"], 2)
        self.assertEqual(body["arguments"], {"amount": 9007199254740993, "text": "ü\"1 <high>"})
        self.assertEqual(body["match"]["emit"], {"user": "ü\"1", "amount": 9007199254740993})
        self.assertEqual(daemon.end(), 0)
        self.assertEqual(len(receiver.requests), 1)

    def test_webhook_is_retried_with_the_same_key_and_in_order(self):
        receiver = Receiver(answers=[503, (429, {"Retry-After": "0"}), 500])
        self.addCleanup(receiver.close)
        daemon = self.start("webhook(amount: amount)",
                            webhook={"url": receiver.url(), "retry_first_wait": "10ms", "retry_longest_wait": "20ms"})
        events = self.events(*(event for i in range(3) for event in (
            {"type": "cart", "ts": 10 * i, "user": "u"}, {"type": "fail", "ts": 10 * i + 1, "user": "u", "amount": i})))
        requests = receiver.wait(6, daemon)
        ids = [match["match"] for match in self.replay(events)]
        self.assertEqual([headers["idempotency-key"] for _, headers, _, _ in requests],
                         [ids[0]] * 4 + ids[1:])
        self.assertEqual([status for _, _, _, status in requests], [503, 429, 500, 200, 200, 200])
        self.assertEqual({json_body["id"]: json_body["arguments"]["amount"] for _, _, json_body, _ in requests},
                         dict(zip(ids, range(3))))
        daemon.wait_log(r"action webhook: [0-9a-f]{32} is tried again in \d+ ms: .*503")
        daemon.wait_log(r"action webhook: works again after 3 failed tries")
        self.assertEqual(daemon.end(), 0)
        self.assertRegex(daemon.log(), r"action webhook: 3 delivered, 3 retries, 0 rejected, 0 left")

    def test_rejected_call_is_given_up_and_the_next_goes_out(self):
        receiver = Receiver(answers=[400])
        self.addCleanup(receiver.close)
        daemon = self.start("webhook(amount: amount)", webhook={"url": receiver.url("/secret-token")})
        self.events(*(event for i in range(2) for event in (
            {"type": "cart", "ts": 10 * i, "user": "u"}, {"type": "fail", "ts": 10 * i + 1, "user": "u", "amount": i})))
        requests = receiver.wait(2, daemon)
        self.assertEqual([body["arguments"]["amount"] for _, _, body, _ in requests], [0, 1])
        daemon.wait_log(r"action webhook: [0-9a-f]{32} is given up: .*400")
        self.assertEqual(daemon.end(), 0)
        self.assertRegex(daemon.log(), r"action webhook: 1 delivered, 0 retries, 1 rejected, 0 left")
        self.assertNotIn("secret-token", daemon.log())

    def test_two_calls_of_one_action_have_two_keys(self):
        daemon = self.start('file(n: 1), file(n: 2), log("paid {user}")', file={"path": "out/actions.jsonl"})
        self.events({"type": "cart", "ts": 1, "user": "u"}, {"type": "fail", "ts": 2, "user": "u", "amount": 1})
        first, second = self.wait_lines("actions.jsonl", 2, daemon)
        self.assertEqual(first["id"], second["id"])
        self.assertEqual(first["idempotency_key"], first["id"])
        self.assertEqual(second["idempotency_key"], first["id"] + "-2")
        daemon.wait_log("paid u")

    def test_log_line_cannot_be_forged_by_an_event(self):
        daemon = self.start('log("user {user}")')
        self.events({"type": "cart", "ts": 1, "user": "x\n[error] forged"},
                    {"type": "fail", "ts": 2, "user": "x\n[error] forged", "amount": 1})
        daemon.wait_log(r"user x\\n\[error\] forged")
        self.assertNotRegex(daemon.log(), r"(?m)^\[error\] forged")

    def test_file_that_appears_later_is_read(self):
        self.rules(RULE.replace("{actions}", "file()"))
        self.configure(sources={"input": self.follow("later.jsonl")}, actions={"file": {"path": "out/actions.jsonl"}})
        daemon = self.run_daemon()
        self.events({"type": "cart", "ts": 1, "user": "u"}, {"type": "fail", "ts": 2, "user": "u", "amount": 1},
                    name="later.jsonl")
        self.wait_lines("actions.jsonl", 1, daemon)

    def test_absence_is_noticed_when_the_source_is_idle(self):
        self.rules('RULE quiet KEY k MATCH up THEN NOT down WITHIN 100ms DO file()')
        now_ms = int(time.time() * 1000)
        self.events({"type": "up", "ts": now_ms, "k": 1})
        self.configure(sources={"input": self.follow(idle_after="50ms")},
                       actions={"file": {"path": "out/actions.jsonl"}})
        daemon = self.run_daemon()
        line, = self.wait_lines("actions.jsonl", 1, daemon)
        self.assertEqual(line["time_ms"], now_ms + 100)

    def test_whole_file_ends_the_daemon(self):
        self.rules("RULE last KEY k MATCH a THEN NOT b WITHIN 1h DO file()")
        self.events({"type": "a", "ts": 0, "k": 1}, {"type": "a", "ts": 1, "k": 2})
        self.configure(sources={"input": self.follow(follow=False)}, actions={"file": {"path": "out/actions.jsonl"}})
        daemon = self.run_daemon()
        self.assertEqual(daemon.wait_end(), 0)
        self.assertIn("the input has ended", daemon.log())
        # At the end of a bounded input time goes to its end: the absence holds.
        self.assertEqual([line["time_ms"] for line in json_lines(self.directory / "out/actions.jsonl")],
                         [3600000, 3600001])


if __name__ == "__main__":
    cepd_e2e.main()
