#!/usr/bin/env python3
"""Every wrong rule file under tests/errors, with what `cepd check` says of it.

tests/errors/<topic>/<name>.rules stands beside <name>.expected, the exact output; a directory <name>.set holds the
files of a set. `--update` writes the .expected files: read the difference before it is committed.
Usage: errors_test.py CEPD [--update]
"""

import difflib
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent / "errors"
MOST_SECONDS = 20


def said(cepd, case):
    """What cepd prints, and whether that and the exit code say the same."""
    done = subprocess.run([cepd, "check", case.name], cwd=case.parent, timeout=MOST_SECONDS, check=False,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    text = done.stdout.decode("utf-8", "replace")
    agrees = done.returncode == (1 if ": error: " in text else 0)
    return text, agrees


def main():
    cepd = str(pathlib.Path(sys.argv[1]).resolve())
    update = "--update" in sys.argv[2:]
    cases = sorted([*HERE.glob("*/*.rules"), *HERE.glob("*/*.set")])
    failed = 0
    for case in cases:
        text, agrees = said(cepd, case)
        expected = case.with_suffix(".expected")
        if update:
            expected.write_text(text, encoding="utf-8")
        before = expected.read_text(encoding="utf-8") if expected.exists() else ""
        if text == before and agrees:
            continue
        failed += 1
        print(f"{case.relative_to(HERE)}:" + ("" if agrees else " exit code and messages disagree"))
        sys.stdout.writelines(difflib.unified_diff(before.splitlines(True), text.splitlines(True), "expected", "said"))
    stray = {f.with_suffix("") for f in HERE.glob("*/*.expected")} - {c.with_suffix("") for c in cases}
    for file in sorted(stray):
        print(f"{file.relative_to(HERE)}.expected has no rule file")
    print(f"{len(cases)} wrong rule files, {failed} with another message")
    return 1 if failed or stray or not cases else 0


if __name__ == "__main__":
    sys.exit(main())
