"""Kills a running cepd again and again, and compares what it did in the world with what it should have done.

    python3 destruction.py CEPD [--kills 20] [--events 10000] [--seed 1] [--scenario file|http|mqtt|live|all] [--lanes N]
                                [--state KEY=VALUE ...]

The daemon is killed with SIGKILL at random times and at random fault points (base/fault.h), and started again each time.
In some lives its commits fail with ENOSPC or EIO, or its clock jumps. After some kills the last commit is torn as by a
power cut (torn.py). Rules come, go and change, and the file that the `file` action writes is renamed now and then. Of the file scenario the
input is rotated wherever the rules are about to change.

file, http: the base is a run that is never killed, with the same input, and the same changes of the rules at the same
places of the input. The file, in order, what a real HTTP receiver got, by idempotency key, and the dead letters must be
those of the base: nothing is missing, nothing is there twice, nothing is different.

mqtt, live: what is right depends on more than the input: on what the broker, which is killed as well, sends again; and
with events that carry the time at which they are sent, from two sources that are quiet at times, on the clock, which
jumps. So the judge is a run that is never killed and does once more what the journal says, from the first checkpoint on,
to which a copy of the state is rolled back. Beside that every event must have been handled, once, or be a dead letter.
"""

import argparse
import collections
import contextlib
import json
import os
import pathlib
import random
import shutil
import signal
import sys
import tempfile
import threading
import time

from run import SKIPPED, Run, find_program
from scenario import BEGIN_MS, EVERY_RULE, FAR_FUTURE_MS, LIVE_RULES, RULES, make_events, rule_steps
from torn import tear

FAULT_POINTS = ("commit", "before_group", "after_group", "before_slice", "after_slice", "before_finish",
                "after_finish", "before_delivery", "before_mark", "after_mark", "before_acknowledge",
                "after_acknowledge", "take", "reload", "replay")
# How often a point is passed before the kill, at most: more where it is passed for each message, once at a reload.
PASSED = {"take": 500, "replay": 60, "reload": 1}
PIECE_PAUSE = 0.02
KEPT = 1000


class Quota:
    """How much of the input the feeder may have fed by now, as a share from 0 to 1."""

    def __init__(self, share=1.0):
        self.share, self.stopped = share, False

    def wait(self, share):
        while self.share < share:
            time.sleep(PIECE_PAUSE)


def feed(run, lines, steps, quota, options):
    """Feeds a file or HTTP source, and changes the rules at the places that have a mark."""
    fed, steps = 0, iter(steps)
    piece = max(1, len(lines) // options.kills // 8)
    while fed < len(lines):
        # Up to a mark, and with it.
        upto = min(fed + piece, len(lines))
        upto = next((i + 1 for i in range(fed, upto) if '"mark"' in lines[i]), upto)
        part = lines[fed:upto]
        quota.wait(upto / len(lines))
        if run.sources == ["file"]:
            run.feed_file(part)
        else:
            run.feed_http(part, fed)
        fed += len(part)
        if '"mark"' in part[-1]:
            number = json.loads(part[-1])["n"]
            run.wait(lambda: number in run.receiver.marks, "a mark was not handled")
            if run.sources == ["file"]:
                run.rotate_input()
            run.change_rules(next(steps))
            run.reload()
        elif quota.share < 1:
            time.sleep(PIECE_PAUSE)


def feed_mqtt(run, lines, steps, quota, options):
    """Publishes all; the rules are changed at places that nobody knows. A broker that is killed forgets what came last,
    also what it has answered: what nobody has seen is published again, as by one who has no answer."""
    piece = max(1, len(lines) // options.kills // 8)
    everything, steps = set(range(options.events)), iter(steps)
    publisher, starts, fed, pieces = run.open_publisher(), run.broker_starts, 0, 0

    def is_subscribed():
        # A killed broker may also have forgotten who subscribes: what comes before cepd is there again goes to nobody.
        log = (run.directory / "broker/mosquitto.log").read_text(errors="replace").rsplit(" running\n", 1)[-1]
        return "Sending CONNACK to cepd-mqtt (1" in log or "Sending SUBACK to cepd-mqtt" in log

    def go_back():
        nonlocal publisher, starts
        publisher.kill()
        publisher.wait()
        run.wait(is_subscribed, "cepd does not come back to the broker")
        starts, publisher = run.broker_starts, run.open_publisher()
        told = told_of(run)
        return next((i for i, line in enumerate(lines) if json.loads(line).get("n", -1) not in told), 0)

    while not everything <= told_of(run):
        while fed < len(lines):
            quota.wait(fed / len(lines))
            if starts != run.broker_starts:
                fed = min(fed, go_back())
            with contextlib.suppress(BrokenPipeError):  # the broker is being killed
                publisher.stdin.write("".join(line + "\n" for line in lines[fed:fed + piece]).encode())
                publisher.stdin.flush()
            fed, pieces = fed + piece, pieces + 1
            if pieces % 20 == 19 and (step := next(steps, None)):
                run.change_rules(step)
                run.reload()
            elif quota.share < 1:
                time.sleep(PIECE_PAUSE)
        if starts != run.broker_starts:
            fed = go_back()
        time.sleep(PIECE_PAUSE * 10)
    publisher.stdin.close()
    if publisher.wait() != 0:
        run.fail("mosquitto_pub failed")


def feed_live(run, quota, options):
    """Events of this moment, through both sources in turns, with pauses in which they are taken as quiet."""
    chance = random.Random(f"live {options.seed}")
    posted = 0
    for n in range(options.events):
        quota.wait(n / options.events)
        now = time.time_ns() // 1_000_000
        line = json.dumps({"type": chance.choices("abc", (3, 2, 2))[0], "ts": now - chance.randrange(0, 120),
                           "k": chance.randrange(0, 20), "n": n})
        if chance.random() < 0.7:
            run.feed_file([line])
        else:
            run.feed_http([line], posted)
            posted += 1
        if chance.random() < 0.015:
            time.sleep(chance.uniform(0.1, 0.7))  # the daemon looks every 200 ms who is quiet
        elif chance.random() < 0.2:
            time.sleep(0.005)
    run.wait(lambda: told_of(run) == set(range(options.events)), "not all events were handled", PIECE_PAUSE * 10)


def told_of(run):
    """The numbers of the events that were handled or put aside."""
    aside = {json.loads(text)["n"] for *_, text in run.dead_letters()}
    return aside | set(run.numbers("every"))


def choose_fault(run, chance, jumps):
    """What the next life suffers beside its kill, and what that is called."""
    kind = chance.random()
    if kind < 0.6:
        # Nobody waits for an acknowledgement of a line in a file.
        points = [each for each in FAULT_POINTS if run.sources != ["file"] or "acknowledge" not in each]
        point = chance.choice(points)
        return point, f"{point}=kill@{chance.randrange(PASSED.get(point, 12)) + 1}"
    if kind < 0.7:
        number = chance.choice(("ENOSPC", "EIO"))
        return f"while commits fail with {number}", f"commit={number}@{chance.randrange(2, 15)}x{chance.randrange(1, 4)}"
    if jumps and kind < 0.9:
        shift = f"{chance.choice('+-')}{chance.randrange(300, 3000)}ms"
        return "with a clock that jumps", f"clock={shift}@{chance.randrange(1, 300)}x{chance.randrange(1, 600)}"
    return None, None


def destroy(run, feeder, quota, options, chance, jumps=False):
    """Kills the daemon, and now and then the broker, while the feeder feeds. Returns how many kills hit what, and how many
    left a torn commit."""
    hits, torn = collections.Counter(), 0
    feeder.start()
    for kill in range(options.kills):
        quota.share = (kill + 1) / (options.kills + 1)
        name, fault = choose_fault(run, chance, jumps)
        if chance.random() < 0.2:
            run.rotate()
        run.start(fault)
        until = time.monotonic() + options.slow * (chance.uniform(0.0, 0.6) + (1.0 if fault else 0))
        if run.broker and chance.random() < 0.4:
            time.sleep(chance.uniform(0.0, 0.3))
            how = chance.choice((signal.SIGKILL, signal.SIGTERM))
            run.restart_broker(how)
            hits[f"of the broker, by {how.name}"] += 1
        while time.monotonic() < until and run.alive():
            time.sleep(0.02)
        code = run.kill()
        if code == 1 and fault and "commit=E" in fault and b"cannot start: cannot write " in run.log():
            name = f"none, the start gave up {name}"
        elif code != -signal.SIGKILL:
            run.fail(f"cepd ended with {code} before it was killed")
        by_itself = fault is not None and "=kill@" in fault
        hits[name if name and (not by_itself or time.monotonic() < until) else "at a random time"] += 1
        if chance.random() < 0.3:
            torn += tear(run.directory / "state/data.mdb", chance)
    # The feeder goes on with a last life, without faults.
    run.start()
    quota.share = 1.0
    feeder.join()
    run.stop()
    return hits, torn


def start_feeder(*arguments):
    """A failure in it ends the program."""
    function, *rest = arguments

    def work():
        try:
            function(*rest)
        except SystemExit as failure:
            print(failure, flush=True)
            rest[0].abandon()
            os._exit(1)

    return threading.Thread(target=work, daemon=True)


def compare(wanted_run, run):
    wanted, got = wanted_run.written(), run.written()
    if wanted != got:
        keys = [json.loads(line)["idempotency_key"] for line in got]
        repeated = [key for key, count in collections.Counter(keys).items() if count > 1]
        missing, more = set(wanted) - set(got), set(got) - set(wanted)
        first = next((i for i, (a, b) in enumerate(zip(wanted, got)) if a != b), min(len(wanted), len(got)))
        run.fail(f"the file has {len(got)} lines, the base {len(wanted)}; {len(repeated)} keys twice, {len(missing)} "
                 f"lines missing, {len(more)} others; the first difference in line {first}:\n"
                 f"{wanted[first:first + 1]}\n{got[first:first + 1]}")
    wanted, got = wanted_run.receiver.bodies, run.receiver.bodies
    if wanted != got or run.receiver.differing:
        run.fail(f"the receiver got {len(got)} calls, of the base {len(wanted)}: {len(wanted.keys() - got.keys())} "
                 f"missing, {len(got.keys() - wanted.keys())} others, {len(run.receiver.differing)} came differently")
    if wanted_run.dead_letters() != run.dead_letters():
        run.fail(f"dead letters: {sorted(wanted_run.dead_letters() ^ run.dead_letters())[:10]}")
    if not run.written() or not got:
        run.fail("nothing was done")


def check_state(run):
    """After all of that every checkpoint that is kept can still be gone back to."""
    return run.state("verify").count(": good\n")


def report(scenario, run, hits, torn, options, took, more=""):
    print(f"{scenario}: {options.events} events, seed {options.seed}, {run.starts} lives, {run.receiver.repeated} calls "
          f"came again with the same key, {run.rotated} files renamed, {torn} commits torn; {len(run.written())} lines in "
          f"the file and {len(run.receiver.bodies)} calls at the receiver as without a kill{more}; {took:.0f} s")
    for what, count in sorted(hits.items()):
        print(f"  {count:4} kills: {what}")
    sys.stdout.flush()


def finish(run):
    """A last life, to the end of the file and of time."""
    run.configure(follow=False)
    run.start()
    run.wait_end()


def prove_against_base(directory, source, options):
    chance = random.Random(f"{options.seed} {source}")
    began = time.monotonic()
    marks = sorted(chance.sample(range(1, options.events), max(2, options.kills // 5)))
    lines, steps = make_events(options.events, options.seed, marks), rule_steps(len(marks), options.seed, RULES)

    base = Run(directory / f"base-{source}", options, [source], RULES)
    base.configure()
    base.start()
    feed(base, lines, steps, Quota(), options)
    base.stop()

    run = Run(directory / f"run-{source}", options, [source], RULES)
    run.configure()
    quota = Quota(0.0)
    hits, torn = destroy(run, start_feeder(feed, run, lines, steps, quota, options), quota, options, chance)
    if source == "file":
        finish(base)
        finish(run)
    compare(base, run)
    good = check_state(run)
    report(source, run, hits, torn, options, time.monotonic() - began,
           f"; {len(steps)} changes of the rules, {good} checkpoints good")
    base.close()
    run.close()


def judge(run, directory):
    """What the journal says, done by a run without kills."""
    other = Run(directory, run.options, run.sources, "", run.source_options)
    shutil.rmtree(directory / "rules")
    for name in ("rules", "state"):
        shutil.copytree(run.directory / name, directory / name)
    shutil.copy(run.input, other.input)
    other.state_options = run.state_options
    other.configure()
    other.state("rollback", other.first_checkpoint())
    other.start()
    other.stop()
    return other


def destroy_and_judge(scenario, run, directory, feeder, quota, options, jumps):
    began = time.monotonic()
    run.state_options["keep"] = KEPT  # so that the journal stays whole
    run.configure()
    # The first checkpoint has seen nothing of the input, and an MQTT broker keeps messages from then on.
    run.start()
    if run.broker:
        run.wait(lambda: b"source mqtt: connected" in run.log(), "not connected")
    run.stop()
    chance = random.Random(f"{options.seed} {scenario}")
    hits, torn = destroy(run, feeder, quota, options, chance, jumps)
    good = check_state(run)
    if good >= KEPT:
        run.fail("more checkpoints than are kept: the journal is not whole")
    other = judge(run, directory / f"judge-{scenario}")
    compare(other, run)
    reasons = collections.Counter(reason for _, _, reason, _ in run.dead_letters())
    handled = run.numbers("every")
    twice = sum(handled.values()) - len(handled)
    report(scenario, run, hits, torn, options, time.monotonic() - began,
           f", done once more from the journal; {good} checkpoints good; {twice} events came more than once; "
           f"dead letters: {dict(sorted(reasons.items()))}")
    run.close()
    other.close()
    return reasons, twice


def prove_mqtt(directory, options):
    # The broker takes some 2,000 messages a second.
    chosen = argparse.Namespace(**{**vars(options), "events": options.events // 4})
    # What comes again stands a little behind what came after it.
    rules = RULES + EVERY_RULE
    run = Run(directory / "run-mqtt", chosen, ["mqtt"], rules, {"max_delay": "10s", "dedup": "n"})
    run.start_broker()
    lines = [line for line in make_events(chosen.events, chosen.seed) if line.endswith("}")]
    numbers = {json.loads(line)["n"] for line in lines}
    lines += [json.dumps({"type": "a", "ts": FAR_FUTURE_MS, "k": 1, "n": n})
              for n in range(chosen.events) if n not in numbers]
    # Behind it nothing waits for an earlier one any more.
    lines.append(json.dumps({"type": "end", "ts": BEGIN_MS + 20 * chosen.events + 60_000}))
    quota = Quota(0.0)
    feeder = start_feeder(feed_mqtt, run, lines, rule_steps(8, chosen.seed, rules), quota, chosen)
    _, twice = destroy_and_judge("mqtt", run, directory, feeder, quota, chosen, False)
    if twice:
        run.fail(f"{twice} events were taken twice")


def prove_live(directory, options):
    chosen = argparse.Namespace(**{**vars(options), "events": options.events // 4})
    run = Run(directory / "run-live", chosen, ["file", "http"], LIVE_RULES + EVERY_RULE,
              {"max_delay": "50ms", "idle_after": "40ms", "max_future": "500ms"})
    quota = Quota(0.0)
    feeder = start_feeder(feed_live, run, quota, chosen)
    reasons, twice = destroy_and_judge("live", run, directory, feeder, quota, chosen, True)
    if twice:
        run.fail(f"{twice} events were taken twice")
    if not reasons["late_after_idle"] or (options.kills >= 20 and not reasons["future"]):
        run.fail(f"the clock has decided nothing: {reasons}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cepd", type=os.path.abspath)
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--events", type=int, default=10_000, help="of file and http; mqtt and live take a quarter")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--scenario", choices=("file", "http", "mqtt", "live", "all"), default="all")
    parser.add_argument("--lanes", type=int, default=1)
    parser.add_argument("--delivery", choices=("after_durable", "immediate"), default="after_durable")
    parser.add_argument("--state", action="append", default=[], metavar="KEY=VALUE", help="options of `state:`")
    parser.add_argument("--slow", type=float, default=1.0, help="lives are longer by this factor, for sanitizers")
    parser.add_argument("--keep", action="store_true", help="leave the directory, also after a good end")
    options = parser.parse_args()
    options.state = dict(each.split("=", 1) for each in options.state)
    directory = pathlib.Path(tempfile.mkdtemp(prefix="cepd-destruction-"))
    skipped = False
    for scenario in ("file", "http", "mqtt", "live") if options.scenario == "all" else (options.scenario,):
        if scenario == "mqtt" and not (find_program("mosquitto") and find_program("mosquitto_pub")):
            print("mqtt: SKIPPED, mosquitto is not installed", flush=True)
            skipped = True
        elif scenario == "mqtt":
            prove_mqtt(directory, options)
        elif scenario == "live":
            prove_live(directory, options)
        else:
            prove_against_base(directory, scenario, options)
    if not options.keep:
        shutil.rmtree(directory, ignore_errors=True)
    sys.exit(SKIPPED if skipped and options.scenario != "all" else 0)


if __name__ == "__main__":
    main()
