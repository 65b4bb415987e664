"""Why a rule did not fire: `cepd why`, reasons of failing tests, and back-tests with `cepd replay --against`."""

import json
import re

import cepd_e2e
from cepd_e2e import CepdTest

CART = '''
RULE cart_rescue
  KEY     user_id
  MATCH   cart_add AS cart THEN payment_fail AS fail WITHIN 5m UNLESS payment_ok
  WHERE   fail.amount >= cart.price
'''


TIME = re.compile(r"1970-01-01T([0-9:.]+)Z")


def event(kind, seconds, **fields):
    return {"type": kind, "ts": seconds * 1000, **fields}


class WhyTest(CepdTest):
    def run_why(self, rule, events, *arguments, name="r"):
        self.rules(rule)
        self.write("events.jsonl", b"")
        path = self.events(*events)
        return self.cepd("why", name, *arguments, "--rules", "rules", "--input", path)

    def why(self, rule, events, *arguments, name="r"):
        """What it says; times without their date, to be read here."""
        done = self.run_why(rule, events, *arguments, name=name)
        self.assertEqual(done.returncode, 0, done.stderr)
        return TIME.sub(r"\1", done.stdout)


class Reasons(WhyTest):
    def test_condition_that_failed_with_its_values(self):
        said = self.why(CART, [event("cart_add", 0, user_id="u1", price=30),
                               event("payment_fail", 1, user_id="u1", amount=20),
                               event("payment_fail", 2, user_id="u2", amount=99)], "u1", name="cart_rescue")
        self.assertEqual(said, (
            'cart_rescue, user_id = "u1": no match\n'
            'the furthest partial match:\n'
            '  cart (cart_add): line 1 (00:00:00)  {price: 30}\n'
            'it waited for fail (payment_fail)\n'
            '  line 2 (00:00:01): payment_fail[amount >= cart.price]: amount = 20, cart.price = 30\n'
            'expired: its time was up after 00:05:00, WITHIN 5m of its first event\n'))

    def test_only_the_parts_that_fail_are_said(self):
        said = self.why("RULE r MATCH a THEN b[x > 1 AND (y = 'on' OR NOT ok)] WITHIN 5s",
                        [event("a", 0), event("b", 1, x=2, y="off", ok=True)])
        self.assertIn('b[y = "on" OR NOT ok]: y = "off", ok = true\n', said)
        self.assertNotIn("x > 1", said)

    def test_null_and_unlike_kinds(self):
        said = self.why("RULE r MATCH a THEN b[x > 1] WITHIN 5s",
                        [event("a", 0), event("b", 1), event("b", 2, x="3")])
        self.assertIn("line 2 (00:00:01): b[x > 1]: x = null\n", said)
        self.assertIn('line 3 (00:00:02): b[x > 1]: x = "3", string and int do not compare\n', said)

    def test_aggregate_over_a_repeat_and_the_event_that_the_repeat_took_instead(self):
        events = [event("lat", i, ms=10 + i) for i in range(4)] + [event("lat", 4, ms=20)]
        said = self.why("RULE r MATCH lat{4,} AS b THEN lat[ms > 3 * avg(b.ms)] WITHIN 1h", events)
        self.assertIn("line 5 (00:00:04): lat[ms > 3 * avg(b.ms)]: ms = 20, 3 * avg(b.ms) = 34.5\n", said)
        self.assertEqual(said.count("b (lat): line"), 5)

    def test_the_nearest_events_are_shown_and_the_rest_counted(self):
        events = [event("a", 0)] + [event("b", i, x=0, y=0) for i in range(1, 30)] + [event("b", 30, x=2, y=0)]
        said = self.why("RULE r MATCH a THEN b[x > 1 AND y > 1] WITHIN 1h", events)
        self.assertIn("line 31 (00:00:30): b[y > 1]: y = 0\n", said)
        self.assertIn("and 27 further events that did not fit\n", said)

    def test_condition_over_members_of_an_and(self):
        said = self.why("RULE r MATCH a THEN (b AND c) WITHIN 9s WHERE b.v = c.v",
                        [event("a", 0), event("b", 1, v=3), event("c", 2, v=4)])
        self.assertIn("  b: line 2 (00:00:01)  {v: 3}\nit waited for c\n", said)
        self.assertIn("line 3 (00:00:02): c[b.v = v]: b.v = 3, v = 4\n", said)

    def test_not_unless_next_until(self):
        for rule, events, reason in (
                ("a THEN NOT x THEN b WITHIN 9s", "axb", "NOT x: broken by line 2 (00:00:01)\n"),
                ("a NEXT NOT x THEN b WITHIN 9s", "axb", "NOT x: broken by line 2 (00:00:01)\n"),
                ("a THEN NOT x WITHIN 9s", "ax", "it waited for no x to come\nNOT x: broken by line 2 (00:00:01)\n"),
                ("a THEN b WITHIN 9s UNLESS x", "axb", "UNLESS x: broken by line 2 (00:00:01)\n"),
                ("a NEXT b WITHIN 9s UNLESS c", "ab", "every partial match that was begun became a match\n"),
                ("a NEXT b THEN x? WITHIN 9s", "ax", "NEXT b: the very next event was line 2 (00:00:01)\n"),
                ("a THEN b{2} CONSECUTIVE THEN x WITHIN 9s", "abxb",
                 "CONSECUTIVE b: the very next event was line 3 (00:00:02)\n"),
                ("a THEN b{3} UNTIL x THEN c WITHIN 9s", "abbxbc",
                 "it waited for 1 more b\nUNTIL x: line 4 (00:00:03) ended the repeat\n")):
            with self.subTest(rule):
                said = self.why(f"RULE r MATCH {rule}", [event(kind, i) for i, kind in enumerate(events)])
                self.assertTrue(said.endswith(reason), said)

    def test_until_before_the_repeat_is_not_blamed(self):
        said = self.why("RULE r MATCH a THEN b{2} UNTIL x THEN c WITHIN 9s",
                        [event(kind, i) for i, kind in enumerate("axc")])
        self.assertNotIn("UNTIL", said)
        self.assertIn("it waited for b", said)

    def test_bounds(self):
        for rule, events, reason in (
                ("a THEN b WITHIN 5s", [("a", 0), ("b", 6)],
                 "expired: its time was up after 00:00:05, WITHIN 5s of its first event\n"),
                ("a THEN c THEN WITHIN 5s b", [("a", 0), ("c", 3), ("b", 9)],
                 "expired: its time was up after 00:00:08, THEN WITHIN 5s b after the event before it\n"),
                ("x THEN (a THEN b WITHIN 2s) THEN c WITHIN 1m", [("x", 0), ("a", 3), ("b", 6), ("c", 7)],
                 "expired: its time was up after 00:00:05, WITHIN 2s of its group, which began at 00:00:03\n"),
                ("a THEN AFTER 5s b WITHIN 9s", [("a", 0), ("b", 3)],
                 "line 2 (00:00:03): b came 3s after the event before it, AFTER 5s is not kept\n"
                 "expired: its time was up after 00:00:09, WITHIN 9s of its first event\n"),
                ("a THEN (b OR (c THEN d)) WITHIN 9s",
                 [("a", 0), ("c", 3)], "it waited for d\n"
                 "expired: its time was up after 00:00:09, WITHIN 9s of its first event\n")):
            with self.subTest(rule):
                said = self.why(f"RULE r MATCH {rule}", [event(kind, seconds) for kind, seconds in events])
                self.assertTrue(said.endswith(reason), said)

    def test_an_event_over_one_links_bound_while_another_way_is_open(self):
        said = self.why("RULE r MATCH a THEN WITHIN 2s c? THEN b WITHIN 9s", [event("a", 0), event("c", 3)])
        self.assertIn("line 2 (00:00:03): c came 3s after the event before it, THEN WITHIN 2s is not kept\n", said)

    def test_state_ttl(self):
        said = self.why("RULE r MATCH a THEN b", [event("a", 0), event("b", 8)], "-", "--state-ttl", "5s")
        self.assertIn("expired: the state TTL was up after 00:00:05 (the rule has no WITHIN)\n", said)

    def test_after_match_names_the_match_that_took_the_events(self):
        said = self.why("RULE r MATCH a THEN b WITHIN 9s", [event("a", 0), event("a", 1), event("b", 2)])
        match = said.splitlines()[1].split()[1]  # match ID at ...
        self.assertIn(f"match {match} at 00:00:02: line 1 (00:00:00), line 3 (00:00:02)\n", said)
        self.assertIn("a complete match that was not taken:\n  a: line 2 (00:00:01)\n  b: line 3 (00:00:02)\n"
                      "dropped by AFTER MATCH CONSUME (the default: no event counts twice): "
                      f"the match {match} was taken\n", said)

    def test_after_match_drops_a_partial_match(self):
        said = self.why("RULE r MATCH a THEN b THEN c WITHIN 9s AFTER MATCH SKIP PAST LAST",
                        [event(kind, i) for i, kind in enumerate("abac")])
        self.assertRegex(said, r"  a: line 3 \(00:00:02\)\nit waited for b\n"
                               r"dropped by AFTER MATCH SKIP PAST LAST: the match \w{32} was taken\n")

    def test_having(self):
        said = self.why("RULE r MATCH a THEN b AS b WITHIN 9s HAVING b.v > 2 AND b.w = 1",
                        [event("a", 0), event("b", 1, v=2, w=1)])
        self.assertTrue(said.endswith("  b: line 2 (00:00:01)  {v: 2, w: 1}\n"
                                      "complete, but dropped by HAVING [b.v > 2]: b.v = 2\n"), said)

    def test_limit(self):
        said = self.why("RULE r MATCH a THEN b WITHIN 9s LIMIT 1 PER 1h",
                        [event(kind, i) for i, kind in enumerate("abab")])
        self.assertIn("r: 2 matches\n", said)
        self.assertTrue(said.endswith("  suppressed by LIMIT 1 PER 1h: its actions did not run\n"
                                      "every partial match that was begun became a match\n"), said)

    def test_late_bad_and_keyless_events(self):
        done = self.run_why(CART, [event("cart_add", 10, user_id="u1", price=1),
                                   event("payment_fail", 3, user_id="u1", amount=2),
                                   event("payment_fail", 3, user_id="u2", amount=2),
                                   event("payment_fail", 11, amount=2), "no json"], "u1", name="cart_rescue")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("1 event of the key came too late and had no part in it (--max-delay or --sort takes such):\n"
                      "  line 2 (1970-01-01T00:00:03Z): 7s behind what had come before\n", done.stdout)
        self.assertIn("1 event that the rule names had no user_id, so no key: line 4 (1970-01-01T00:00:11Z)\n",
                      done.stdout)
        self.assertIn("1 line of the input is no event (said above)\n", done.stdout)
        self.assertIn("events.jsonl:5: not_json", done.stderr)

    def test_from_leaves_events_out(self):
        said = self.why("RULE r FROM a[v > 1], b KEY k MATCH a THEN b WITHIN 9s",
                        [event("a", 0, k=1, v=0), event("b", 1, k=1)], "1")
        self.assertIn("no event of the first element: a match begins with a, and none came; there were 1 b\n", said)
        self.assertIn("FROM left out 1 event of the key: line 1 (00:00:00)\n"
                      "  line 1 (00:00:00): a[v > 1]: v = 0\n", said)

    def test_nothing_to_begin_with(self):
        said = self.why("RULE r MATCH a THEN b WITHIN 9s", [event("b", 0)])
        self.assertTrue(said.endswith("a match begins with a, and none came; there were 1 b\n"), said)
        said = self.why("RULE r MATCH a[v > 3] THEN b WITHIN 9s",
                        [event("a", 0, v=1), event("a", 1, v=2), event("b", 2)])
        self.assertTrue(said.endswith("no partial match was begun: the first element's condition did not hold\n"
                                      "  line 1 (00:00:00): a[v > 3]: v = 1\n"
                                      "  line 2 (00:00:01): a[v > 3]: v = 2\n"), said)

    def test_timed_out_with_report(self):
        said = self.why("RULE r MATCH a THEN b WITHIN 9s ON TIMEOUT DO log('x')", [event("a", 0)])
        self.assertIn("r: no match, 1 time-out\n", said)
        self.assertRegex(said, r"timeout \w{32} at 00:00:09: line 1")
        self.assertTrue(said.endswith("WITHIN 9s of its first event\n"), said)

    def test_derived_events(self):
        said = self.why("RULE two MATCH a{2} AS a WITHIN 9s EMIT count(a) AS n INTO pair\n"
                        "RULE r MATCH pair[n > 2] WITHIN 9s", [event("a", 0), event("a", 1)])
        self.assertRegex(said, r"the event that match \w{32} made \(00:00:01\): pair\[n > 2\]: n = 2\n")


class Questions(WhyTest):
    EVENTS = [event("cart_add", 0, user_id="u1", price=30), event("payment_fail", 10, user_id="u1", amount=20),
              event("cart_add", 400, user_id="u1", price=50), event("payment_fail", 410, user_id="u1", amount=49)]

    def test_time(self):
        for time, expected in (("10000", "cart (cart_add): line 1 (00:00:00)"),
                               ("1970-01-01T00:00:11Z", "it still waits\n"),
                               ("350000", "no partial match was under way then; of those before, the furthest"),
                               ("410000", "cart (cart_add): line 3 (00:06:40)"),
                               ("405000", "it waited for fail (payment_fail), until 00:11:40\nit still waits\n")):
            with self.subTest(time):
                self.assertIn(expected, self.why(CART, self.EVENTS, "u1", time, name="cart_rescue"))

    def test_time_that_is_none(self):
        done = self.run_why(CART, self.EVENTS, "u1", "yesterday", name="cart_rescue")
        self.assertEqual((done.returncode, done.stderr),
                         (2, "cepd why: TIME is like 2026-01-05T22:00:00Z or a number as in the input\n"))

    def test_ways_to_write_a_key(self):
        rule = "RULE r KEY a, b.c MATCH x THEN y WITHIN 9s"
        events = [event("x", 0, a=1, b={"c": "q,r"}), event("x", 0, a="1", b={"c": "s"})]
        for key, words in (('1,"q,r"', 'a = 1, b.c = "q,r"'), ('b.c="q,r",a=1', 'a = 1, b.c = "q,r"'),
                           ('a="1",b.c=s', 'a = "1", b.c = "s"'), ("1,s", 'a = "1", b.c = "s"')):
            with self.subTest(key):
                self.assertIn(f"r, {words}: no match\n", self.why(rule, events, key))
        said = self.why("RULE r KEY k MATCH a[v = 1] WITHIN 1s", [event("a", 0, k=1.0)], "k=1")
        self.assertIn("r, k = 1.0: no match", said)

    def test_keys_that_cannot_be(self):
        two = "RULE r KEY a, b MATCH x THEN y WITHIN 9s"
        one = "RULE r KEY user_id MATCH x THEN y WITHIN 9s"
        none = "RULE r MATCH x THEN y WITHIN 9s"
        events = [event("x", 0, a=1, b=2, user_id="anna"), event("x", 0, a=1, b=3, user_id="berta")]
        for rule, key, said in ((two, "1", "the key of r has 2 fields: a=…,b=…"),
                                (two, "a=1,c=2", "c is no key field of r: "),
                                (two, "a=1,a=2", "two values for a"),
                                (one, "usr_id=anna", "usr_id is no key field of r: did you mean user_id?"),
                                (one, "ana", 'no event of the types that r names has user_id = ana\n'
                                             '  did you mean anna? there are: anna  berta\n'),
                                (none, "anna", "the rule r has no KEY: write - in its place")):
            with self.subTest(key):
                done = self.run_why(rule, events, key)
                self.assertEqual(done.returncode, 2)
                self.assertIn("cepd why: " + said, done.stderr)
        done = self.run_why(one, events)
        self.assertEqual((done.returncode, done.stderr), (2, "cepd why: name the key: user_id=…\n"))

    def test_misspelt_and_disabled_rules(self):
        done = self.run_why(CART, self.EVENTS, "u1", name="cart_resque")
        self.assertEqual(done.returncode, 2)
        self.assertEqual(done.stderr, "cepd why: no rule cart_resque in rules\n  did you mean cart_rescue?\n")
        said = self.why(CART.replace("cart_rescue", "cart_rescue DISABLED"), self.EVENTS, "u1", name="cart_rescue")
        self.assertEqual(said, "the rule cart_rescue is DISABLED: it is checked and not loaded\n")

    def test_input_options_are_those_of_replay(self):
        self.rules("RULE r MATCH a THEN b[v > 1] WITHIN 9s")
        path = self.events({"kind": "b", "at": 2, "v": 0}, {"kind": "a", "at": 1})
        done = self.cepd("why", "r", "-", "2", "--rules", "rules", "--input", path, "--type-field", "kind",
                         "--time-field", "at", "--time-unit", "s", "--sort")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("line 1 (1970-01-01T00:00:02Z): b[v > 1]: v = 0\n", done.stdout)
        wrong = self.cepd("why", "r", "--rules", "rules", "--input", path, "--max-delay", "long")
        self.assertEqual((wrong.returncode, wrong.stderr),
                         (2, "cepd why: --max-delay is a duration such as 5s or 1m30s\n"))


class FailingTests(WhyTest):
    def report(self, rules):
        self.rules(rules)
        done = self.cepd("test", "rules")
        self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
        return done.stdout

    def test_a_missing_match_is_explained(self):
        said = self.report(CART + '''
TEST t FOR cart_rescue
  GIVEN  cart_add     @0s {user_id: "u1", price: 30}
         payment_fail @2m {user_id: "u1", amount: 29}
  EXPECT MATCH {user_id: "u1"} @2m
''')
        self.assertIn('    MATCH {user_id: "u1"} @2m | nothing\n'
                      '    the furthest partial match:\n'
                      '      cart (cart_add): cart_add @0s  {price: 30}\n'
                      '    it waited for fail (payment_fail), until @5m\n'
                      '      payment_fail @2m: payment_fail[amount >= cart.price]: amount = 29, cart.price = 30\n'
                      '    it still waits\n', said)

    def test_each_stage_has_its_own_reasons(self):
        said = self.report('''
RULE r MATCH a THEN b[v > 1] WITHIN 9s
TEST t FOR r
  GIVEN  a @0s {}
         b @1s {v: 0}
         WATERMARK @20s
  EXPECT NOTHING
  GIVEN  b @30s {v: 5}
  EXPECT MATCH {}
''')
        self.assertIn("    no event of the first element: a match begins with a, and none came; there were 1 b\n", said)
        self.assertNotIn("b[v > 1]", said)

    def test_a_match_too_many_needs_no_reason(self):
        said = self.report('''
RULE r MATCH a THEN b WITHIN 9s
TEST t FOR r
  GIVEN  a @0s {}
         a @1s {}
         b @1s {}
  EXPECT NOTHING
''')
        self.assertIn("    NOTHING  | MATCH {} @1s\n", said)
        self.assertNotIn("match that was not taken", said)


class BackTest(CepdTest):
    def setUp(self):
        super().setUp()
        self.write("old.rules", "RULE kept KEY k MATCH a AS x THEN b[v > 5] WITHIN 9s\n"
                                "RULE gone MATCH a THEN a WITHIN 9s\n")
        self.write("new.rules", "RULE kept KEY k MATCH a THEN b[v > 3] AS late WITHIN 3s\nRULE more MATCH b\n")
        self.path = self.events(event("a", 0, k=1), event("b", 1, k=1, v=4), event("a", 10, k=1),
                                event("b", 11, k=1, v=6), event("a", 20, k=1), event("b", 24, k=1, v=9))

    def back_test(self, *arguments, new="new.rules", old="old.rules", stdin=None, path=None):
        return self.cepd("replay", "--rules", new, "--against", old, "--input", path or self.path, *arguments,
                         stdin=stdin)

    def test_only_what_changed_is_printed(self):
        done = self.back_test()
        self.assertEqual(done.returncode, 0, done.stderr)
        lines = [json.loads(line) for line in done.stdout.splitlines()]
        self.assertEqual([(each["change"], each["rule"], each["time"], each["events"]) for each in lines], [
            ("+", "kept", 1000, {"a": [0], "late": [1]}),
            ("+", "more", 1000, {"b": [1]}),
            ("+", "more", 11000, {"b": [3]}),
            ("+", "more", 24000, {"b": [5]}),
            ("-", "kept", 24000, {"x": [4], "b": [5]})])
        for line in done.stdout.splitlines():
            self.assertRegex(line, r'^\{"change":"[+-]","match":"\w{32}","rule":"')
        table = [line.split() for line in done.stderr.splitlines()]
        self.assertIn(["kept", "2", "->", "2", "0", "->", "0", "0", "->", "0", "1", "1"], table)
        self.assertIn(["gone", "0", "->", "-", "0", "->", "-", "0", "->", "-", "0", "0", "removed"], table)
        self.assertIn(["more", "-", "->", "3", "-", "->", "0", "-", "->", "0", "3", "0", "added"], table)

    def test_same_rules_print_nothing(self):
        done = self.back_test("--fail-on-change", new="old.rules")
        self.assertEqual((done.returncode, done.stdout), (0, ""))

    def test_change_can_fail(self):
        self.assertEqual(self.back_test("--fail-on-change").returncode, 1)

    def test_standard_input_and_sort(self):
        text = "".join(reversed(self.path.read_text().splitlines(keepends=True)))
        sort = self.back_test("--sort", path="-", stdin=text)
        self.assertEqual(sort.returncode, 0, sort.stderr)
        changes = [(each["change"], each["rule"], each["time"]) for each in map(json.loads, sort.stdout.splitlines())]
        plain = [(each["change"], each["rule"], each["time"])
                 for each in map(json.loads, self.back_test().stdout.splitlines())]
        self.assertEqual(changes, plain)

    def test_wrong_use(self):
        alone = self.cepd("replay", "--rules", "new.rules", "--input", self.path, "--fail-on-change")
        self.assertEqual(alone.returncode, 2)
        self.assertEqual(self.back_test(old="absent.rules").returncode, 1)


if __name__ == "__main__":
    cepd_e2e.main()
