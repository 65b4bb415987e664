"""State that is damaged, foreign, of another format, read-only or gone: a clear error, and nothing is written over."""

import pathlib
import random
import re
import shutil
import subprocess

import cepd_e2e
from cepd_e2e import CepdTest, json_lines, wait_until

PAGE = 4096
PAIRS = 'RULE pairs KEY k MATCH a THEN ANY b WITHIN 1h AFTER MATCH NO SKIP DO file(path: "{out}/pairs.jsonl")\n'
# What a start says of state that it cannot use; a sanitizer may have its own way to say that a record is not in the map.
REFUSED = (r"cannot start: |cepd: \S*data\.mdb is damaged, or its disk fails: using it ended with SIG[A-Z]+\. Nothing was |"
           "ERROR: AddressSanitizer")


class BadState(CepdTest):
    def setUp(self):
        super().setUp()
        self.rules(PAIRS.replace("{out}", str(self.directory / "out")))
        self.file = self.directory / "state/data.mdb"
        self.events()
        self.settings()

    def settings(self, **state):
        self.configure(sources={"input": self.follow()}, state=state)

    def make_state(self, keys=300):
        """Partial matches of that many keys, a few checkpoints and a journal, of a cepd that was stopped."""
        self.settings(interval="20ms")
        daemon = self.run_daemon()
        self.events(*({"type": "a", "ts": k, "k": k} for k in range(keys)), {"type": "b", "ts": keys, "k": 0})
        self.wait_lines("pairs.jsonl", 1, daemon)
        self.saved()
        self.assertEqual(daemon.end(), 0)
        return self.file.read_bytes()

    def assert_refused(self, says, file=None):
        """A start ends with exit code 1 and a message, and leaves the file as it is."""
        before = self.file.read_bytes() if file is None else file
        daemon = self.run_daemon(ready=False)
        self.assertEqual(daemon.wait_end(), 1, daemon.log())
        self.assertRegex(daemon.log(), says)
        self.assertEqual(self.file.read_bytes() == before, True, "it was written over")
        return daemon.log()

    def test_damaged_pages_are_said_and_never_misread(self):
        whole = self.make_state()
        pages = [at for at in range(2 * PAGE, len(whole), PAGE) if whole[at:at + PAGE].strip(b"\0")]
        events = (self.directory / "events.jsonl").read_bytes()
        lines = (self.directory / "out/pairs.jsonl").read_bytes()
        # LMDB copies gigabytes from some damaged pages until that ends it: TSan takes minutes and as much memory for it.
        under_tsan = b"__tsan_init" in pathlib.Path(cepd_e2e._cepd).read_bytes()
        outcomes = {"refused": 0, "not concerned": 0, "later": 0}

        def made():
            return [line["id"] for line in json_lines(self.directory / "out/pairs.jsonl")]

        for seed in range(40):
            with self.subTest(seed=seed):
                chance = random.Random(seed)
                damaged = bytearray(whole)
                for at in chance.sample(pages, chance.choice((1, 1, 3, len(pages)))):
                    # A bit in a page, many, or a page that holds something else.
                    for _ in range(chance.choice((1, 1, 30))):
                        damaged[at + chance.randrange(PAGE)] ^= 1 << chance.randrange(8)
                    if chance.random() < 0.2:
                        damaged[at:at + PAGE] = chance.randbytes(PAGE)
                self.file.write_bytes(damaged)
                (self.directory / "events.jsonl").write_bytes(events)
                (self.directory / "out/pairs.jsonl").write_bytes(lines)
                daemon = self.run_daemon(ready=False)
                wait_until(lambda: daemon.process.poll() is not None or "ready: " in daemon.log(), "a start or its end")
                if daemon.process.poll() is not None and "ready: " not in daemon.log():
                    outcomes["refused"] += 1
                    self.assertEqual(daemon.wait_end(), 1, daemon.log())
                    self.assertRegex(daemon.log(), REFUSED)
                    self.assertEqual(self.file.read_bytes() == bytes(damaged), True, "it was written over")
                    continue
                # What a start takes is what was there: the matches are those of one replay.
                outcomes["not concerned"] += 1
                if under_tsan:
                    daemon.process.kill()
                    daemon.wait_end()
                    continue
                self.events(*({"type": "b", "ts": 1000 + k, "k": k} for k in range(300)))
                wait_until(lambda: daemon.process.poll() is not None or "the state was not saved" in daemon.log() or
                           len(made()) >= 301, lambda: f"{len(made())} matches:\n{daemon.log()[-4000:]}")
                if (daemon.process.poll() or daemon.end()) != 0:  # what is written next to a damaged page does not work
                    self.assertRegex(daemon.log(), r"\[error\] the state was not saved.*\n|"
                                                   r"\[critical\] the state cannot be read any more, .*data\.mdb|" + REFUSED)
                    outcomes["later"] += 1
                    continue
                self.assertEqual(made(), [match["match"] for match in self.replay(self.directory / "events.jsonl")])
        # How many of which depends on what the pages happen to hold.
        self.assertGreater(outcomes["refused"], 5, outcomes)
        self.assertGreater(outcomes["not concerned"], 2, outcomes)

    def test_what_a_crash_leaves_behind_the_last_page_is_not_read(self):
        whole = self.make_state()
        used = len(whole.rstrip(b"\0"))
        tail = (used // PAGE + 1) * PAGE
        self.assertGreater(len(whole), tail + 8 * PAGE)
        self.file.write_bytes(whole[:tail] + random.Random(1).randbytes(8 * PAGE) + whole[tail + 8 * PAGE:])
        daemon = self.run_daemon()
        self.events({"type": "b", "ts": 1000, "k": 7})
        self.wait_lines("pairs.jsonl", 2, daemon)
        self.assertEqual(daemon.end(), 0)
        self.assertEqual(self.cepd("state", "verify", "--config", self.config_file).returncode, 0)

    def test_a_record_that_reads_back_as_another_one_is_damage(self):
        whole = self.make_state()
        # The text of the rule file is stored. Its letters can be others without any other sign of damage.
        self.assertIn(b"RULE pairs KEY k", whole)
        self.file.write_bytes(whole.replace(b"RULE pairs KEY k", b"RULE pears KEY k"))
        self.assert_refused(r"cannot start: the state is not what was stored, it is damaged: `cepd state verify` says")
        self.assertEqual(self.cepd("state", "verify", "--config", self.config_file).returncode, 1)

    def test_files_that_are_no_state(self):
        whole = self.make_state()
        for what, content, says in (
                ("garbage", random.Random(2).randbytes(len(whole)), "not an LMDB file|MDB_INVALID"),
                ("zeros", bytes(len(whole)), "not an LMDB file|MDB_INVALID"),
                ("text", b"my own notes\n" * 2000, "not an LMDB file|MDB_INVALID"),
                ("cut off", whole[:20 * PAGE], "data.mdb was cut off: it has 81920 of "),
                ("of another program", re.sub(rb"meta(?=\0)", b"mine", whole), "holds no cepd state but something else"),
                ("of a newer cepd", re.sub(rb"format_version\d", b"format_version9", whole),
                 r"has format version 9, this cepd reads and writes version \d+: run a cepd of that version")):
            with self.subTest(what):
                self.file.write_bytes(content)
                log = self.assert_refused(r"cannot start: ", None)
                self.assertRegex(log, says)
        self.file.write_bytes(whole)
        self.assertEqual(self.run_daemon().end(), 0)

    def test_file_that_is_cut_off_or_damaged_while_cepd_runs(self):
        def cut():
            with open(self.file, "r+b") as file:
                file.truncate(2 * PAGE)

        def garbage():
            with open(self.file, "r+b") as file:
                file.seek(2 * PAGE)
                file.write(random.Random(3).randbytes(len(whole.rstrip(b"\0")) - 2 * PAGE))

        whole = self.make_state()
        for damage in (cut, garbage):
            with self.subTest(damage.__name__):
                self.file.write_bytes(whole)
                daemon = self.run_daemon()
                damage()
                self.events(*({"type": "a", "ts": 3000, "k": k} for k in range(2000)))
                said = daemon.wait_log(r"cepd: \S*data\.mdb is damaged, or its disk fails: using it ended with SIG[A-Z]+\. "
                                       r"Nothing was written over\. `cepd state verify` says more|"
                                       r"\[critical\] the state cannot be read any more, `cepd state verify` says more: |"
                                       r"\[error\] the state was not saved, it will be tried again: .*data\.mdb: MDB_")
                # Whoever finds it first says it: who reads a key ends, who writes tries again.
                if not said.group().startswith("[error]"):
                    self.assertEqual(daemon.wait_end(), 1)
                else:
                    daemon.process.kill()
                    daemon.wait_end()

    def test_read_only_directory(self):
        whole = self.make_state()
        state = self.directory / "state"
        script = f'mount --bind "{state}" "{state}" && mount -o remount,ro,bind "{state}" || exit 99; exec "$0" "$@"'
        done = subprocess.run(["unshare", "-m", "sh", "-c", script, cepd_e2e._cepd, "run", "--config",
                               str(self.config_file)], capture_output=True, encoding="utf-8", timeout=30, check=False)
        if done.returncode not in (0, 1):
            self.skipTest(f"this user may not mount: {done.stderr}")
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stdout + done.stderr,
                         rf"cannot start: cannot write in the state directory {state}: Read-only file system")
        self.assertEqual(self.file.read_bytes() == whole, True)

    def test_disk_that_becomes_read_only_is_said_once_and_holds_up_the_input(self):
        self.rules('RULE seen MATCH a WITHIN 1h DO file(path: "%s/seen.jsonl")' % (self.directory / "out"))
        # Parts of the first checkpoint fail, what is done behind it, or input.
        for number, first in enumerate((4, 5, 6, 7, 8)):
            with self.subTest(first=first):
                self.configure(sources={f"input{number}": self.follow(f"events{number}.jsonl")},
                               state={"interval": "1h", "directory": f"state{number}"})
                self.events(name=f"events{number}.jsonl")
                daemon = self.run_daemon({"CEPD_FAULT": f"commit=EROFS@{first}x3"})
                for count in range(1, 9):
                    self.events({"type": "a", "ts": count, "k": count}, name=f"events{number}.jsonl")
                    self.wait_lines("seen.jsonl", 8 * number + count, daemon)
                daemon.wait_log(r"\[error\] the state was not saved, it will be tried again: .*Read-only file system")
                daemon.wait_log("the state was saved, input goes on")
                self.assertEqual(daemon.log().count("the state was not saved"), 1)
                self.assertEqual(daemon.log().count("no input is taken until the state can be saved"), 1)
                self.assertEqual(daemon.end(), 0)

    def test_directory_that_vanishes_while_cepd_runs(self):
        self.make_state()
        daemon = self.run_daemon()
        shutil.rmtree(self.directory / "state")
        self.events({"type": "a", "ts": 5000, "k": 1})
        daemon.wait_log("data.mdb was removed while cepd runs; restart cepd")
        # Nothing is taken, and what was taken is not said to be saved.
        self.assertEqual(daemon.end(), 1)
        self.assertFalse((self.directory / "state").exists())


if __name__ == "__main__":
    cepd_e2e.main()
