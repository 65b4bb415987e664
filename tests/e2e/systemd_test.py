"""What cepd tells the service manager (sd_notify), to a socket of this test."""

import os
import signal
import socket
import time

import cepd_e2e
from cepd_e2e import PATIENCE, CepdTest


class Notify(CepdTest):
    def setUp(self):
        super().setUp()
        self.manager = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.addCleanup(self.manager.close)
        self.manager.settimeout(PATIENCE)
        self.address = str(self.directory / "notify")
        self.manager.bind(self.address)
        self.rules("RULE r MATCH a WITHIN 1h")
        self.events()
        self.configure(sources={"input": self.follow()})

    def receive(self):
        """The next message as a dictionary."""
        message = self.manager.recv(4096).decode()
        return dict(line.split("=", 1) for line in message.split("\n") if line)

    def next_not_watchdog(self):
        while True:
            message = self.receive()
            if message != {"WATCHDOG": "1"}:
                return message

    def test_ready_reloading_stopping(self):
        daemon = self.run_daemon({"NOTIFY_SOCKET": self.address})
        self.assertEqual(self.receive(), {"READY": "1", "STATUS": "1 rules on input"})

        self.rules("RULE s MATCH a WITHIN 1h", name="more.rules")
        before = time.clock_gettime(time.CLOCK_MONOTONIC) * 1e6
        os.kill(daemon.pid, signal.SIGHUP)
        reloading = self.receive()
        after = time.clock_gettime(time.CLOCK_MONOTONIC) * 1e6
        self.assertEqual(reloading["RELOADING"], "1")
        self.assertLessEqual(before - 1, int(reloading["MONOTONIC_USEC"]))
        self.assertLessEqual(int(reloading["MONOTONIC_USEC"]), after)
        self.assertEqual(self.receive(), {"READY": "1", "STATUS": "2 rules on input"})

        daemon.process.send_signal(signal.SIGTERM)
        self.assertEqual(self.receive(), {"STOPPING": "1"})
        self.assertEqual(daemon.wait_end(), 0)

    def test_ready_again_after_a_refused_reload(self):
        daemon = self.run_daemon({"NOTIFY_SOCKET": self.address})
        self.receive()
        self.rules("RULE broken MATCH", name="broken.rules")
        os.kill(daemon.pid, signal.SIGHUP)
        self.assertIn("RELOADING", self.receive())
        self.assertEqual(self.receive(), {"READY": "1", "STATUS": "1 rules on input"})

    def test_nothing_is_sent_when_it_cannot_start(self):
        self.rules("RULE broken MATCH", name="broken.rules")
        daemon = self.run_daemon({"NOTIFY_SOCKET": self.address}, ready=False)
        self.assertEqual(daemon.wait_end(), 1)
        self.manager.setblocking(False)
        with self.assertRaises(BlockingIOError):
            self.manager.recv(4096)

    def test_watchdog_is_fed_while_nothing_happens(self):
        interval_s = 1.0
        daemon = self.run_daemon({"NOTIFY_SOCKET": self.address, "WATCHDOG_USEC": str(int(interval_s * 1e6)),
                                  "WATCHDOG_PID": "$$"})
        self.assertIn("READY", self.receive())
        last = time.monotonic()
        for _ in range(3):
            self.assertEqual(self.receive(), {"WATCHDOG": "1"})
            now = time.monotonic()
            self.assertLess(now - last, interval_s)
            last = now
        daemon.process.send_signal(signal.SIGTERM)
        self.assertEqual(self.next_not_watchdog(), {"STOPPING": "1"})
        self.assertEqual(daemon.wait_end(), 0)

    def test_watchdog_of_another_process_is_not_fed(self):
        daemon = self.run_daemon({"NOTIFY_SOCKET": self.address, "WATCHDOG_USEC": "1000", "WATCHDOG_PID": "1"})
        self.assertIn("READY", self.receive())
        self.assertEqual(self.cepd("reload", "--config", self.config_file).returncode, 0)
        self.assertEqual(daemon.end(), 0)
        self.assertIn("RELOADING", self.receive())
        self.assertIn("READY", self.receive())
        self.assertEqual(self.receive(), {"STOPPING": "1"})


if __name__ == "__main__":
    cepd_e2e.main()
