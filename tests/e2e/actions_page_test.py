"""What docs/actions.md shows is what cepd takes: its configuration, its rule, the calls of its table."""

import json
import pathlib
import re

import cepd_e2e
from cepd_e2e import CepdTest

PAGE = (pathlib.Path(__file__).resolve().parents[2] / "docs/actions.md").read_text(encoding="utf-8")


def blocks():
    """Indented code, without its indent."""
    for block in re.findall(r"(?:^    .*\n|^\n(?=    ))+", PAGE, re.MULTILINE):
        if text := "\n".join(line[4:] for line in block.strip("\n").split("\n")):
            yield text + "\n"


class ActionsPage(CepdTest):
    def test_configuration_and_rule(self):
        actions, rule, _, dead_letters = blocks()
        self.write("password", "x")
        common = "rules: {directory: rules}\nstate: {directory: state}\nsources: {lines: {type: file, path: events.jsonl}}\n"
        self.write("rules/page.rules", rule)
        self.config_file.write_text(common + actions.replace("/etc/cepd/redis-password", "password"), encoding="utf-8")
        checked = self.cepd("check", "--config", self.config_file)
        self.assertEqual(checked.returncode, 0, checked.stderr)
        self.write("rules/page.rules", "RULE r MATCH a")
        self.config_file.write_text(common + dead_letters, encoding="utf-8")
        checked = self.cepd("check", "--config", self.config_file)
        self.assertEqual(checked.returncode, 0, checked.stderr)

    def test_calls_of_the_table(self):
        self.configure()
        words = json.loads(self.cepd("check", "--language", "json").stdout)
        known = {action["name"]: action for action in words["actions"]}
        table = dict(re.findall(r"^\| `(\w+)` \| `\w+\((.*?)\)` \|", PAGE, re.MULTILINE))
        self.assertEqual(set(table), set(known))
        for name, parameters in table.items():
            with self.subTest(name):
                listed = [part.removesuffix("?") for part in parameters.split(", ")]
                expected = [parameter["name"] for parameter in known[name]["parameters"]]
                self.assertEqual([part for part in listed if part != "…"], expected)
                self.assertEqual("…" in listed, known[name]["further_arguments"])

    def test_commands(self):
        self.configure()
        for command, options in re.findall(r"^    cepd (dlq \w+)(.*?)(?:#|\|| *$)", PAGE, re.MULTILINE):
            with self.subTest(command):
                known = self.cepd(*command.split(), "--help").stdout
                for option in re.findall(r"--[a-z]+", options):
                    self.assertIn(option, known)


if __name__ == "__main__":
    cepd_e2e.main()
