"""State on a disk that is really full: said once, no input is taken, and all goes on when there is room.

The disk is a small tmpfs in a mount namespace of the test's own; for that the test runs itself again under unshare(1).
"""

import json
import os
import resource
import signal
import subprocess
import sys
import threading

import cepd_e2e
from cepd_e2e import PATIENCE, CepdTest, free_port, json_lines, post, wait_until

INSIDE = "CEPD_FULL_DISK_TEST_INSIDE"
SIZE = 6 << 20


class FullDisk(CepdTest):
    def setUp(self):
        super().setUp()
        self.port = free_port()
        out = self.directory / "out"
        self.rules(f'RULE seen KEY k MATCH a WITHIN 1h DO file(path: "{out}/seen.jsonl")\n'
                   f'RULE pair KEY k MATCH a THEN b[x = a.x] WITHIN 1h DO file(path: "{out}/pair.jsonl")\n')
        self.state = self.directory / "state"
        self.state.mkdir()
        self.configure(sources={"web": {"type": "http", "port": self.port}}, state={"interval": "100ms"})
        self.answers = []

    def mount(self):
        subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={SIZE}", "tmpfs", str(self.state)], check=True)
        self.addCleanup(subprocess.run, ["umount", "-l", str(self.state)], check=False)

    def send(self, n, patience=PATIENCE):
        event = {"type": "a", "ts": n, "k": n, "x": "y" * 4000}
        self.answers.append((n, post(self.port, "/events", json.dumps(event))[0]))

    def send_until_full(self, daemon):
        """Returns the one that waits for its answer, and how many events were sent."""
        for n in range(20_000):
            sender = threading.Thread(target=self.send, args=(n,))
            sender.start()
            sender.join(0.5)
            if sender.is_alive() and "no input is taken" in daemon.log():
                return sender, n + 1
            sender.join()
        self.fail("the disk was never full")

    def assert_goes_on(self, daemon, make_room):
        sender, sent = self.send_until_full(daemon)
        # Nothing is answered that is not stored.
        self.assertNotIn((sent - 1, 200), self.answers)
        self.assertRegex(daemon.log(), r"\[error\] the state was not saved, it will be tried again: cannot (write|grow) "
                                       r"\S*/state/data\.mdb: (No space left on device|File too large)")
        make_room()
        daemon.wait_log("the state was saved, input goes on")
        sender.join(PATIENCE)
        # Each time is said once, however often it was tried.
        times = daemon.log().count("the state was saved, input goes on")
        self.assertEqual(daemon.log().count("the state was not saved"), times)
        self.assertEqual(daemon.log().count("no input is taken"), times)
        # One that was refused is sent again.
        for n in {n for n, status in self.answers if status != 200}:
            self.send(n)
        self.assertEqual(sorted(n for n, status in self.answers if status == 200), list(range(sent)))
        wait_until(lambda: len(json_lines(self.directory / "out/seen.jsonl")) == sent, "all were seen")
        self.assertEqual(daemon.end(signal.SIGKILL), -signal.SIGKILL)
        daemon = self.run_daemon()
        self.assertEqual(daemon.end(), 0)
        self.assertEqual(len(json_lines(self.directory / "out/seen.jsonl")), sent)
        self.assertEqual(self.cepd("state", "verify", "--config", self.config_file).returncode, 0)

    def test_a_full_file_system(self):
        self.mount()
        ballast = self.state / "ballast"
        ballast.write_bytes(bytes(SIZE // 3))
        self.assert_goes_on(self.run_daemon(), ballast.unlink)

    def test_a_limit_to_the_size_of_files(self):
        daemon = self.run_daemon()
        size = (self.state / "data.mdb").stat().st_size
        resource.prlimit(daemon.pid, resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))
        self.assert_goes_on(daemon, lambda: resource.prlimit(
            daemon.pid, resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY)))


if __name__ == "__main__":
    if INSIDE not in os.environ:
        tried = subprocess.run(["unshare", "-m", "true"], capture_output=True, check=False)
        if tried.returncode != 0:
            cepd_e2e.skip_all("this user may not make a mount namespace: " + tried.stderr.decode())
        os.environ[INSIDE] = "1"
        os.execvp("unshare", ["unshare", "-m", sys.executable, "-B", *sys.argv])
    cepd_e2e.main()
