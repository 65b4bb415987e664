#!/usr/bin/env python3
"""Every promise of the rule language is held by a test, and every data case says which promises it holds.

tests/cases/promises.tsv lists the promises; a case names those it holds in its second line, `# promise: 3.then.1, 2.order.1`.
Usage: promises_test.py [ROOT]   Exit: 0 good, 1 with a line for each finding.
"""

import pathlib
import re
import sys

SECTIONS = ("1", "1d", "2", "2d", "3", "3d", "4", "4d", "5", "5d", "7", "7d", "8", "8d", "9", "9d", "10")
ID = re.compile(r"(\d+d?)(\.\w+)+")
CASE = re.compile(r"# (?!promise: )\S.*\n# promise: (.+)\n")


def read_promises(path, findings):
    """Of each id the other tests that hold it."""
    promises = {}
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        if line.startswith("#"):
            continue
        columns = line.split("\t")
        if len(columns) not in (2, 3) or not ID.fullmatch(columns[0]) or not all(columns):
            findings.append(f"{path.name}:{number}: expected an id, a promise and perhaps other tests, with tabs between")
        elif columns[0] in promises:
            findings.append(f"{path.name}:{number}: a second {columns[0]}")
        else:
            promises[columns[0]] = columns[2].split(" ;; ") if len(columns) == 3 else []
    return promises


def read_cases(cases, findings):
    """Of each case the ids that it names."""
    named = {}
    for path in sorted(cases.rglob("*.test.rules")):
        head = CASE.match(path.read_text(encoding="utf-8"))
        if head is None:
            findings.append(f"{path.relative_to(cases)}: expected the behaviour in the first line and `# promise: ` with ids "
                            "in the second")
        else:
            named[path.relative_to(cases)] = [each.strip() for each in head.group(1).split(",")]
    return named


def findings_of_another_test(tests, promise, test):
    """Whether the file is there and holds the name of the test, or the message."""
    file, _, held = test.partition(": ")
    path = tests / file
    if not path.is_file():
        return [f"{promise}: there is no {file}"]
    if not held or held not in path.read_text(encoding="utf-8"):
        return [f"{promise}: {file} does not hold: {held}"]
    return []


def main():
    tests = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".").resolve() / "tests"
    findings = []
    promises = read_promises(tests / "cases" / "promises.tsv", findings)
    named = read_cases(tests / "cases", findings)

    for case, ids in named.items():
        findings += [f"{case}: there is no promise {each}" for each in ids if each not in promises]
    held = {each for ids in named.values() for each in ids}
    not_yet = []
    for promise, others in promises.items():
        if others and others[0].startswith("not yet: "):
            not_yet.append(f"{promise}: {others[0]}")
            if promise in held:
                findings.append(f"{promise}: a case holds it already")
            continue
        if promise not in held and not others:
            findings.append(f"{promise}: neither a case nor another test holds it")
        for test in others:
            findings += findings_of_another_test(tests, promise, test)
    sections = {ID.fullmatch(promise).group(1) for promise in promises}
    findings += [f"section {section} has no promise" for section in SECTIONS if section not in sections]

    for line in findings + not_yet:
        print(line)
    print(f"{len(promises)} promises, {len(named)} cases, {len(findings)} findings")
    return 1 if findings or not named else 0


if __name__ == "__main__":
    sys.exit(main())
