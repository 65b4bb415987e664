"""The subcommands that need no daemon: check, fmt, test, replay, explain, --help."""

import json
import re

import cepd_e2e
from cepd_e2e import CepdTest

CART = '''
RULE cart_rescue "Payment failed soon after something went into the cart"
  KEY     user_id
  MATCH   cart_add AS cart THEN payment_fail AS fail WITHIN 5m UNLESS payment_ok
  WHERE   fail.amount >= cart.price
  EMIT    user_id, cart.item AS item, fail.amount AS amount
  DO      log("{user_id}")

TEST rescue FOR cart_rescue
  GIVEN  cart_add     @0s {user_id: "u1", item: "lamp", price: 30}
         payment_fail @2m {user_id: "u1", amount: 30}
  EXPECT MATCH {user_id: "u1", amount: 30} @2m
'''

ID = re.compile(r'"match":"[0-9a-f]{32}"')


class Output(CepdTest):
    def test_output_that_cannot_be_written_is_a_failure(self):
        self.rules(CART)
        events = self.events({"type": "cart_add", "ts": 0, "user_id": "u", "price": 1},
                             {"type": "payment_fail", "ts": 1, "user_id": "u", "amount": 2})
        for arguments in (["replay", "--rules", "rules", "--input", events], ["test", "rules"], ["check", "rules"],
                          ["explain", "rules"], ["--help"]):
            with self.subTest(arguments[0]), open("/dev/full", "w") as full:
                done = self.cepd(*arguments, stdout=full)
                self.assertEqual(done.returncode, 1)
                self.assertIn("the output could not be written", done.stderr)

    def test_unknown_command_gets_a_suggestion(self):
        done = self.cepd("chek", "rules")
        self.assertEqual(done.returncode, 2)
        self.assertEqual(done.stderr, "cepd: unknown command chek\n  did you mean check?\n")


class Format(CepdTest):
    ROUGH = "# head\nrule r match a then b # end\n"
    FINE = "# head\nRULE r\n  MATCH   a THEN b  # end\n"

    def test_files_and_directories_are_written_in_place(self):
        self.rules(self.ROUGH, "one.rules")
        self.rules(self.ROUGH, "two.test.rules")
        other = self.write("other.rules", self.ROUGH)
        other.chmod(0o640)
        link = self.directory / "link.rules"
        link.symlink_to("other.rules")
        done = self.cepd("fmt", "rules", link)
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""))
        for name in ("rules/one.rules", "rules/two.test.rules", "other.rules"):
            self.assertEqual((self.directory / name).read_text(), self.FINE)
        self.assertTrue(link.is_symlink())
        self.assertEqual(other.stat().st_mode & 0o777, 0o640)
        self.assertEqual(sorted(f.name for f in (self.directory / "rules").iterdir()), ["one.rules", "two.test.rules"])

    def test_check_writes_nothing_and_lists_what_differs(self):
        rough = self.rules(self.ROUGH, "rough.rules")
        self.rules(self.FINE, "fine.rules")
        done = self.cepd("fmt", "--check", "rules")
        self.assertEqual((done.returncode, done.stdout), (1, "rules/rough.rules\n"))
        self.assertEqual(rough.read_text(), self.ROUGH)
        self.assertEqual(self.cepd("fmt", "--check", "rules/fine.rules").returncode, 0)

    def test_a_file_with_mistakes_is_left_alone_and_the_others_are_written(self):
        bad = self.rules("RULE r MATCH", "bad.rules")
        good = self.rules(self.ROUGH, "good.rules")
        done = self.cepd("fmt", "rules")
        self.assertEqual(done.returncode, 1)
        self.assertIn("rules/bad.rules:1:13: error: expected an event type after MATCH", done.stderr)
        self.assertEqual(bad.read_text(), "RULE r MATCH")
        self.assertEqual(good.read_text(), self.FINE)

    def test_standard_input_goes_to_standard_output(self):
        done = self.cepd("fmt", "-", stdin=self.ROUGH)
        self.assertEqual((done.returncode, done.stdout), (0, self.FINE))
        self.assertEqual(self.cepd("fmt", "--check", "-", stdin=self.ROUGH).returncode, 1)
        self.assertEqual(self.cepd("fmt", "missing.rules").returncode, 1)


class Replay(CepdTest):
    def test_directory_as_input_is_an_error(self):
        self.rules(CART)
        done = self.cepd("replay", "--rules", "rules", "--input", ".")
        self.assertEqual(done.returncode, 1)
        self.assertIn(". is a directory, expected a file of JSON lines", done.stderr)

    def test_field_option_without_a_name_is_wrong_use(self):
        self.rules(CART)
        events = self.events({"type": "cart_add", "ts": 0})
        for option in ("--type-field", "--time-field"):
            for path in ("", "a..b", "a."):
                done = self.cepd("replay", "--rules", "rules", "--input", events, option, path)
                self.assertEqual(done.returncode, 2, (option, path))
                self.assertIn(option + " is a field such as", done.stderr)

    def test_key_minus_zero_is_printed_as_zero(self):
        self.rules("RULE r KEY k MATCH a THEN b WITHIN 1h")
        events = self.events('{"type":"a","ts":0,"k":-0.0}', '{"type":"b","ts":1,"k":0}')
        self.assertIn('"key":{"k":0.0}', self.lines(events)[0])

    def lines(self, events, *arguments, stdin=None):
        """Output lines of a replay with the ids, which are hashes, replaced by `ID`."""
        done = self.cepd("replay", "--rules", "rules", "--input", events, *arguments, stdin=stdin)
        self.assertEqual(done.returncode, 0, done.stderr)
        lines = done.stdout.splitlines()
        for line in lines:
            self.assertRegex(line, r'^\{"match":"[0-9a-f]{32}",')
        return [ID.sub('"match":"ID"', line) for line in lines]

    def test_line_is_that_of_the_language_page(self):
        self.rules(CART)
        events = self.events(
            {"type": "cart_add", "ts": 1700000000000, "user_id": "u1", "item": "lamp", "price": 30},
            {"type": "payment_fail", "ts": 1700000120000, "user_id": "u1", "amount": 30})
        self.assertEqual(self.lines(events), [
            '{"match":"ID","rule":"cart_rescue","kind":"match","key":{"user_id":"u1"},"time":1700000120000,'
            '"first":1700000000000,"last":1700000120000,"events":{"cart":[0],"fail":[1]},'
            '"emit":{"user_id":"u1","item":"lamp","amount":30}}'])

    def test_timeout_suppressed_and_fractions(self):
        self.rules("RULE r KEY k MATCH a THEN b WITHIN 5s LIMIT 1 PER 1h DO log(\"x\") ON TIMEOUT EMIT k, a.v AS v")
        events = self.events(
            {"type": "a", "ts": 1.5, "k": 1, "v": 0.1}, {"type": "b", "ts": 2, "k": 1},
            {"type": "a", "ts": 1000, "k": 1, "v": 2.0}, {"type": "b", "ts": 1000.25, "k": 1},
            {"type": "a", "ts": 2000, "k": "x", "v": 9007199254740993})
        self.assertEqual(self.lines(events), [
            '{"match":"ID","rule":"r","kind":"match","key":{"k":1},"time":2,"first":1.5,"last":2,'
            '"events":{"a":[0],"b":[1]},"emit":{"k":1}}',
            '{"match":"ID","rule":"r","kind":"match","key":{"k":1},"time":1000.25,"first":1000,"last":1000.25,'
            '"events":{"a":[2],"b":[3]},"emit":{"k":1},"suppressed":true}',
            '{"match":"ID","rule":"r","kind":"timeout","key":{"k":"x"},"time":7000,"first":2000,"last":2000,'
            '"events":{"a":[4]},"emit":{"k":"x","v":9007199254740993}}'])

    def test_limit_counts_what_ran_in_the_span_before(self):
        """A match at t runs when fewer than n that ran have a time in (t - d, t]: suppressed ones do not count."""
        self.rules('RULE r KEY k MATCH a LIMIT 1 PER 10s DO log("x")')
        at = ((0, 1), (9999, 1), (10000, 1), (10000, 2), (19999, 1), (20000, 1))
        events = self.events(*({"type": "a", "ts": ts, "k": k} for ts, k in at))
        self.assertEqual([(m["time"], m["key"]["k"]) for m in self.replay(events) if "suppressed" not in m],
                         [(0, 1), (10000, 1), (10000, 2), (20000, 1)])

    def test_no_key_nameless_elements_and_unbound_ones(self):
        self.rules("RULE r MATCH a THEN a THEN b? AS maybe THEN c EMIT count(maybe) AS n")
        events = self.events(*({"type": t, "ts": i} for i, t in enumerate("aac")))
        self.assertEqual(self.lines(events), [
            '{"match":"ID","rule":"r","kind":"match","key":{},"time":2,"first":0,"last":2,'
            '"events":{"a#1":[0],"a#2":[1],"c":[2]},"emit":{"n":0}}'])

    def test_nested_key_and_full_events(self):
        self.rules("RULE r KEY device.id MATCH a NEXT b EMIT device.id AS id, b.tags AS tags")
        first = '{"type":"a","ts":1,"device":{"id":7}}'
        second = '{"ts":2,"type":"b","device":{"id":7},"tags":["x", "y"],"unread":null}'
        events = self.events(first, second)
        self.assertEqual(self.lines(events, "--events", "full"), [
            '{"match":"ID","rule":"r","kind":"match","key":{"device":{"id":7}},"time":2,"first":1,"last":2,'
            f'"events":{{"a":[{first}],"b":[{second}]}},"emit":{{"id":7,"tags":["x","y"]}}}}'])

    def test_ids_are_the_same_in_every_run_and_all_differ(self):
        self.rules("RULE r KEY k MATCH a THEN b AFTER MATCH NO SKIP\nRULE s KEY k MATCH a THEN b AFTER MATCH NO SKIP")
        events = self.events(*({"type": t, "ts": i, "k": i % 2} for i, t in enumerate("aaaabbbb")))
        first = [match["match"] for match in self.replay(events)]
        self.assertEqual(first, [match["match"] for match in self.replay(events)])
        moved = self.write("moved.jsonl", events.read_bytes())
        self.assertEqual(first, [match["match"] for match in self.replay(moved)])
        self.assertEqual(len(first), len(set(first)))
        self.assertEqual(len(first), 8)

    def test_line_numbers_count_blank_and_bad_lines(self):
        self.rules("RULE r MATCH a THEN b")
        events = self.write("events.jsonl", '\n{"type":"a","ts":1}\r\n   \nnot json\n{"ts":2}\n{"type":"b"}\n'
                                            '{"type":"b","ts":3}')
        done = self.cepd("replay", "--rules", "rules", "--input", events)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(json.loads(done.stdout)["events"], {"a": [1], "b": [6]})
        # People count lines from 1.
        for line, reason in ((4, "not_json"), (5, "no_type"), (6, "no_time")):
            self.assertIn(f"{events}:{line}: {reason}: ", done.stderr)
        self.assertIn("2 events, 3 bad lines", done.stderr)

        strict = self.cepd("replay", "--strict", "--rules", "rules", "--input", events)
        self.assertEqual(strict.returncode, 3)
        self.assertEqual(strict.stdout, done.stdout)
        good = self.write("good.jsonl", '{"type":"a","ts":1}\n')
        self.assertEqual(self.cepd("replay", "--strict", "--rules", "rules", "--input", good).returncode, 0)

    def test_many_bad_lines_do_not_fill_the_screen(self):
        self.rules("RULE r MATCH a THEN b")
        done = self.cepd("replay", "--rules", "rules", "--input", "-", stdin="x\n" * 1000)
        self.assertEqual(done.returncode, 0)
        self.assertIn("1000 bad lines", done.stderr)
        self.assertLess(len(done.stderr.splitlines()), 30)

    def test_order_is_kept_by_max_delay_and_by_sort(self):
        self.rules("RULE r MATCH a NEXT b")
        events = self.events({"type": "b", "ts": 2000}, {"type": "a", "ts": 1000}, {"type": "c", "ts": 10000})
        late = self.cepd("replay", "--rules", "rules", "--input", events)
        self.assertEqual(late.stdout, "")
        self.assertIn("2 events, 1 late", late.stderr)
        for arguments in (("--max-delay", "1s"), ("--sort",)):
            with self.subTest(arguments):
                self.assertEqual([m["events"] for m in self.replay(events, *arguments)], [{"a": [1], "b": [0]}])
        self.assertEqual(self.replay(events, "--max-delay", "999ms"), [])

    def test_times_in_any_unit_and_rfc3339(self):
        self.rules("RULE r MATCH a")
        for unit, number in (("s", 1700000000.25), ("ms", 1700000000250), ("us", 1700000000250000),
                             ("ns", 1700000000250000999)):
            with self.subTest(unit):
                events = self.events({"type": "a", "ts": number}, name=f"{unit}.jsonl")
                self.assertEqual(self.replay(events, "--time-unit", unit)[0]["time"], 1700000000250)
        events = self.events({"type": "a", "ts": "2023-11-14T23:13:20.2500019+01:00"}, name="rfc.jsonl")
        self.assertEqual(self.replay(events, "--time-unit", "ns")[0]["time"], 1700000000250.001)

    def test_fields_of_type_and_time_can_be_named(self):
        self.rules("RULE r MATCH a")
        events = self.events({"meta": {"kind": "a"}, "at": 5})
        self.assertEqual(self.replay(events, "--type-field", "meta.kind", "--time-field", "at")[0]["time"], 5)

    def test_state_ttl_ends_what_has_no_bound(self):
        self.rules("RULE r MATCH a THEN b")
        events = self.events({"type": "a", "ts": 0}, {"type": "b", "ts": 5001})
        self.assertEqual(len(self.replay(events)), 1)
        self.assertEqual(self.replay(events, "--state-ttl", "5s"), [])

    def test_summary_on_standard_error(self):
        self.rules("RULE dropped_by KEY k MATCH a THEN b+ AS b WITHIN 10s HAVING last(b.v) > 1\n"
                   "RULE plain KEY k MATCH a THEN b WITHIN 1s ON TIMEOUT EMIT k")
        events = self.events({"type": "a", "ts": 0, "k": 1}, {"type": "b", "ts": 10, "k": 1, "v": 1},
                             {"type": "b", "ts": 20, "k": 1, "v": 2}, {"type": "a", "ts": 30, "k": 1},
                             {"type": "b", "ts": 5, "k": 1})
        done = self.cepd("replay", "--rules", "rules", "--input", events)
        self.assertEqual(done.returncode, 0, done.stderr)
        table = [line.split() for line in done.stderr.splitlines()]
        self.assertIn(["rule", "matches", "timeouts", "by", "HAVING", "by", "policy", "by", "LIMIT", "late"], table)
        self.assertIn(["plain", "1", "1", "0", "0", "0", "1"], table)
        self.assertIn(["dropped_by", "1", "0", "1", "0", "0", "1"], table)

    def test_wrong_use_is_2_and_what_is_missing_is_1(self):
        self.rules("RULE r MATCH a")
        events = self.events({"type": "a", "ts": 0})
        base = ("replay", "--rules", "rules", "--input", events)
        for arguments in ((*base, "--time-unit", "weeks"), (*base, "--max-delay", "5"), (*base, "--state-ttl", "x"),
                          (*base, "--events", "some"), (*base, "--nonsense"), ("replay", "--rules", "rules"),
                          ("nonsense",), (), ("check",)):
            with self.subTest(arguments):
                done = self.cepd(*arguments)
                self.assertEqual(done.returncode, 2, done.stderr)
                self.assertNotEqual(done.stderr, "")
                self.assertEqual(done.stdout, "")
        for arguments in (("replay", "--rules", "rules", "--input", "absent.jsonl"),
                          ("replay", "--rules", "absent.rules", "--input", events)):
            with self.subTest(arguments):
                done = self.cepd(*arguments)
                self.assertEqual(done.returncode, 1)
                self.assertIn("absent", done.stderr)


class RuleCommands(CepdTest):
    def test_check_counts_what_it_read(self):
        self.rules(CART)
        self.rules("RULE quiet SHADOW MATCH a WITHIN 1s\nRULE off DISABLED MATCH a WITHIN 1s", name="more.rules")
        done = self.cepd("check", "rules")
        self.assertEqual((done.returncode, done.stdout, done.stderr),
                         (0, "rules: 1 rules, 1 shadow, 1 disabled, 1 tests: good\n", ""))

    def test_check_reports_every_mistake_with_its_place(self):
        self.rules("RULE one MATCH a THEN b WITHIN soon\n", name="one.rules")
        self.rules("# a comment\nRULE two MATCH a THEN b\n  WITHIN 1h 30m\n", name="two.rules")
        done = self.cepd("check", "rules")
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stderr, r"(?m)^rules/one\.rules:1:32: error: ")
        self.assertRegex(done.stderr, r"(?m)^rules/two\.rules:3:\d+: error: ")
        self.assertRegex(done.stderr, r"(?m)^ +\^")
        self.assertEqual(done.stdout, "")

    def test_check_suggests_near_names(self):
        self.rules("EVENT cart_add (user string)\nRULE r KEY user MATCH cart_ad WITHIN 1s DO discnt(user: user)")
        done = self.cepd("check", "rules")
        self.assertEqual(done.returncode, 1)
        self.assertIn("did you mean cart_add?", done.stderr)

    def test_check_warns_and_passes(self):
        self.rules("RULE forever KEY k MATCH a THEN b")
        done = self.cepd("check", "rules")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stderr, r"rules/test\.rules:1:\d+: warning: ")

    def test_test_command_passes_and_fails(self):
        self.rules(CART)
        done = self.cepd("test", "rules")
        self.assertEqual((done.returncode, done.stdout),
                         (0, "pass rescue (cart_rescue, rules/test.rules:9)\n1 passed, 0 failed\n"))
        self.rules('TEST wrong FOR cart_rescue\n  GIVEN  cart_add @0s {user_id: "u1", item: "lamp", price: 30}\n'
                   '  EXPECT MATCH {user_id: "u1"}\n', name="wrong.test.rules")
        done = self.cepd("test", "rules")
        self.assertEqual(done.returncode, 1)
        self.assertIn("FAIL wrong (cart_rescue, rules/wrong.test.rules:1)", done.stdout)
        self.assertIn("cart (cart_add): cart_add @0s  {price: 30}\n    it waited for fail (payment_fail), until @5m\n",
                      done.stdout)
        self.assertIn("1 passed, 1 failed", done.stdout)

    def test_explain_shows_states_and_policy(self):
        self.rules(CART)
        done = self.cepd("explain", "rules")
        self.assertEqual(done.returncode, 0, done.stderr)
        for part in ("rule cart_rescue  (rules/test.rules)", "key           user_id",
                     "bound         5m from first to last event", "after match   CONSUME",
                     "start      take cart_add AS cart -> 1", "then take payment_fail AS fail -> 2"):
            self.assertIn(part, done.stdout)
        self.assertEqual(self.cepd("explain", "rules", "cart_rescue").stdout, done.stdout)

        wrong = self.cepd("explain", "rules", "cart_resque")
        self.assertEqual(wrong.returncode, 1)
        self.assertIn("did you mean cart_rescue?", wrong.stderr)

    def test_explain_dot_is_one_graph_a_rule(self):
        self.rules("RULE r MATCH a THEN NOT c THEN b{2,} AS b THEN d WITHIN 1m")
        done = self.cepd("explain", "rules", "--dot")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stdout, r'\Adigraph "r" \{\n')
        self.assertTrue(done.stdout.endswith("}\n"))
        for edge in ("start -> s1", "s1 -> s2", "s2 -> s2", "s2 -> s3"):
            self.assertIn(edge, done.stdout)
        self.assertEqual(done.stdout.count("peripheries=2"), 1)

    def test_bare_file_is_a_rule_named_after_it(self):
        path = self.write("cart.rules", "cart_add THEN payment_fail WITHIN 5m\n")
        events = self.events({"type": "cart_add", "ts": 0}, {"type": "payment_fail", "ts": 300000})
        self.assertEqual([(m["rule"], m["key"]) for m in self.replay(events, rules=path)], [("cart", {})])


class Help(CepdTest):
    def test_help_fits_a_screen(self):
        done = self.cepd("--help")
        self.assertEqual(done.returncode, 0)
        lines = done.stdout.rstrip("\n").split("\n")
        self.assertLessEqual(len(lines), 24, done.stdout)
        self.assertLessEqual(max(map(len, lines)), 100, done.stdout)
        for command in ("check", "test", "replay", "why", "explain", "run", "reload"):
            self.assertIn(command, done.stdout)

    def test_every_command_has_help(self):
        for command in ("check", "test", "replay", "why", "explain", "run", "reload"):
            with self.subTest(command):
                done = self.cepd(command, "--help")
                self.assertEqual(done.returncode, 0)
                self.assertIn("--help", done.stdout)

    def test_version(self):
        done = self.cepd("--version")
        self.assertEqual(done.returncode, 0)
        self.assertRegex(done.stdout, r"\Acepd \d+\.\d+\.\d+\n\Z")

    def test_configuration_reference_names_every_section(self):
        done = self.cepd("check", "--config-reference")
        self.assertEqual(done.returncode, 0)
        for word in ("rules", "directory", "max_partial_matches", "queue_messages", "require_tests", "mqtt", "webhook"):
            self.assertIn(word, done.stdout)


if __name__ == "__main__":
    cepd_e2e.main()
