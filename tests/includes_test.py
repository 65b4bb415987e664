#!/usr/bin/env python3
"""Reads every #include of the folders and names what docs/architecture.md does not allow.

Includes follow the arrows between the folders and never turn back, third-party headers stay in .cc files, and headers
have #pragma once. Usage: includes_test.py [ROOT]   Exit: 0 good, 1 with a line for each finding.
"""

import pathlib
import re
import sys

# What a folder may include besides itself: whole folders, or single headers.
ALLOWED = {
    "base": set(),
    "dsl": {"base"},
    "config": {"base"},
    "nfa": {"base", "dsl/plan.h", "dsl/plan_print.h", "dsl/plan_walk.h"},
    "engine": {"base", "nfa", "state/backend.h", "state/layout.h"},
    "state": {"base", "config/node.h", "config/options.h", "clients"},
    "clients": {"base", "config"},
    "adapters": {"base", "config", "clients"},
    "actions": {"base", "config", "clients", "state/outbox.h"},
    "app": {"base", "dsl", "config", "nfa", "engine", "state", "clients", "adapters", "actions"},
    "bench": {"base", "dsl", "nfa", "engine", "adapters", "state"},
}

# Their names must not reach whoever includes a header of ours.
ONLY_IN_SOURCES = ("boost/spirit", "lmdb.h", "simdjson.h", "yaml-cpp/", "httplib.h", "curl/",
                   "prometheus/", "CivetServer.h", "librdkafka/", "mosquitto.h", "hiredis")

# The grammar is one unit in several files: these are parts of dsl/grammar.cc, not headers of the folder.
GRAMMAR = re.compile(r"dsl/grammar_\w+\.h")

INCLUDE = re.compile(r'^\s*#\s*include\s*(["<])([^">]+)[">]')
PRAGMA = re.compile(r"^\s*#\s*pragma\s+once\b", re.MULTILINE)


def includes(text):
    """(line number, quote, path) of every include."""
    for number, line in enumerate(text.splitlines(), 1):
        if found := INCLUDE.match(line):
            yield number, found[1], found[2]


def problems_of(root, name, text):
    folder = name.split("/", 1)[0]
    is_header = name.endswith(".h")
    is_grammar_part = GRAMMAR.fullmatch(name) is not None
    if is_header and not is_grammar_part and not PRAGMA.search(text):
        yield f"{name}:1: a header without #pragma once"
    for number, quote, path in includes(text):
        place = f"{name}:{number}:"
        if is_header and not is_grammar_part and path.startswith(ONLY_IN_SOURCES):
            yield f"{place} <{path}> belongs into a .cc file"
        if GRAMMAR.fullmatch(path) and name != "dsl/grammar.cc" and not is_grammar_part:
            yield f"{place} {path} is a part of dsl/grammar.cc and of nothing else"
        target = path.split("/", 1)[0]
        if target in ALLOWED and "/" in path:
            if quote == "<":
                yield f'{place} <{path}> is ours: write "{path}"'
            if not (root / path).is_file():
                yield f"{place} {path} does not exist"
            if target != folder and target not in ALLOWED[folder] and path not in ALLOWED[folder]:
                yield f"{place} {folder} -> {target} turns back: {folder} may not include {path}"
        elif quote == '"':
            yield f'{place} "{path}" is not written from the root of the tree'


def main():
    root = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else pathlib.Path(__file__).resolve().parent.parent
    files = [file for folder in ALLOWED for file in sorted((root / folder).rglob("*")) if file.suffix in (".h", ".cc")]
    if not files:
        print(f"no sources under {root}", file=sys.stderr)
        return 1
    found = []
    for file in files:
        found += problems_of(root, file.relative_to(root).as_posix(), file.read_text(encoding="utf-8"))
    for problem in found:
        print(problem, file=sys.stderr)
    if not found:
        print(f"{len(files)} files: every include follows the arrows")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
