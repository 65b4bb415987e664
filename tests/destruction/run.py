"""One daemon's life, over all its deaths, in a directory of its own, and what comes of it."""

import atexit
import collections
import http.client
import http.server
import json
import os
import pathlib
import re
import signal
import socket
import subprocess
import sys
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "e2e"))
from cepd_e2e import SKIPPED, Broker, find_program, free_port  # noqa: E402, F401

PATIENCE = 120.0
POLL = 0.005
HTTP_BATCH = 40
REFUSED = b"reload refused: the state cannot be saved"


class Receiver:
    """Keeps the body of each idempotency key, and how often a key came again."""

    def __init__(self):
        self.bodies, self.repeated, self.differing, self.marks = {}, 0, [], set()
        lock = threading.Lock()
        receiver = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            disable_nagle_algorithm = True

            def do_POST(self):
                body = json.loads(self.rfile.read(int(self.headers.get("Content-Length", "0"))))
                key = self.headers["Idempotency-Key"]
                with lock:
                    if key in receiver.bodies:
                        receiver.repeated += 1
                        if receiver.bodies[key] != body:
                            receiver.differing.append(key)
                    receiver.bodies[key] = body
                    if body["rule"] == "mark":
                        receiver.marks.add(body["arguments"]["n"])
                self.send_response(200)
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *_):
                pass

        class Server(http.server.ThreadingHTTPServer):
            def handle_error(self, *_):
                pass  # a client that is killed

        self._server = Server(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.port = self._server.server_address[1]
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def close(self):
        self._server.shutdown()
        self._server.server_close()


class Run:
    def __init__(self, directory, options, sources, rules, source_options=None):
        """`sources`: of file, http, mqtt. `source_options`: common to all of them."""
        self.directory, self.options, self.sources = pathlib.Path(directory), options, sources
        self.source_options = {"max_delay": "1s", "idle_after": "1d", "max_future": "1h", **(source_options or {})}
        self.state_options = {"interval": "150ms"}
        for name in ("rules", "out"):
            (self.directory / name).mkdir(parents=True)
        (self.directory / "rules/all.rules").write_text(rules)
        self.receiver = Receiver()
        self.input = self.directory / "events.jsonl"
        self.input.touch()
        self.port, self.broker, self.broker_starts = free_port(), None, 0
        self.process, self.rotated, self.inputs, self.starts = None, 0, 0, 0
        self.lock = threading.RLock()  # around what ends or begins a life
        atexit.register(self.abandon)

    def start_broker(self):
        self.broker = Broker(self.directory / "broker").start()

    def restart_broker(self, how):
        self.broker.stop(how)
        self.broker.start()
        self.broker_starts += 1

    def close(self):
        self.receiver.close()
        if self.broker:
            self.broker.stop()

    def abandon(self):
        """Nothing goes on running after a failure."""
        if self.process:
            self.kill()
        if self.broker:
            self.broker.stop()

    def configure(self, follow=True):
        kinds = {"file": {"type": "file", "path": "events.jsonl", "follow": follow},
                 "http": {"type": "http", "port": self.port},
                 "mqtt": {"type": "mqtt", "topics": ["t"], "qos": 1,
                          "servers": f"mqtt://127.0.0.1:{self.broker.port if self.broker else free_port()}"}}
        (self.directory / "cepd.yaml").write_text(json.dumps({
            "rules": {"directory": "rules"},
            "state": {"directory": "state", **self.state_options, **self.options.state},
            "engine": {"lanes": self.options.lanes},
            "daemon": {"run_directory": "run", "dead_letter": "out/dead_letter.jsonl", "stop_timeout": "10m",
                       "delivery": self.options.delivery},
            "sources": {name: {**kinds[name], **self.source_options} for name in self.sources},
            "actions": {"file": {"path": "out/actions.jsonl"},
                        "webhook": {"url": f"http://127.0.0.1:{self.receiver.port}/hook", "retry_first_wait": "10ms",
                                    "retry_longest_wait": "50ms"}}}))

    # Lives

    def start(self, fault=None):
        with self.lock:
            self.starts += 1
            log = self.directory / "log"
            self.log_begin = log.stat().st_size if log.exists() else 0
            environment = dict(os.environ)
            if fault:
                environment["CEPD_FAULT"] = fault
            with open(log, "ab") as out:
                self.process = subprocess.Popen(
                    [self.options.cepd, "run", "--config", str(self.directory / "cepd.yaml")],
                    stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.STDOUT, env=environment)

    def alive(self):
        return self.process.poll() is None

    def kill(self):
        """Returns the exit status; it may have been dead already."""
        with self.lock:
            if self.alive():
                self.process.kill()
            return self.process.wait()

    def stop(self):
        """An orderly end."""
        self.wait_ready()
        self.process.send_signal(signal.SIGTERM)
        self.wait_end()

    def wait_end(self):
        try:
            code = self.process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            self.fail("cepd does not end")
        if code != 0:
            self.fail(f"cepd ended with {code}")

    def fail(self, why):
        log = (self.directory / "log").read_text(errors="replace")
        raise SystemExit(f"FAILED: {why}\n{self.directory}\n{log[-6000:]}")

    def log(self):
        """Of this life."""
        with open(self.directory / "log", "rb") as log:
            log.seek(self.log_begin)
            return log.read()

    def ready(self):
        return b"ready: " in self.log()

    def wait_ready(self):
        """Before that a signal ends cepd at once."""
        self.wait(self.ready, "cepd is not ready")

    def wait(self, condition, what, pause=POLL):
        deadline = time.monotonic() + PATIENCE
        while not condition():
            if time.monotonic() > deadline:
                self.fail(what)
            time.sleep(pause)

    def state(self, *arguments):
        done = subprocess.run([self.options.cepd, "state", *arguments, "--config", str(self.directory / "cepd.yaml")],
                              capture_output=True, encoding="utf-8", check=False, timeout=PATIENCE)
        if done.returncode != 0:
            self.fail(f"cepd state {' '.join(arguments)}: {done.stdout[-2000:]}{done.stderr}")
        return done.stdout

    # What is done to it

    def rotate(self):
        self.rotated += 1
        try:
            (self.directory / "out/actions.jsonl").rename(self.directory / f"out/actions.jsonl.{self.rotated}")
        except FileNotFoundError:
            self.rotated -= 1

    def rotate_input(self):
        """Only where all of it was taken, so that cepd misses at most one rotation while it is away."""
        self.inputs += 1
        self.input.rename(self.directory / f"events.jsonl.{self.inputs}")

    def change_rules(self, step):
        for name, text in step.items():
            path = self.directory / "rules" / name
            if text is None:
                path.unlink(missing_ok=True)
            else:
                # A start never sees half of it.
                new = path.with_suffix(".new")
                new.write_text(text)
                new.rename(path)

    def reload(self):
        """Returns once the rules are those of the directory, by this life or by the start of another one."""
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline:
            time.sleep(POLL)
            with self.lock:
                if not self.alive() or not self.ready():
                    continue
                life, reloads = self.starts, self.log().count(b"reloaded: ")
                refusals = self.log().count(REFUSED)
                self.process.send_signal(signal.SIGHUP)
            while life == self.starts and self.alive():
                log = self.log()
                if log.count(b"reloaded: ") > reloads:
                    return
                if log.count(REFUSED) > refusals:
                    break  # and asked for again
                time.sleep(POLL)
            while life == self.starts and not self.alive():
                time.sleep(POLL)
            if life != self.starts:
                self.wait(lambda: self.alive() and self.ready(), "cepd is not ready")
                return
        self.fail("the rules were not reloaded")

    def feed_file(self, lines):
        with open(self.input, "ab") as file:
            file.write("".join(line + "\n" for line in lines).encode())

    def taken(self):
        """How many events an HTTP source has taken, in all its lives; None when it does not answer."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)
        try:
            connection.request("GET", "/events")
            return json.loads(connection.getresponse().read())["next"]
        except (OSError, http.client.HTTPException):
            return None
        finally:
            connection.close()

    def feed_http(self, lines, before):
        """Posts all, which stand behind `before` others, and goes on behind what was taken whenever an answer is lost."""
        sent, deadline, connection = 0, time.monotonic() + PATIENCE, None
        while sent < len(lines):
            if time.monotonic() > deadline:
                self.fail(f"only {before + sent} events were taken")
            try:
                if connection is None:
                    now = self.taken()
                    if now is None:
                        time.sleep(POLL)
                        continue
                    sent = now - before
                    connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)
                batch = lines[sent:sent + HTTP_BATCH]
                if not batch:
                    break
                connection.request("POST", "/events", "\n".join(batch), {"Content-Type": "application/x-ndjson"})
                answer = connection.getresponse()
                answer.read()
                if answer.status == 200:
                    sent += len(batch)
                    deadline = time.monotonic() + PATIENCE
                else:
                    connection = None
            except (OSError, http.client.HTTPException):
                connection = None

    def open_publisher(self):
        """A pipe; each line in it becomes a message of QoS 1."""
        return subprocess.Popen([find_program("mosquitto_pub"), "-h", "127.0.0.1", "-p", str(self.broker.port), "-q", "1",
                                 "-t", "t", "-l"], stdin=subprocess.PIPE)

    # What came of it

    def written(self):
        files = [self.directory / f"out/actions.jsonl.{i}" for i in range(1, self.rotated + 1)]
        files.append(self.directory / "out/actions.jsonl")
        return [line for file in files if file.exists() for line in file.read_text().splitlines()]

    def dead_letters(self):
        """Distinct ones: after a crash some may be there twice."""
        letters = [json.loads(line) for line in (self.directory / "out/dead_letter.jsonl").read_text().splitlines()]
        return {(letter["source"], letter["offset"], letter["reason"], letter.get("text")) for letter in letters}

    def numbers(self, rule):
        """How often the rule told of each number n."""
        matches = [json.loads(line) for line in self.written()]
        return collections.Counter(match["match"]["emit"]["n"] for match in matches if match["rule"] == rule)

    def first_checkpoint(self):
        return re.search(r"checkpoint (\d+) of ", self.state("list")).group(1)
