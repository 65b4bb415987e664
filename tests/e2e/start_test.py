"""Starts that cannot work end at once with exit code 1 and say what is to be mended."""

import cepd_e2e
from cepd_e2e import CepdTest


class StartErrors(CepdTest):
    def setUp(self):
        super().setUp()
        self.rules("RULE r MATCH a WITHIN 1h")
        self.events()

    def refused(self, expected, check_too=False):
        """A start fails with the regular expression `expected` in its log; `cepd check --config` as well?"""
        daemon = self.run_daemon(ready=False)
        self.assertEqual(daemon.wait_end(), 1, daemon.log())
        self.assertRegex(daemon.log(), expected)
        checked = self.cepd("check", "--config", self.config_file)
        self.assertEqual(checked.returncode, 1 if check_too else 0, checked.stderr)
        if check_too:
            self.assertRegex(checked.stderr, expected)
        return daemon.log()

    def yaml(self, text):
        self.config_file.write_text(text, encoding="utf-8")

    def test_state_directory_that_cannot_be_made(self):
        self.write("plain", "a file")
        self.configure(sources={"input": self.follow()}, state={"directory": "plain/state"})
        self.refused(r"cannot start: .*plain/state.*Not a directory")

    def test_run_directory_that_cannot_be_made(self):
        self.write("plain", "a file")
        self.configure(sources={"input": self.follow()}, daemon={"run_directory": "plain/run"})
        self.refused(r"cannot start: .*plain/run.*Not a directory")

    def test_dead_letter_file_that_cannot_be_written(self):
        self.configure(sources={"input": self.follow()}, daemon={"dead_letter": "absent/dead.jsonl"})
        self.refused(r"cannot start: .*absent/dead\.jsonl.*No such file")

    def test_run_directory_of_another_cepd(self):
        self.configure(sources={"input": self.follow()})
        first = self.run_daemon()
        self.configure(sources={"input": self.follow()}, state={"directory": "other_state"})
        self.refused(rf"cannot start: another cepd \(process {first.pid}\) runs with \S*/run")
        self.assertEqual(first.end(), 0)

    def test_state_directory_of_another_cepd(self):
        self.configure(sources={"input": self.follow()})
        first = self.run_daemon()
        self.configure(sources={"input": self.follow()}, daemon={"run_directory": "other_run"})
        self.refused(rf"cannot start: .*state directory \S*/state is in use by process {first.pid}")
        self.assertEqual(first.end(), 0)

    def test_killed_cepd_leaves_no_lock(self):
        self.configure(sources={"input": self.follow()})
        first = self.run_daemon()
        first.process.kill()
        first.wait_end()
        self.assertEqual(self.run_daemon().end(), 0)

    def test_unknown_keys_have_their_line_and_a_suggestion(self):
        self.yaml("rules:\n  directory: rules\nstate:\n  directry: state\ndaemn:\n  run_directory: run\n"
                  "sources:\n  input:\n    type: file\n    path: events.jsonl\n    follw: true\n")
        log = self.refused(r"cepd\.yaml:4:3: error: ", check_too=True)
        self.assertIn("did you mean directory?", log)
        self.assertRegex(log, r"cepd\.yaml:5:1: error: ")
        self.assertIn("did you mean daemon?", log)
        self.yaml("rules:\n  directory: rules\nstate:\n  directory: state\ndaemon:\n  run_directory: run\n"
                  "sources:\n  input:\n    type: file\n    path: events.jsonl\n    follw: true\n")
        log = self.refused(r"cepd\.yaml:11:5: error: ", check_too=True)
        self.assertIn("did you mean follow?", log)

    def test_values_that_cannot_be(self):
        for section, option, value in (("state", "interval", "soon"), ("daemon", "queue_messages", 0),
                                       ("state", "backend", "lmbd"), ("reload", "require_tests", "perhaps"),
                                       ("daemon", "log_level", "loud"), ("engine", "max_partial_matches", -1)):
            with self.subTest(option):
                self.configure(sources={"input": self.follow()}, **{section: {option: value}})
                self.refused(r"cepd\.yaml:\d+:\d+: error: .*" + option, check_too=True)

    def test_no_yaml_and_no_file(self):
        self.yaml("rules: [1\n")
        self.refused(r"cepd\.yaml:\d+:\d+: error: ", check_too=True)
        self.config_file.unlink()
        self.refused(r"cepd\.yaml.*No such file", check_too=True)

    def test_no_source(self):
        self.configure()
        self.refused("names no source")

    def test_unknown_source_type(self):
        self.configure(sources={"input": {"type": "mqt"}})
        log = self.refused(r"cepd\.yaml:\d+:\d+: error: ", check_too=True)
        self.assertIn("did you mean mqtt?", log)

    def test_source_that_can_never_start(self):
        self.configure(sources={"input": self.follow(".")})  # a directory
        self.refused(r"source input: ")

    def test_unknown_action_in_rule_and_in_configuration(self):
        self.rules("RULE r MATCH a WITHIN 1h DO webhok(url: \"http://x\")")
        self.configure(sources={"input": self.follow()})
        log = self.refused(r"rules/test\.rules:1:\d+: error: .*webhok", check_too=True)
        self.assertIn("did you mean webhook?", log)
        self.rules("RULE r MATCH a WITHIN 1h")
        self.configure(sources={"input": self.follow()}, actions={"pager": {"type": "webhok"}})
        log = self.refused(r"cepd\.yaml:\d+:\d+: error: .*webhok", check_too=True)
        self.assertIn("did you mean webhook?", log)

    def test_rule_directory_with_errors(self):
        self.rules("RULE one MATCH a WITHIN\n", name="one.rules")
        self.rules("RULE two MATCH a NEXT\n", name="two.rules")
        self.configure(sources={"input": self.follow()})
        log = self.refused(r"rules/one\.rules:\d+:\d+: error: ", check_too=True)
        self.assertRegex(log, r"rules/two\.rules:\d+:\d+: error: ")
        self.assertRegex(log, r"cannot start: the rules in \S*/rules have errors")

    def test_rule_directory_that_is_missing(self):
        self.configure(sources={"input": self.follow()}, rules={"directory": "absent"})
        self.refused(r"absent.*No such file", check_too=True)

    def test_two_rules_of_one_name(self):
        self.rules("RULE r MATCH b WITHIN 1h", name="again.rules")
        self.configure(sources={"input": self.follow()})
        self.refused(r"rules/\w+\.rules:1:\d+: error: .*\br\b", check_too=True)

    def test_wrong_use(self):
        for arguments in (("run",), ("run", "--config"), ("reload",), ("run", "--confg", "x")):
            with self.subTest(arguments):
                done = self.cepd(*arguments)
                self.assertEqual(done.returncode, 2)
                self.assertNotEqual(done.stderr, "")
        done = self.cepd("reload", "--config", self.configure(sources={"input": self.follow()}), "--wait", "soon")
        self.assertEqual(done.returncode, 2)

    def test_rule_warnings_do_not_stop_a_start(self):
        self.rules("RULE r KEY k MATCH a THEN b")
        self.configure(sources={"input": self.follow()})
        daemon = self.run_daemon()
        self.assertRegex(daemon.log(), r"rules/test\.rules:1:\d+: warning: ")
        self.assertEqual(daemon.end(), 0)

    def test_test_files_are_not_loaded(self):
        self.rules("this is no rule", name="broken.test.rules")
        self.configure(sources={"input": self.follow()})
        self.assertEqual(self.run_daemon().end(), 0)


if __name__ == "__main__":
    cepd_e2e.main()
