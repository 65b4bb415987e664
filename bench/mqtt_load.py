#!/usr/bin/env python3
"""MQTT -> cepd beside a bare subscriber that only counts, both on one core and in turns, from one broker.

Usage: mqtt_load.py CEPD BENCH_RUN MQTT_TOOL [--events 60000] [--runs 3] [--rate 10000] [--seconds 10] [--quick]

backlog: so many messages of QoS 1 (the stream of W1) wait in the broker's session; the time from connecting to the last
         one taken. cepd also makes each durable, matches the rule of W1 and writes its matches to a file.
live:    messages come at a fixed rate; how long after the publisher has its last answer the last event has its effect.

Prints a line of JSON for each. Exit code 1 when a count is wrong. --quick: small, once, for a test; 77 without a broker.
"""

import argparse
import contextlib
import json
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "tests/e2e"))
from cepd_e2e import SKIPPED, Broker, Daemon, find_program, json_lines, wait_until  # noqa: E402

RULES = """RULE w1 KEY user_id MATCH cart_add THEN payment_fail WITHIN 5m DO file()
RULE ended MATCH the_end AS e WITHIN 1s DO file()
"""
END = {"type": "the_end", "ts": 1_790_000_000_000}
LONGEST = 120.0
PACE = 0.005


def cpu_seconds(pid):
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


class Load:
    def __init__(self, options, directory):
        import cepd_e2e
        cepd_e2e._cepd = options.cepd
        self.options, self.directory, self.lives = options, directory, 0
        self.broker = Broker(directory / "broker", quiet=True).start()
        self.url = f"tcp://127.0.0.1:{self.broker.port}"
        self.core = ["taskset", "-c", "0"] if shutil.which("taskset") else []
        self.lines = self.stream(options.events) + json.dumps(END).encode() + b"\n"
        self.count = options.events + 1

    def stream(self, count):
        return subprocess.run([self.options.bench_run, "--stream", "checkout", "--events", str(count)],
                              stdout=subprocess.PIPE, check=True).stdout

    def tool(self, *words):
        done = subprocess.run([*self.core, self.options.mqtt_tool, *map(str, words)], stdout=subprocess.PIPE,
                              timeout=LONGEST, check=True)
        return json.loads(done.stdout) if done.stdout else None

    def publish(self, lines, rate=None):
        """All at once, or so many a second. Returns the seconds until the last one was answered."""
        begun = time.monotonic()
        publisher = subprocess.Popen([find_program("mosquitto_pub"), "-h", "127.0.0.1", "-p", str(self.broker.port), "-q", "1",
                                      "-t", "t", "-l"], stdin=subprocess.PIPE)
        if rate is None:
            publisher.stdin.write(lines)
        else:
            each, sent = lines.splitlines(keepends=True), 0
            while sent < len(each):
                time.sleep(PACE)
                due = min(len(each), int((time.monotonic() - begun) * rate))
                publisher.stdin.write(b"".join(each[sent:due]))
                publisher.stdin.flush()
                sent = due
        publisher.stdin.close()
        if publisher.wait(LONGEST) != 0:
            sys.exit("mosquitto_pub failed")
        return time.monotonic() - begun

    def cepd(self, name):
        """A cepd with no state, connected."""
        place = self.directory / name
        (place / "rules").mkdir(parents=True, exist_ok=True)
        (place / "rules/w1.rules").write_text(RULES)
        (place / "cepd.yaml").write_text(json.dumps({
            "rules": {"directory": "rules"}, "state": {"directory": "state"},
            "daemon": {"run_directory": "run", "dead_letter": "dead_letter.jsonl"},
            "sources": {"bus": {"type": "mqtt", "servers": self.url, "topics": "t", "client_id": name}},
            "actions": {"file": {"path": "actions.jsonl"}}}))
        daemon = Daemon(place / "cepd.yaml", place / "log")
        if self.core:
            subprocess.run(["taskset", "-a", "-p", "-c", "0", str(daemon.pid)], stdout=subprocess.DEVNULL, check=False)
        daemon.wait_log("ready: ")
        return daemon, place

    def ended(self, place):
        path = place / "actions.jsonl"
        wait_until(lambda: path.exists() and b'"ended"' in path.read_bytes()[-2000:], "the last event", LONGEST)

    def bare(self, name):
        self.tool("session", self.url, name, "t")
        self.publish(self.lines)
        return self.tool("count", self.url, name, self.count)

    def through_cepd(self, name):
        daemon, _ = self.cepd(name)
        daemon.wait_log("connected to")
        daemon.end()
        self.publish(self.lines)
        daemon, place = self.cepd(name)
        begun = time.monotonic()
        self.ended(place)
        result = {"seconds": time.monotonic() - begun, "cpu_seconds": cpu_seconds(daemon.pid)}
        daemon.end()
        self.check(daemon)
        return result

    def check(self, daemon):
        if f"{self.count} messages read, {self.count} events handled" not in daemon.log():
            sys.exit(f"not {self.count} messages were read and handled:\n{daemon.log()}")

    def backlog(self):
        bare, through = [], []
        for run in range(self.options.runs):
            bare.append(self.bare(f"bare-{run}"))
            through.append(self.through_cepd(f"cepd-{run}"))
        rate = [self.count / statistics.median(each["seconds"] for each in of) for of in (bare, through)]
        cpu = [1e6 * statistics.median(each["cpu_seconds"] for each in of) / self.count for of in (bare, through)]
        return {"load": "backlog", "messages": self.count, "bare_per_s": round(rate[0]), "cepd_per_s": round(rate[1]),
                "ratio": round(rate[1] / rate[0], 2), "bare_cpu_us": round(cpu[0], 1), "cepd_cpu_us": round(cpu[1], 1)}

    def live(self):
        self.count = round(self.options.rate * self.options.seconds)
        lines = self.stream(self.count - 1) + json.dumps(END).encode() + b"\n"
        daemon, place = self.cepd("live")
        daemon.wait_log("connected to")
        before = cpu_seconds(daemon.pid)
        published = self.publish(lines, self.options.rate)
        answered = time.monotonic()
        self.ended(place)
        behind = time.monotonic() - answered
        cpu = cpu_seconds(daemon.pid) - before
        daemon.end()
        self.check(daemon)
        return {"load": "live", "messages": self.count, "published_per_s": round(self.count / published),
                "behind_ms": round(1e3 * behind), "cepd_cpu_share": round(cpu / published, 2),
                "matches": len(json_lines(place / "actions.jsonl")) - 1}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for program in ("cepd", "bench_run", "mqtt_tool"):
        parser.add_argument(program, type=os.path.abspath)
    parser.add_argument("--events", type=int, default=60_000, help="at most 65,000: see bench/README.md")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--rate", type=float, default=10_000)
    parser.add_argument("--seconds", type=float, default=10)
    parser.add_argument("--quick", action="store_true")
    options = parser.parse_args()
    if options.quick:
        options.events, options.runs, options.rate, options.seconds = 3000, 1, 3000, 1
    if options.events > 65_000:
        parser.error("--events: Mosquitto stops where more than 65,535 messages wait")
    if not find_program("mosquitto"):
        print("SKIPPED: mosquitto is not installed")
        sys.exit(SKIPPED)
    with tempfile.TemporaryDirectory(prefix="cepd-mqtt-load-") as directory, contextlib.ExitStack() as last:
        load = Load(options, pathlib.Path(directory))
        last.callback(load.broker.stop)
        for measure in (load.backlog, load.live):
            print(json.dumps(measure()), flush=True)


if __name__ == "__main__":
    main()
