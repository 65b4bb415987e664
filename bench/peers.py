#!/usr/bin/env python3
"""Runs other engines on the rules of a bench_run result and prints the ratios: bench/README.md, "Other engines".

Usage: peers.py RESULTS.json [esper,flink,siddhi]
Environment: PEERS_DIR   their programs, with build.sh and run.sh; default: ../shared/peers beside the repository
             PEERS_WORK  where they are built and put their results; default: /tmp/peers
"""

import json
import os
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
PEERS = pathlib.Path(os.environ.get("PEERS_DIR", HERE.parent.parent / "shared" / "peers"))
WORK = pathlib.Path(os.environ.setdefault("PEERS_WORK", "/tmp/peers"))

# What a case of bench_run is called there: rule -> the arguments of run.sh.
CASES = {
    ("w1", "NO SKIP"): ["--workload", "w1"],
    **{("w2", f"{n} rule{'s' if n > 1 else ''}"): ["--workload", "w2", "--n", str(n)] for n in (1, 10, 100, 1000, 10000)},
    ("w3", "NO SKIP, <= at the end"): ["--workload", "w3"],
    **{("w4", f"list all, window {w}"): ["--workload", "w4", "--window", str(w)] for w in (100, 1000, 10000)},
}
# JSON lines as well: one parses the same whatever the number of rules or the window.
FROM_JSON = {"w1", "w3"}
# Flink drains what its buffers hold only at the end: where it is this slow, one bounded pass is the honest figure.
BOUNDED_PASS = {
    ("flink", "w2", "100 rules"): 100_000,
    ("flink", "w2", "1000 rules"): 5_000,
    ("flink", "w4", "list all, window 1000"): 2_000,
    ("flink", "w4", "list all, window 10000"): 1_500,
}
TOO_MANY = {("flink", "w2", "10000 rules")}
TIMING = ["--warm", "6", "--win", "3", "--wins", "3"]


def cases(results, engine):
    """(result of bench_run, arguments) of what this engine can do too."""
    for result in results:
        case = (result["workload"], result["rule"])
        if case not in CASES or (engine, *case) in TOO_MANY:
            continue
        arguments = list(CASES[case])
        if result["from"] == "json" and result["workload"] in FROM_JSON:
            arguments += ["--mode", "json"]
        elif result["from"] != "memory":
            continue
        most = BOUNDED_PASS.get((engine, *case))
        arguments += ["--once", "1", "--max-events", str(most)] if most else TIMING
        yield result, arguments


def measure(engine, arguments):
    done = subprocess.run([PEERS / "run.sh", engine, *arguments], stdout=subprocess.PIPE, text=True, check=False)
    try:
        return json.loads(done.stdout.splitlines()[-1])
    except (IndexError, json.JSONDecodeError):
        return {}


def told(result, line):
    """Rates of wall time, then of CPU time (all threads: its compiler and collector too)."""
    if not line.get("median"):
        return f"failed: {line.get('why', '')}"
    text = f"{line['median']:14,.0f} {result['rate']:14,.0f} {result['rate'] / line['median']:8.3g}"
    its, ours = line.get("per_cpu_s", 0), result.get("events_per_cpu_s", 0)
    return text + (f"   {its:,.0f} {ours:,.0f} {ours / its:.3g}" if its > 0 else "")


def main():
    if len(sys.argv) not in (2, 3):
        print(__doc__, file=sys.stderr)
        return 2
    if not (PEERS / "run.sh").is_file():
        print(f"peers.py: no run.sh in {PEERS} (PEERS_DIR)", file=sys.stderr)
        return 1
    results = json.loads(pathlib.Path(sys.argv[1]).read_text(encoding="utf-8"))["results"]
    engines = (sys.argv[2] if len(sys.argv) > 2 else "esper,flink,siddhi").split(",")
    if subprocess.run([PEERS / "build.sh", ",".join(engines)], check=False).returncode != 0:
        print("peers.py: build.sh failed", file=sys.stderr)
        return 1
    print(f"\n{'':6} {'rule':28} {'from':8} {'engine':8} {'its events/s':>14} {'cepd':>14} {'ratio':>8}   a CPU second")
    for engine in engines:
        for result, arguments in cases(results, engine):
            print(f"{result['workload']:6} {result['rule']:28} {result['from']:8} {engine:8}", end=" ")
            print(told(result, measure(engine, arguments)), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
