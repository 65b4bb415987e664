"""The HTTP source: single events, batches, back pressure, what is refused."""

import fcntl
import http.client
import json
import os
import signal
import struct
import termios
import threading

import cepd_e2e
from cepd_e2e import PATIENCE, CepdTest, free_port, json_lines, post, wait_until


class HttpSource(CepdTest):
    def setUp(self):
        super().setUp()
        self.port = free_port()
        self.next_ms = 0
        out = self.directory / "out"
        self.rules(f'RULE seen MATCH a | b AS e WITHIN 1h DO file(path: "{out}/seen.jsonl")\n'
                   f'RULE pair KEY k MATCH a THEN b WITHIN 1h DO file(path: "{out}/pair.jsonl")\n')
        self.settings()

    def settings(self, source=None, **sections):
        self.configure(sources={"web": {"type": "http", "port": self.port, **(source or {})}}, **sections)

    def event(self, kind="a", **fields):
        self.next_ms += 1
        return {"type": kind, "ts": self.next_ms, "k": 1, **fields}

    def send(self, body, content_type="application/json", path="/events", headers=None):
        if not isinstance(body, (str, bytes)):
            body = json.dumps(body)
        return post(self.port, path, body, content_type, headers)

    def seen(self, count, daemon):
        return [line["match"]["events"]["e"][0]["offset"] for line in self.wait_lines("seen.jsonl", count, daemon)]

    def test_single_batch_and_array(self):
        daemon = self.run_daemon()
        daemon.wait_log(rf"source web: listening on http://127\.0\.0\.1:{self.port}/events")
        self.assertEqual(self.send(self.event("a")), (200, '{"accepted":1}\n'))
        lines = "\n".join(json.dumps(self.event(kind)) for kind in "bab") + "\n"
        self.assertEqual(self.send(lines, "application/x-ndjson"), (200, '{"accepted":3}\n'))
        self.assertEqual(self.send([self.event("a"), self.event("b")]), (200, '{"accepted":2}\n'))
        # Without a type that says so: lines are lines, an object over several lines is one.
        self.assertEqual(self.send(lines.replace('"ts": ', '"ts": 1')), (200, '{"accepted":3}\n'))
        self.assertEqual(self.send(json.dumps(self.event("a", ts=100), indent=2)), (200, '{"accepted":1}\n'))
        self.assertEqual(self.seen(10, daemon), list(range(10)))
        self.wait_lines("pair.jsonl", 4, daemon)
        self.assertEqual(daemon.end(), 0)
        self.assertRegex(daemon.log(), "10 messages read, 10 events handled")

    def test_lanes_hold_nothing_back_and_keep_the_order(self):
        # No save, which would bring everything out as well.
        self.settings(engine={"lanes": 4}, state={"interval": "1h"})
        daemon = self.run_daemon()
        for count in range(1, 4):
            self.send(self.event(k=count))
            self.assertEqual(self.seen(count, daemon), list(range(count)))
        many = [json.dumps(self.event(kind, k=k)) for k in range(400) for kind in "aab"]
        self.assertEqual(self.send("\n".join(many), "application/x-ndjson"), (200, '{"accepted":1200}\n'))
        self.assertEqual(self.seen(1203, daemon), list(range(1203)))
        pairs = self.wait_lines("pair.jsonl", 400, daemon)
        self.assertEqual([line["match"]["key"]["k"] for line in pairs], list(range(400)))
        self.assertEqual(daemon.end(), 0)
        self.assertRegex(daemon.log(), "1203 messages read, 1203 events handled")

    def test_bad_events_are_taken_and_kept_aside(self):
        daemon = self.run_daemon()
        lines = [json.dumps(self.event("a")), "no JSON", '{"type":"a"}', json.dumps(self.event("b"))]
        self.assertEqual(self.send("\n".join(lines), "application/x-ndjson"), (200, '{"accepted":4}\n'))
        pair, = self.wait_lines("pair.jsonl", 1, daemon)
        self.assertEqual([e["offset"] for es in pair["match"]["events"].values() for e in es], [0, 3])
        self.assertEqual(daemon.end(), 0)
        kept = json_lines(self.directory / "out/dead_letter.jsonl")
        self.assertEqual([(r["source"], r["offset"], r["reason"]) for r in kept],
                         [("web", 1, "not_json"), ("web", 2, "no_time")])

    def test_what_is_refused(self):
        self.settings({"max_body": 2048}, daemon={"queue_messages": 5})
        daemon = self.run_daemon()
        for what, status, arguments in (
                ("nothing", 400, ("",)), ("blanks", 400, (" \n ",)), ("half an array", 400, ('[{"type":"a"',)),
                ("more than max_body", 413, (self.event(x="y" * 3000),)),
                ("more than the queue can ever hold", 413, ([self.event() for _ in range(6)],)),
                ("a form", 415, ("--x\r\n\r\n--x--\r\n", "multipart/form-data; boundary=x")),
                ("another path", 404, (self.event(), "application/json", "/other"))):
            with self.subTest(what):
                answered, body = self.send(*arguments)
                self.assertEqual(answered, status, body)
                if status != 404:
                    self.assertIn("error", json.loads(body))
        self.assertEqual(self.send([self.event() for _ in range(5)])[0], 200)
        self.seen(5, daemon)
        self.assertEqual(daemon.end(), 0)
        self.assertRegex(daemon.log(), "5 messages read, 5 events handled")

    def test_full_queue_is_429_and_takes_nothing(self):
        # Matching stands still while the dead-letter file, a pipe here, takes no more.
        pipe = self.directory / "out/pipe"
        os.mkfifo(pipe)
        reader = os.open(pipe, os.O_RDWR)
        self.addCleanup(os.close, reader)
        fcntl.fcntl(reader, fcntl.F_SETPIPE_SZ, 4096)
        self.settings({"threads": 16}, daemon={"dead_letter": str(pipe), "queue_messages": 4})
        daemon = self.run_daemon()
        # What is taken is answered only when it is stored: each waits in a thread of its own.
        answers, senders = [], []

        def event():
            return self.event(ts=1)  # whichever comes first, none is late

        def send(body):
            senders.append(threading.Thread(target=lambda: answers.append(self.send(body))))
            senders[-1].start()

        def in_the_pipe():
            return struct.unpack("i", fcntl.ioctl(reader, termios.FIONREAD, bytes(4)))[0]

        for _ in range(3):
            send("x" * 60_000)
        # Before, a full queue may be one that matching has not looked at yet.
        wait_until(lambda: in_the_pipe() == 4096, "matching to stand still")

        def full():
            send(event())
            return [body for status, body in answers if status == 429]

        for body in wait_until(full, "429"):
            self.assertEqual(json.loads(body), {"error": "the queue is full"})
        # All or none, and good manners: when to come again.
        self.assertEqual(self.send([event(), event()])[0], 429)
        self.assertEqual(self.retry_after(event()), "1")

        stop = threading.Event()

        def drain():
            os.set_blocking(reader, False)
            while not stop.wait(0.001):
                try:
                    while os.read(reader, 1 << 16):
                        pass
                except BlockingIOError:
                    pass

        drainer = threading.Thread(target=drain)
        drainer.start()
        try:
            for sender in senders:
                sender.join()
            accepted = [status for status, _ in answers].count(200)
            self.assertEqual(accepted + [status for status, _ in answers].count(429), len(senders))
            self.assertEqual(self.send(event())[0], 200)
            # None of the refused ones came through, and their numbers were not used up.
            seen = self.seen(accepted - 2, daemon)
            self.assertEqual(seen, sorted(set(seen)))
            self.assertLessEqual(seen[-1], accepted)
            self.assertEqual(daemon.end(), 0)
        finally:
            stop.set()
            drainer.join()
        self.assertRegex(daemon.log(), r"3 events dropped: not_json")

    def retry_after(self, event):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)
        try:
            connection.request("POST", "/events", json.dumps(event), {"Content-Type": "application/json"})
            answer = connection.getresponse()
            answer.read()
            self.assertEqual(answer.status, 429)
            return answer.getheader("Retry-After")
        finally:
            connection.close()

    def test_goes_on_after_a_restart(self):
        daemon = self.run_daemon()
        self.assertEqual(self.send(self.event("a"))[0], 200)
        self.seen(1, daemon)
        self.assertEqual(daemon.end(), 0)
        daemon = self.run_daemon()
        self.assertEqual(self.send(self.event("b"))[0], 200)
        pair, = self.wait_lines("pair.jsonl", 1, daemon)
        self.assertEqual([e["offset"] for es in pair["match"]["events"].values() for e in es], [0, 1])
        self.assertEqual(daemon.end(), 0)

    def test_what_was_answered_is_there_after_a_kill(self):
        self.settings(state={"interval": "1h"})
        daemon = self.run_daemon()
        self.assertEqual(self.send([self.event("a"), self.event("a", k=2)])[0], 200)
        self.assertEqual(daemon.end(signal.SIGKILL), -signal.SIGKILL)
        daemon = self.run_daemon()
        daemon.wait_log("2 messages taken once more")
        self.assertEqual(self.send([self.event("b"), self.event("b", k=2)])[0], 200)
        self.assertEqual(self.seen(4, daemon), [0, 1, 2, 3])
        self.wait_lines("pair.jsonl", 2, daemon)
        self.assertEqual(daemon.end(), 0)

    def test_full_disk_is_waited_for_and_nothing_is_lost(self):
        self.settings(state={"interval": "1h"})
        daemon = self.run_daemon({"CEPD_FAULT": "commit=ENOSPC@8x3"})
        for count in range(1, 9):
            # One of them waits until there is room; none is answered that is not stored.
            self.assertEqual(self.send(self.event(k=count))[0], 200)
        daemon.wait_log(r"\[error\] the state was not saved, it will be tried again: ")
        daemon.wait_log("the state was saved, input goes on")
        self.assertEqual(daemon.log().count("no input is taken until the state can be saved"), 1)
        self.seen(8, daemon)
        self.assertEqual(daemon.end(signal.SIGKILL), -signal.SIGKILL)
        daemon = self.run_daemon()
        daemon.wait_log("8 messages taken once more")
        self.assertEqual(daemon.end(), 0)
        self.seen(8, daemon)

    def test_accepted_events_are_matched_before_a_stop_ends(self):
        daemon = self.run_daemon()
        self.assertEqual(self.send([self.event() for _ in range(2000)]), (200, '{"accepted":2000}\n'))
        self.assertEqual(daemon.end(), 0)
        self.assertRegex(daemon.log(), "2000 messages read, 2000 events handled")

    def test_stop_with_an_open_connection(self):
        daemon = self.run_daemon()
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)
        self.addCleanup(connection.close)
        connection.request("GET", "/healthz")
        self.assertEqual(connection.getresponse().read(), b"ok\n")
        self.assertEqual(daemon.end(), 0)

    def test_address_in_use(self):
        self.run_daemon()
        self.settings(state={"directory": "other_state"}, daemon={"run_directory": "other_run"})
        second = self.run_daemon(ready=False)
        self.assertEqual(second.wait_end(), 1)
        self.assertRegex(second.log(), rf"source web: cannot listen on 127\.0\.0\.1:{self.port}: .*in use")


if __name__ == "__main__":
    cepd_e2e.main()
