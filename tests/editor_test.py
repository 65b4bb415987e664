#!/usr/bin/env python3
"""deploy/editor holds what `cepd check --language` prints, and that colours rule files as meant.

Usage: editor_test.py CEPD SOURCE_DIR
"""

import json
import pathlib
import re
import subprocess
import sys
import unittest

CEPD, ROOT = sys.argv[1], pathlib.Path(sys.argv[2])
EDITOR = ROOT / "deploy" / "editor"
GRAMMAR = EDITOR / "vscode" / "syntaxes" / "cepd.tmLanguage.json"


def printed(form):
    return subprocess.run([CEPD, "check", "--language", form], check=True, stdout=subprocess.PIPE).stdout.decode()


class Tokenizer:
    """As an editor does it: the pattern that matches first, of several at one place the one written first."""

    def __init__(self, grammar):
        self.rules = [(rule["name"], re.compile(rule.get("match") or rule["begin"]),
                       re.compile(rule["end"]) if "end" in rule else None) for rule in grammar["patterns"]]

    def scopes(self, line):
        """(text, scope) of all that is coloured in a line."""
        out, at = [], 0
        while at < len(line):
            found = [(m.start(), i, m) for i, (_, begin, _) in enumerate(self.rules) if (m := begin.search(line, at))]
            if not found:
                break
            _, i, match = min(found, key=lambda f: f[:2])
            name, _, end = self.rules[i]
            stop = end.search(line, match.end()).end() if end else match.end()
            out.append((line[match.start():stop], name.removesuffix(".cepd")))
            at = max(stop, match.start() + 1)
        return out


class Editor(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        self.tokenizer = Tokenizer(json.loads(GRAMMAR.read_text()))

    def test_files_are_what_the_tables_print(self):
        self.assertEqual(GRAMMAR.read_text(), printed("textmate"))
        self.assertEqual((EDITOR / "language.json").read_text(), printed("json"))

    def test_files_are_json_and_name_each_other(self):
        words = json.loads((EDITOR / "language.json").read_text())
        self.assertIn({"name": "pow", "min_arguments": 2, "max_arguments": 2}, words["functions"])
        package = json.loads((EDITOR / "vscode" / "package.json").read_text())["contributes"]
        self.assertEqual(package["grammars"][0]["scopeName"], json.loads(GRAMMAR.read_text())["scopeName"])
        for path in (package["grammars"][0]["path"], package["languages"][0]["configuration"]):
            json.loads((EDITOR / "vscode" / path).read_text())

    def test_rule(self):
        self.assertEqual(self.tokenizer.scopes('RULE r SHADOW "a \\n {b}"  # RULE'), [
            ("RULE", "keyword.control.statement"), ("SHADOW", "keyword.other"),
            ('"a \\n {b}"', "string.quoted.double"), ("# RULE", "comment.line.number-sign")])
        self.assertEqual(self.tokenizer.scopes("  match `a/b`[x.limit > $max and not y] as k THEN b WITHIN 1h30m"), [
            ("match", "keyword.other.clause"), ("`a/b`", "string.quoted.other.name"),
            ("limit", "variable.other.member"), (">", "keyword.operator"), ("$max", "variable.other.constant"),
            ("and", "keyword.operator.word"), ("not", "keyword.operator.word"), ("as", "keyword.other"),
            ("THEN", "keyword.other"), ("WITHIN", "keyword.other.clause"), ("1h30m", "constant.numeric.duration")])
        self.assertEqual(self.tokenizer.scopes("  HAVING avg(k.x) > 1.5e3 OR length(`where`) = null DO log(level: 'x')"), [
            ("HAVING", "keyword.other.clause"), ("avg", "support.function.aggregate"), ("x", "variable.other.member"),
            (">", "keyword.operator"), ("1.5e3", "constant.numeric"), ("OR", "keyword.operator.word"),
            ("length", "support.function"), ("`where`", "string.quoted.other.name"), ("=", "keyword.operator"),
            ("null", "constant.language"), ("DO", "keyword.other.clause"), ("log", "support.function.action"),
            ("level", "variable.other.property"), ("'x'", "string.quoted.single")])

    def test_declarations_and_tests(self):
        self.assertEqual(self.tokenizer.scopes("EVENT e (max double?, key string)"), [
            ("EVENT", "keyword.control.statement"), ("double?", "support.type"), ("key", "keyword.other.clause"),
            ("string", "support.type")])
        self.assertEqual(self.tokenizer.scopes('GIVEN a @2m {key: true} WATERMARK @"2026-01-05T22:00:00Z"'), [
            ("GIVEN", "keyword.other"), ("@2m", "constant.numeric.duration"), ("key", "variable.other.property"),
            ("true", "constant.language"), ("WATERMARK", "keyword.other"),
            ('@"2026-01-05T22:00:00Z"', "constant.other.timestamp")])

    def test_every_keyword_is_coloured(self):
        for keyword in json.loads((EDITOR / "language.json").read_text())["keywords"]:
            text = keyword["text"]
            line = f"x {text}.y" if text == "THIS" else f"x {text} y"
            self.assertEqual([t for t, _ in self.tokenizer.scopes(line)][0], text)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=1)
