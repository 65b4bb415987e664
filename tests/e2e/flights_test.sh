#!/usr/bin/env bash
# The example rules over a month of real events: their own tests pass, and a replay finds exactly what an independent
# evaluation of the same rules finds. Usage: flights_test.sh CEPD_BINARY     Exit: 0 good, 1 failed, 2 wrong use
set -euo pipefail

[[ $# -eq 1 && -x $1 ]] || { echo "usage: $0 CEPD_BINARY" >&2; exit 2; }
cepd=$(realpath -- "$1")
cd -- "$(dirname -- "$0")/../.."

work=$(mktemp -d)
trap 'rm -rf -- "$work"' EXIT

"$cepd" check rules/examples
"$cepd" test rules/examples
gzip -dc data/flights-2013-01.jsonl.gz | "$cepd" replay --rules rules/examples --input - --strict > "$work/replay.jsonl"
python3 -B tests/oracle/flights_oracle.py --compare "$work/replay.jsonl"
