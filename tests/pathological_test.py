#!/usr/bin/env python3
"""Rule files that nobody writes: an error, or success where they are legal, soon and in little memory.

Each is checked with bounds on the memory and the processor time of the process; what takes time or memory that grows
faster than the text runs into them. Usage: pathological_test.py CEPD
"""

import pathlib
import resource
import subprocess
import sys
import tempfile
import unittest

CEPD = str(pathlib.Path(sys.argv[1]).resolve())
SANITIZED = any(f"lib{name}san" in subprocess.run(["ldd", CEPD], stdout=subprocess.PIPE, check=True).stdout.decode()
                for name in ("a", "t"))
MOST_SECONDS = 60 if SANITIZED else 5
MOST_MEMORY = 700 << 20
MOST_OUTPUT = 200_000

MANY = 10_000
MEGABYTE = (1 << 20) - 100


def bound():
    resource.setrlimit(resource.RLIMIT_CPU, (MOST_SECONDS, MOST_SECONDS))
    if not SANITIZED:  # those map terabytes that they never touch
        resource.setrlimit(resource.RLIMIT_AS, (MOST_MEMORY, MOST_MEMORY))


def filled(begin, unit, end="\n"):
    """A text of a megabyte."""
    return begin + unit * ((MEGABYTE - len(begin) - len(end)) // len(unit)) + end


def numbered(template, count, between=""):
    return between.join(template.replace("#", str(i)) for i in range(count))


class Pathological(unittest.TestCase):
    def setUp(self):
        self.directory = tempfile.TemporaryDirectory(prefix="cepd-pathological-")
        self.addCleanup(self.directory.cleanup)

    def cepd(self, command, text):
        path = pathlib.Path(self.directory.name) / "x.rules"
        path.write_text(text, encoding="utf-8")
        done = subprocess.run([CEPD, command, path.name], cwd=self.directory.name, preexec_fn=bound, check=False,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        self.assertIn(done.returncode, (0, 1), done.stdout[-300:])
        self.assertLess(len(done.stdout), MOST_OUTPUT)
        return done.returncode, done.stdout.decode()

    def refused(self, text, why):
        code, said = self.cepd("check", text)
        self.assertEqual(code, 1, said[:300])
        self.assertIn(f"error: {why}", said[:3000])
        self.cepd("fmt", text)

    def accepted(self, text):
        code, said = self.cepd("check", text)
        self.assertEqual(code, 0, said[:300])
        code, said = self.cepd("fmt", text)
        self.assertEqual(code, 0, said[:300])

    def test_nesting(self):
        why = "nested more than 100 deep"
        for begin in "([{":
            self.refused(begin * MEGABYTE, why)
        self.refused("RULE r MATCH " + "(" * MANY + "a" + ")" * MANY, why)
        self.refused("RULE r MATCH " + "(" * MANY + "a", why)
        self.refused("RULE r MATCH " + "(" * MANY + "a THEN b" + "){2}" * MANY, why)
        for begin, end in (("(", ")"), ("NOT ", ""), ("- ", ""), ("-", ""), ("abs(", ")"), ("NOT (", ")"), ("1 + (", ")")):
            with self.subTest(begin):
                self.refused("RULE r MATCH a[" + begin * MANY + "x" + end * MANY + " = 1]", why)
        self.refused("RULE r MATCH a THEN " + "NOT " * MANY + "b WITHIN 5m", "expected an event type or ( after NOT")
        for begin, end in (("{x: ", "}"), ("[", "]")):
            self.refused("TEST t FOR r GIVEN a @0s {x: " + begin * MANY + "1" + end * MANY + "} EXPECT NOTHING", why)

    def test_chains(self):
        why = "this expression is too long: more than 1000 operators"
        for operator in (" + 1", " * 2", " AND x", " OR x", " - 1"):
            self.refused("RULE r MATCH a[x" + operator * MANY + " = 1]", why)
        self.refused("RULE r MATCH a[" + "x = " * MANY + "1]", "comparisons do not chain")
        self.refused("RULE r MATCH a[" + "x BETWEEN " * MANY + "1" + " AND 2" * MANY + "]", "comparisons do not chain")
        self.accepted("RULE r MATCH a[x" + ".y" * MANY + " = 1]")
        self.accepted("RULE r MATCH a[x IN (" + "1, " * 99_999 + "1)]")
        self.refused("RULE r MATCH a[x IN (" + "1, " * 200_000 + "1)]", "IN has at most 100000 values")

    def test_counts(self):
        self.accepted("RULE r KEY k MATCH a{1000000} WITHIN 5m")
        self.refused("RULE r MATCH a{1000001}", "a repeat counts to 1000000 at most")
        self.refused("RULE r MATCH a{" + "9" * 100_000 + "}", "this number does not fit 64 bits")
        self.refused("RULE r MATCH a WITHIN " + "1" * MEGABYTE + "h", "this duration is no sum of units or too long")
        self.refused(filled("RULE r MATCH a WITHIN ", "1h"), "this duration is no sum of units or too long")

    def test_patterns(self):
        self.refused("RULE r MATCH a" + " THEN a" * 100_000 + " WITHIN 5m", "a pattern has at most 64 elements")
        self.refused("RULE r MATCH a" + numbered(" THEN a AS n#", 50_000) + " WITHIN 5m", "a pattern has at most 64 elements")
        self.refused("RULE r MATCH a" + " OR a" * 100_000 + " WITHIN 5m", "a pattern has at most 64 elements")
        self.refused("RULE r MATCH a" + " AND a" * 100_000 + " WITHIN 5m", "AND joins at most eight elements")
        self.refused("RULE r MATCH a" + " THEN NOT b" * 50_000 + " THEN c WITHIN 5m", "a pattern has at most 64 elements")
        self.accepted("RULE r MATCH a" + numbered("|a#", 100_000) + " WITHIN 5m")
        self.accepted("RULE r MATCH " + "a? THEN " * 60 + "b WITHIN 5m")
        self.refused("RULE r MATCH a+ " + "UNTIL b " * MANY, "UNTIL stands here a second time")
        self.refused("RULE r MATCH a " + "WITHIN 5m " * MANY, "a second WITHIN: a rule has one")

    def test_lists(self):
        self.refused("RULE r KEY " + numbered("k#", 100_000, ", ") + " MATCH a", "KEY has at most 64 fields, not 100000")
        self.refused("RULE r FROM " + numbered("a#", 100_000, ", ") + " MATCH a0", "FROM has at most 1000 events")
        self.refused("RULE r MATCH a UNLESS " + numbered("a#", 100_000, ", "), "UNLESS has at most 64 events")
        self.refused("RULE r MATCH a EMIT " + numbered("a.x#", 80_000, ", "), "EMIT has at most 1000 items")
        self.refused("RULE r MATCH a LABELS " + numbered("l#: 1", 80_000, ", "), "LABELS has at most 1000 labels")
        self.refused("RULE r MATCH a DO " + numbered('log("x")', 90_000, ", "), "DO has at most 1000 actions")
        self.refused("RULE r MATCH a DO log(" + numbered("a#: 1", 90_000, ", ") + ")", "an action has at most 1000 arguments")
        self.refused("EVENT e (" + numbered("x# int", 70_000, ", ") + ")", "an EVENT has at most 1000 fields")

    def test_tests(self):
        rule = "RULE r MATCH a EMIT a.x AS x\nTEST t FOR r\n  GIVEN  a @0s\n"
        self.accepted(rule + " a @1s\n" * 100_000 + "  EXPECT NOTHING\n")
        self.accepted("RULE r MATCH a\n" + numbered("TEST t# FOR r GIVEN a @1s EXPECT NOTHING\n", 20_000))
        self.accepted(rule + "  EXPECT MATCH\n" + "         MATCH {x: 1}\n" * 40_000)
        self.refused(rule + "  EXPECT MATCH\n" + "         MATCH {y: 1}\n" * 40_000, "the rule r emits no y")
        self.refused("EVENT a (x int)\n" + rule + " b @1s\n" * 100_000 + "  EXPECT NOTHING\n", "unknown event type b")
        self.refused(rule + "  EXPECT MATCH {" + numbered("x#: 1", 80_000, ", ") + "}", "what is expected has at most 1000 fields")
        self.refused("RULE r MATCH a\n" + numbered("TEST t# FOR r GIVEN a @0s TIMES 1000000 EXPECT NOTHING\n", 15_000),
                     "the events of all TESTs together take at most 256 MB of memory")
        self.refused('RULE r MATCH a\nTEST t FOR r GIVEN a @0s {x: "' + "y" * 900_000 + '"} TIMES 1000000 EXPECT NOTHING',
                     "the events of all TESTs together take at most 256 MB of memory")

    def test_many_statements(self):
        self.accepted(numbered("RULE r# MATCH a\n", 40_000))
        self.accepted(numbered("CONST c# = 5m\n", 50_000))
        self.accepted(numbered("EVENT e# (x int)\n", 40_000))
        self.accepted(numbered("RULE r# MATCH t# EMIT 1 AS x INTO u#\n", 20_000))
        self.refused("RULE r MATCH a\n" * 60_000, "a second RULE r; the first stands at x.rules:1:6")
        self.refused("RULE r MATCH\n" * 60_000, "expected an event type after MATCH")
        self.refused(numbered("CONST c# = 5m\n", 40_000) + "RULE r MATCH a[" + numbered("x = $d#", 900, " OR ") + "]",
                     "unknown constant $d0")
        self.refused(numbered("EVENT e# (x int)\n", 30_000) + numbered("RULE r# MATCH f#\n", 15_000), "unknown event type f0")
        self.refused(numbered("RULE r# MATCH t# EMIT 1 AS x INTO u#\nRULE s# MATCH u# EMIT 1 AS x INTO t#\n", 10_000), "")

    def test_one_of_a_megabyte(self):
        self.refused("a" * MEGABYTE, "a name has at most 255 bytes")
        self.refused("RULE r MATCH `" + "a" * MEGABYTE + "`", "a name has at most 255 bytes")
        self.refused("RULE r MATCH a[x > $" + "a" * MEGABYTE + "]", "a name has at most 255 bytes")
        self.refused("\u00e9" * (MEGABYTE // 2), "a name has at most 255 bytes")
        self.accepted('RULE r MATCH a[x = "' + "y" * MEGABYTE + '"]')
        self.refused('RULE r MATCH a[x = "' + "y" * MEGABYTE, "this string does not end on its line")
        self.refused(filled('RULE r MATCH a[x = "', "\\q", '"]'), "unknown escape \\q")
        self.accepted("#" + "y" * MEGABYTE)
        self.accepted("#\n" * (MEGABYTE // 2))
        self.accepted("RULE r MATCH a\n" + "  # c\n" * 170_000)
        self.refused(filled("RULE r MATCH a[x IN (", "1,", "1)]"), "IN has at most 100000 values")
        self.accepted("RULE r MATCH a[x = 0." + "1" * MEGABYTE + "]")
        self.refused("RULE r MATCH a[x = " + "1" * MEGABYTE + "]", "this number does not fit 64 bits")
        self.refused('RULE r MATCH a EMIT a.x DO log("' + "{y}" * 300_000 + '")', "y is not")
        self.refused('RULE r MATCH a EMIT a.x DO log("{' + "y" * MEGABYTE + '}")', "y")
        self.accepted('RULE r MATCH a EMIT a.x DO log("' + "{x}" * 300_000 + '")')
        self.refused(" " * (1 << 20) + " ", "this file is too large")

    def test_regular_expressions(self):
        for regex in ("(a?)" * 200_000, "(" * 400_000 + "a" + ")" * 400_000, "((((a{1000}){1000}){1000}){1000})"):
            self.refused(f'RULE r MATCH a[x MATCHES "{regex}"]', "not a regular expression")

    def test_only_signs(self):
        for sign in ("|", "`", ",", "/", "/*", "'", "\u201c", "\0", "- ", "$", "@", ";", "=", ")", "\\"):
            with self.subTest(sign):
                code, _ = self.cepd("check", filled("", sign))
                self.assertEqual(code, 1)
        for blank in ("\n", "\r", " ", "\t"):
            self.accepted(filled("", blank))
        for word in ("RULE ", "THEN ", "WHERE a.x ", "TEST t ", "a THEN ", "NOT "):
            with self.subTest(word):
                code, _ = self.cepd("check", filled("RULE r MATCH a ", word))
                self.assertEqual(code, 1)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
