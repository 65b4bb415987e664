"""Kills a running cepd again and again, and compares what it did in the world with a run that was never killed.

    python3 destruction.py CEPD [--kills 20] [--events 20000] [--seed 1] [--source file|http|both] [--lanes N] [--self]

The input is fixed by the seed. A run without kills is the base. In the other the daemon is killed with SIGKILL at
random times and at random fault points (base/fault.h), started again each time, its rules are reloaded, and the file
that the `file` action writes is renamed now and then. In the end the file, in order, and what a real HTTP receiver got,
by idempotency key, must be those of the base: nothing is missing, nothing is there twice, nothing is different.
"""

import argparse
import collections
import http.client
import http.server
import json
import os
import pathlib
import random
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time

RULES = """
RULE pair KEY k MATCH a AS x THEN b AS y WITHIN 1m EMIT k, x.n AS first, y.n AS last DO file(), webhook(n: y.n)
RULE quiet KEY k MATCH a AS x THEN NOT b WITHIN 5s EMIT k, x.n AS n DO file()
RULE burst KEY k MATCH c{3} AS cs WITHIN 30s EMIT k, count(cs) AS n INTO burst_seen LIMIT 1 PER 1m DO webhook(n: n)
RULE chain KEY k MATCH burst_seen THEN a AS x WITHIN 1m EMIT k, x.n AS n DO file()
"""
# Events of one type that begin matches and end others, with --self.
SELF_RULE = "RULE wide MATCH d AS x THEN d AS y WITHIN 2s EMIT x.n AS first, y.n AS last DO file()\n"
# Put into the rule directory and taken out again: it does nothing.
OTHER_RULE = "RULE other SHADOW KEY k MATCH a THEN c WITHIN 20s\n"

BEGIN_MS = 1_700_000_000_000
FAULT_POINTS = ("commit", "before_group", "after_group", "before_slice", "after_slice", "before_finish",
                "after_finish", "before_delivery", "before_mark", "after_mark", "before_acknowledge",
                "after_acknowledge")
PATIENCE = 120.0


def make_events(count, seed):
    """Lines of events: out of order, some too late, some no events, some from a far future."""
    chance = random.Random(seed)
    lines = []
    for n in range(count):
        ms = BEGIN_MS + 20 * n - chance.randrange(0, 900)
        kind = chance.choices("abcd", (3, 2, 2, 1))[0]
        odd = chance.random()
        if odd < 0.002:
            ms -= 60_000  # late
        elif odd < 0.003:
            ms = 4_000_000_000_000  # years ahead
        line = json.dumps({"type": kind, "ts": ms, "k": chance.randrange(0, max(50, count // 20)), "n": n})
        lines.append(line[:-3] if 0.003 <= odd < 0.004 else line)
    return lines


class Receiver:
    """Keeps the body of each idempotency key, and how often a key came again."""

    def __init__(self):
        self.bodies, self.repeated, self.differing = {}, 0, []
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
    """One daemon's life, over all its deaths, in a directory of its own."""

    def __init__(self, directory, options, source):
        self.directory, self.options, self.source = pathlib.Path(directory), options, source
        for name in ("rules", "out"):
            (self.directory / name).mkdir(parents=True)
        (self.directory / "rules/all.rules").write_text(RULES + (SELF_RULE if options.self else ""))
        self.receiver = Receiver()
        self.input = self.directory / "events.jsonl"
        self.input.touch()
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        self.process, self.rotated, self.starts = None, 0, 0

    def configure(self, follow):
        source = {"max_delay": "1s", "idle_after": "1d", "max_future": "1h"}
        if self.source == "file":
            source.update(type="file", path="events.jsonl", follow=follow)
        else:
            source.update(type="http", port=self.port)
        (self.directory / "cepd.yaml").write_text(json.dumps({
            "rules": {"directory": "rules"},
            "state": {"directory": "state", "interval": "150ms"},
            "engine": {"lanes": self.options.lanes},
            "daemon": {"run_directory": "run", "dead_letter": "out/dead_letter.jsonl", "stop_timeout": "10m",
                       "delivery": self.options.delivery},
            "sources": {"input": source},
            "actions": {"file": {"path": "out/actions.jsonl"},
                        "webhook": {"url": f"http://127.0.0.1:{self.receiver.port}/hook", "retry_first_wait": "10ms",
                                    "retry_longest_wait": "50ms"}}}))

    def start(self, fault=None):
        self.starts += 1
        log = self.directory / "log"
        self.log_begin = log.stat().st_size if log.exists() else 0
        environment = dict(os.environ)
        if fault:
            environment["CEPD_FAULT"] = fault
        with open(self.directory / "log", "ab") as log:
            self.process = subprocess.Popen([self.options.cepd, "run", "--config", str(self.directory / "cepd.yaml")],
                                            stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT,
                                            env=environment)

    def fail(self, why):
        log = (self.directory / "log").read_text(errors="replace")
        raise SystemExit(f"FAILED: {why}\n{self.directory}\n{log[-6000:]}")

    def wait_end(self):
        try:
            code = self.process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            self.fail("cepd does not end")
        if code != 0:
            self.fail(f"cepd ended with {code}")

    def rotate(self):
        self.rotated += 1
        try:
            (self.directory / "out/actions.jsonl").rename(self.directory / f"out/actions.jsonl.{self.rotated}")
        except FileNotFoundError:
            self.rotated -= 1

    def reload(self):
        other = self.directory / "rules/other.rules"
        if other.exists():
            other.unlink()
        else:
            other.write_text(OTHER_RULE)
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGHUP)

    def ready(self):
        with open(self.directory / "log", "rb") as log:
            log.seek(self.log_begin)
            return b"ready: " in log.read()

    def wait_ready(self):
        """Before that a signal ends cepd at once."""
        deadline = time.monotonic() + PATIENCE
        while not self.ready():
            if time.monotonic() > deadline:
                self.fail("cepd is not ready")
            time.sleep(0.005)

    # Input

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

    def feed_http(self, lines, pace=None):
        """Posts all, and goes on behind what was taken whenever an answer is lost."""
        sent, deadline, connection = 0, time.monotonic() + PATIENCE, None
        while sent < len(lines):
            if time.monotonic() > deadline:
                self.fail(f"only {sent} events were taken")
            try:
                if connection is None:
                    now = self.taken()
                    if now is None:
                        time.sleep(0.005)
                        continue
                    sent = now
                    connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)
                batch = lines[sent:sent + 40]
                if not batch:
                    continue
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
            if pace:
                time.sleep(pace)

    def finish(self, all_lines):
        """A last life without faults, to the end of everything."""
        self.configure(follow=False)
        self.start()
        if self.source == "http":
            self.feed_http(all_lines)
            self.wait_ready()
            self.process.send_signal(signal.SIGTERM)
        self.wait_end()

    # What came of it

    def written(self):
        files = [self.directory / f"out/actions.jsonl.{i}" for i in range(1, self.rotated + 1)]
        files.append(self.directory / "out/actions.jsonl")
        return [line for file in files if file.exists() for line in file.read_text().splitlines()]

    def dead_letters(self):
        letters = [json.loads(line) for line in (self.directory / "out/dead_letter.jsonl").read_text().splitlines()]
        return {(letter["offset"], letter["reason"]) for letter in letters}


def destroy(run, lines, options, chance):
    """Feeds the input while the daemon is killed. Returns how many kills hit what."""
    hits = collections.Counter()
    run.configure(follow=True)
    feeder = None
    if run.source == "http":
        feeder = threading.Thread(target=run.feed_http, args=(lines, 40 * options.kills * 0.3 / len(lines)),
                                  daemon=True)
        feeder.start()
    fed = 0
    for kill in range(options.kills):
        fault = None
        if chance.random() < 0.6:
            point = chance.choice(FAULT_POINTS)
            fault = f"{point}=kill@{chance.randrange(1, 12)}"
        if chance.random() < 0.2:
            run.rotate()
        run.start(fault)
        reload_now = chance.random() < 0.15
        until = time.monotonic() + chance.uniform(0.0, 0.6) + (1.0 if fault else 0)
        upto = len(lines) * (kill + 1) // options.kills
        while time.monotonic() < until and run.process.poll() is None:
            if run.source == "file" and fed < upto:
                piece = lines[fed:min(upto, fed + max(1, len(lines) // options.kills // 8))]
                run.feed_file(piece)
                fed += len(piece)
            if reload_now and chance.random() < 0.1 and run.ready():
                run.reload()
                reload_now = False
            time.sleep(0.02)
        if run.process.poll() is None:
            run.process.kill()
        code = run.process.wait()
        if code != -signal.SIGKILL:
            run.fail(f"cepd ended with {code} before it was killed")
        at_point = fault is not None and time.monotonic() < until
        hits[fault.split("=")[0] if at_point else "at a random time"] += 1
    if run.source == "file":
        run.feed_file(lines[fed:])
        run.finish(lines)
    else:
        # The feeder goes on with the last life.
        run.start()
        feeder.join()
        run.wait_ready()
        run.process.send_signal(signal.SIGTERM)
        run.wait_end()
    return hits


def compare(base, run):
    wanted, got = base.written(), run.written()
    if wanted != got:
        keys = [json.loads(line)["idempotency_key"] for line in got]
        repeated = [key for key, count in collections.Counter(keys).items() if count > 1]
        missing = set(wanted) - set(got)
        more = set(got) - set(wanted)
        first = next((i for i, (a, b) in enumerate(zip(wanted, got)) if a != b), min(len(wanted), len(got)))
        run.fail(f"the file has {len(got)} lines, the base {len(wanted)}; {len(repeated)} keys twice, {len(missing)} "
                 f"lines missing, {len(more)} others; the first difference in line {first}:\n"
                 f"{wanted[first:first + 1]}\n{got[first:first + 1]}")
    if base.receiver.bodies != run.receiver.bodies or run.receiver.differing:
        wanted, got = base.receiver.bodies, run.receiver.bodies
        run.fail(f"the receiver got {len(got)} calls, of the base {len(wanted)}: {len(wanted.keys() - got.keys())} "
                 f"missing, {len(got.keys() - wanted.keys())} others, {len(run.receiver.differing)} came differently")
    if base.dead_letters() != run.dead_letters():
        run.fail(f"dead letters: {sorted(base.dead_letters() ^ run.dead_letters())[:10]}")


def prove(directory, source, options):
    lines = make_events(options.events, options.seed)
    chance = random.Random(f"{options.seed} {source}")
    began = time.monotonic()
    base = Run(directory / f"base-{source}", options, source)
    if source == "file":
        base.feed_file(lines)
    base.finish(lines)
    calls = len(base.receiver.bodies)
    if not base.written() or not calls:
        base.fail("the base has done nothing")
    base_took = time.monotonic() - began

    run = Run(directory / f"run-{source}", options, source)
    began = time.monotonic()
    hits = destroy(run, lines, options, chance)
    compare(base, run)
    print(f"{source}: {options.events} events, seed {options.seed}, {run.starts} lives: {len(run.written())} lines in the "
          f"file and {calls} calls at the receiver as without a kill ({run.receiver.repeated} of them came again with "
          f"the same key, {run.rotated} files renamed); base {base_took:.0f} s, run {time.monotonic() - began:.0f} s")
    for what, count in sorted(hits.items()):
        print(f"  {count:4} kills: {what}")
    sys.stdout.flush()
    base.receiver.close()
    run.receiver.close()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cepd", type=os.path.abspath)
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--events", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--source", choices=("file", "http", "both"), default="both")
    parser.add_argument("--lanes", type=int, default=1)
    parser.add_argument("--delivery", choices=("after_durable", "immediate"), default="after_durable")
    parser.add_argument("--self", action="store_true", help="with a rule whose element both begins and ends matches")
    parser.add_argument("--keep", action="store_true", help="leave the directory, also after a good end")
    options = parser.parse_args()
    directory = pathlib.Path(tempfile.mkdtemp(prefix="cepd-destruction-"))
    for source in ("file", "http") if options.source == "both" else (options.source,):
        prove(directory, source, options)
    if not options.keep:
        shutil.rmtree(directory, ignore_errors=True)


if __name__ == "__main__":
    main()
