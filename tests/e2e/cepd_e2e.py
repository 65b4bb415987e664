"""What the end-to-end tests share: the cepd under test, its files, a receiver of HTTP requests, a broker.

Each test file is run as `python3 <area>_test.py <path of cepd> [unittest arguments]` and ends with main().
Nothing here waits for a fixed time: wait_until() asks again until something holds, and fails when it never does.
"""

import contextlib
import http.client
import http.server
import json
import os
import pathlib
import pwd
import random
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import unittest

SKIPPED = 77  # ctest: SKIP_RETURN_CODE
PATIENCE = 15.0  # seconds after which what a test waits for is taken as never coming

_cepd = None


def main():
    """Runs the tests of the calling file: `<file> <path of cepd> [-v] [Case.test]`."""
    global _cepd
    if len(sys.argv) < 2:
        sys.exit(f"usage: {sys.argv[0]} CEPD [unittest arguments]")
    _cepd = os.path.abspath(sys.argv.pop(1))
    if not os.access(_cepd, os.X_OK):
        sys.exit(f"{sys.argv[0]}: no program {_cepd}")
    unittest.main(module="__main__", verbosity=2)


def skip_all(why):
    """Ends the whole file so that ctest shows it as skipped."""
    print(f"SKIPPED: {why}", flush=True)
    sys.exit(SKIPPED)


def find_program(name):
    """Debian puts brokers into /usr/sbin, which is in no ordinary user's PATH."""
    return shutil.which(name, path=os.environ.get("PATH", "") + ":/usr/sbin:/sbin")


def wait_until(condition, what, patience=PATIENCE):
    """The first true value of condition(). `what`: for the failure; text, or a function that makes it."""
    deadline = time.monotonic() + patience
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() > deadline:
            raise AssertionError(f"not within {patience} s: {what() if callable(what) else what}")
        time.sleep(0.01)


def free_port():
    """Below those that the system gives to clients: one of these could have it before the server does, or while it is down."""
    while True:
        port = random.randrange(10_000, 32_000)
        with contextlib.closing(socket.socket()) as probe, contextlib.suppress(OSError):
            probe.bind(("127.0.0.1", port))
            return port


def port_open(port):
    with contextlib.closing(socket.socket()) as probe:
        probe.settimeout(1)
        return probe.connect_ex(("127.0.0.1", port)) == 0


def json_lines(path):
    """The objects of a file of JSON lines; none when it is not there. A line not yet ended is left out."""
    try:
        text = pathlib.Path(path).read_text(encoding="utf-8")
    except FileNotFoundError:
        return []
    return [json.loads(line) for line in text.split("\n")[:-1]]


class Daemon:
    """One `cepd run`. Log and standard error go to one file."""

    def __init__(self, config, log, env=None):
        """`env`: further environment variables; in their values `$$` is the daemon's process id."""
        self.config, self.log_path = str(config), pathlib.Path(log)
        self._begin = self.log_path.stat().st_size if self.log_path.exists() else 0
        with open(self.log_path, "ab") as out:
            # The shell, which becomes cepd, knows the process id before cepd starts.
            setting = "".join(f'export {name}="{value}"; ' for name, value in (env or {}).items())
            self.process = subprocess.Popen(
                ["/bin/sh", "-c", setting + 'exec "$0" "$@"', _cepd, "run", "--config", self.config],
                stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.STDOUT)

    @property
    def pid(self):
        return self.process.pid

    def log(self):
        """What this process (not one before it) has logged."""
        with open(self.log_path, "rb") as log:
            log.seek(self._begin)
            return log.read().decode("utf-8", "replace")

    def wait_log(self, pattern, begin=0, patience=PATIENCE):
        """Waits for a match of the regular expression behind character `begin` of the log; returns the match."""
        expression = re.compile(pattern)

        def found():
            ended = self.process.poll() is not None  # asked first: what it logged last is then in the file
            match = expression.search(self.log(), begin)
            if match is None and ended:
                raise AssertionError(f"cepd ended with {self.process.returncode}, no /{pattern}/ in:\n{self.log()}")
            return match

        return wait_until(found, lambda: f"/{pattern}/ in the log:\n{self.log()}", patience)

    def wait_ready(self):
        self.wait_log(r"ready: \d+ rules")
        return self

    def end(self, how=signal.SIGTERM, patience=PATIENCE):
        """Signals it and returns its exit code; for SIGKILL -9."""
        self.process.send_signal(how)
        return self.wait_end(patience)

    def wait_end(self, patience=PATIENCE):
        try:
            return self.process.wait(patience)
        except subprocess.TimeoutExpired:
            raise AssertionError(f"cepd did not end within {patience} s:\n{self.log()}") from None


class CepdTest(unittest.TestCase):
    """A test with a directory of its own: rules/, state/, run/, out/, cepd.yaml, log."""

    maxDiff = None

    def setUp(self):
        self.directory = pathlib.Path(tempfile.mkdtemp(prefix="cepd-e2e-"))
        self.addCleanup(shutil.rmtree, self.directory, ignore_errors=True)
        for name in ("rules", "out"):
            (self.directory / name).mkdir()
        self.log_file = self.directory / "log"
        self.config_file = self.directory / "cepd.yaml"
        self.daemons = []
        self.addCleanup(self._end_daemons)

    def _end_daemons(self):
        for daemon in self.daemons:
            if daemon.process.poll() is None:
                daemon.process.kill()
                daemon.process.wait()

    # Files

    def write(self, name, content):
        path = self.directory / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(content, bytes):
            path.write_bytes(content)
        else:
            path.write_text(content, encoding="utf-8")
        return path

    def rules(self, text, name="test.rules"):
        return self.write(f"rules/{name}", text)

    def events(self, *events, name="events.jsonl"):
        """Appends events (objects, text or bytes), one a line, in one write."""
        path = self.directory / name
        lines = b"".join(as_line(event) for event in events)
        with open(path, "ab") as file:
            file.write(lines)
        return path

    def configure(self, **sections):
        """cepd.yaml with directories of this test, and the given sections over it. (JSON is YAML.)"""
        config = {
            "rules": {"directory": "rules"},
            "state": {"directory": "state"},
            "daemon": {"run_directory": "run", "dead_letter": "out/dead_letter.jsonl", "log_level": "debug"},
        }
        for name, options in sections.items():
            config[name] = {**config.get(name, {}), **options}
        self.config_file.write_text(json.dumps(config, indent=2), encoding="utf-8")
        return self.config_file

    def follow(self, name="events.jsonl", **more):
        """Options of a source that reads a file and goes on as it grows."""
        return {"type": "file", "path": name, "follow": True, **more}

    def saved(self):
        """Waits until two checkpoints have been finished after this call: the first may have been under way before."""

        def finished():
            return self.daemons[-1].log().count(" is finished: ")

        before = finished()
        wait_until(lambda: finished() >= before + 2, "two checkpoints")

    # The program

    def run_daemon(self, env=None, ready=True):
        daemon = Daemon(self.config_file, self.log_file, env)
        self.daemons.append(daemon)
        return daemon.wait_ready() if ready else daemon

    def cepd(self, *arguments, stdin=None, stdout=subprocess.PIPE, patience=30.0):
        """Runs a subcommand to its end; `returncode`, `stdout` and `stderr` are text."""
        return subprocess.run([_cepd, *map(str, arguments)], input=stdin, cwd=self.directory, timeout=patience,
                              stdout=stdout, stderr=subprocess.PIPE, encoding="utf-8", errors="replace", check=False)

    def replay(self, events, *arguments, rules="rules"):
        """Matches of `cepd replay`, with the actions of cepd.yaml if there is one; it must succeed."""
        config = ("--config", self.config_file) if self.config_file.exists() else ()
        done = self.cepd("replay", "--rules", rules, "--input", events, *config, *arguments)
        self.assertEqual(done.returncode, 0, done.stderr)
        return [json.loads(line) for line in done.stdout.splitlines()]

    def wait_lines(self, name, count, daemon=None, patience=PATIENCE):
        """Waits until out/`name` has `count` lines and returns them. More than that fails at once."""
        path = self.directory / "out" / name

        def enough():
            lines = json_lines(path)
            if len(lines) > count:
                raise AssertionError(f"{len(lines)} lines in {name}, expected {count}: {lines}")
            return len(lines) == count and lines

        def state():
            return f"{count} lines in {name}: {json_lines(path)}\n" + (daemon.log() if daemon else "")

        return wait_until(enough, state, patience) if count else json_lines(path)


def as_line(event):
    if isinstance(event, bytes):
        return event + b"\n"
    return (event if isinstance(event, str) else json.dumps(event)).encode() + b"\n"


class Receiver:
    """An HTTP server on 127.0.0.1 that keeps what was posted. `answers`: status codes of the first requests, or
    (status, headers); 200 for all further ones. From stall() to go_on() no request is answered."""

    def __init__(self, answers=(), port=0):
        self._go_on = threading.Event()
        self._go_on.set()
        self.requests = []  # of (path, headers with lower-case names, body as JSON, status answered)
        self._answers = list(answers)
        self._lock = threading.Lock()
        receiver = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                body = self.rfile.read(int(self.headers.get("Content-Length", "0")))
                receiver._go_on.wait()
                with receiver._lock:
                    answer = receiver._answers.pop(0) if receiver._answers else 200
                    status, headers = answer if isinstance(answer, tuple) else (answer, {})
                    fields = {name.lower(): value for name, value in self.headers.items()}
                    receiver.requests.append((self.path, fields, json.loads(body), status))
                with contextlib.suppress(ConnectionError):
                    self.answer(status, headers)

            def answer(self, status, headers):
                self.send_response(status)
                for name, value in headers.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *_):
                pass

        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", port), Handler)
        self._server.daemon_threads = True
        self.port = self._server.server_address[1]
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
        self._thread.start()

    def stall(self):
        self._go_on.clear()

    def go_on(self):
        self._go_on.set()

    def url(self, path="/hook"):
        return f"http://127.0.0.1:{self.port}{path}"

    def wait(self, count, daemon=None):
        """Waits for `count` requests, answered or being answered."""
        return wait_until(lambda: len(self.requests) >= count and list(self.requests),
                          lambda: f"{count} requests, have {self.requests}\n" + (daemon.log() if daemon else ""))

    def close(self):
        self.go_on()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


class Broker:
    """A mosquitto of the test's own, whose sessions are kept over restarts. `access`: lines of its configuration, in which
    DIR is its directory; without it there are no passwords. `quiet`: it does not log each packet, for load."""

    def __init__(self, directory, port=None, access="allow_anonymous true\n", quiet=False):
        self.access, self.quiet = access, quiet
        self.directory = pathlib.Path(directory)
        self.directory.mkdir(parents=True, exist_ok=True)
        self.port = port or free_port()
        self.process = None

    def start(self):
        config = self.directory / "mosquitto.conf"
        config.write_text(
            f"listener {self.port} 127.0.0.1\n" + self.access.replace("DIR", str(self.directory)) +
            # Started by root it would become another user, who cannot write here.
            f"user {pwd.getpwuid(os.getuid()).pw_name}\n"
            # The default drops what is more than 1000 messages ahead of a subscriber.
            f"max_queued_messages {0 if self.quiet else 100_000}\n"
            f"persistence true\npersistence_location {self.directory}/\n"
            f"autosave_interval {1800 if self.quiet else 1}\n"
            f"log_dest stderr\nlog_type {'warning' if self.quiet else 'all'}\n")
        with open(self.directory / "mosquitto.log", "ab") as log:
            self.process = subprocess.Popen([find_program("mosquitto"), "-c", str(config)], stdin=subprocess.DEVNULL,
                                            stdout=log, stderr=subprocess.STDOUT)

        def up():
            if self.process.poll() is not None:
                raise AssertionError("mosquitto ended: " + (self.directory / "mosquitto.log").read_text())
            return port_open(self.port)

        wait_until(up, "the broker's port")
        return self

    def stop(self, how=signal.SIGTERM):
        if self.process and self.process.poll() is None:
            self.process.send_signal(how)
            self.process.wait(PATIENCE)

    def log(self):
        return (self.directory / "mosquitto.log").read_text(encoding="utf-8", errors="replace")

    def publish(self, topic, *events, more=()):
        """QoS 1: returns when the broker has taken them all."""
        done = subprocess.run(self._publish(topic, *more), input=b"".join(as_line(event) for event in events),
                              timeout=PATIENCE, capture_output=True, check=False)
        if done.returncode != 0:
            raise AssertionError(f"mosquitto_pub: {done.stderr.decode()}")

    def publisher(self, topic, *events):
        """A process that publishes them and does not give up when the broker is gone."""
        with tempfile.TemporaryFile() as lines:
            lines.write(b"".join(as_line(event) for event in events))
            lines.seek(0)
            return subprocess.Popen(self._publish(topic), stdin=lines, stderr=subprocess.DEVNULL)

    def _publish(self, topic, *more):
        return [find_program("mosquitto_pub"), "-h", "127.0.0.1", "-p", str(self.port), "-q", "1", "-t", topic, "-l", *more]


def certificates(directory):
    """Makes an authority (ca.crt) and certificates of it for localhost and 127.0.0.1: server.crt and client.crt, each with
    its .key. Returns the directory."""
    directory = pathlib.Path(directory)
    directory.mkdir(parents=True)

    def openssl(*arguments):
        subprocess.run(["openssl", *arguments], cwd=directory, check=True, capture_output=True, timeout=PATIENCE)

    key = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes")
    openssl("req", "-x509", *key, "-keyout", "ca.key", "-out", "ca.crt", "-days", "2", "-subj", "/CN=cepd test authority")
    (directory / "names").write_text("subjectAltName=DNS:localhost,IP:127.0.0.1\n")
    for who in ("server", "client"):
        openssl("req", *key, "-keyout", f"{who}.key", "-out", f"{who}.csr", "-subj", f"/CN=cepd test {who}")
        openssl("x509", "-req", "-in", f"{who}.csr", "-CA", "ca.crt", "-CAkey", "ca.key", "-CAcreateserial", "-days", "2",
                "-extfile", "names", "-out", f"{who}.crt")
    return directory


def post(port, path, body, content_type="application/json", headers=None):
    """POSTs to a server on 127.0.0.1; returns (status, body)."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE)
    try:
        connection.request("POST", path, body=body, headers={"Content-Type": content_type, **(headers or {})})
        answer = connection.getresponse()
        return answer.status, answer.read().decode("utf-8", "replace")
    finally:
        connection.close()
