#!/usr/bin/env bash
# deploy/cepd.service is a unit that systemd takes without a word, hardened, and starts a cepd that knows its commands.
# Usage: unit_file_test.sh CEPD_BINARY     Exit: 0 good, 1 failed, 2 wrong use, 77 skipped
set -euo pipefail

[[ $# -eq 1 && -x $1 ]] || { echo "usage: $0 CEPD_BINARY" >&2; exit 2; }
cepd=$(realpath -- "$1")
unit=$(realpath -- "$(dirname -- "$0")/../../deploy/cepd.service")
if ! command -v systemd-analyze >/dev/null; then
  echo "skipped: systemd-analyze is not installed"
  exit 77
fi

failures=0
fail() {
  echo "FAILED: $*" >&2
  failures=$((failures + 1))
}

work=$(mktemp -d)
trap 'rm -rf -- "$work"' EXIT
copy=$work/cepd.service

# The commands must exist where the unit says; this machine has them at another place.
content=$(<"$unit")
printf '%s\n' "${content//\/usr\/bin\/cepd/"$cepd"}" > "$copy"
for setting in ExecStartPre ExecStart ExecReload; do
  grep -q "^$setting=$cepd " "$copy" || fail "$setting does not run /usr/bin/cepd"
done

# The exit code of verify is 0 even for unknown keys: any word is a failure.
said=$(systemd-analyze verify "$copy" 2>&1) || fail "systemd-analyze verify exits with $?"
[[ -z $said ]] || fail "systemd-analyze verify says: $said"

# The threshold is ten times the exposure level.
report=$(systemd-analyze security --no-pager --offline=true --threshold=20 "$copy" 2>&1) ||
  fail "systemd-analyze security is above 2.0: $report"

# A renamed command or option would otherwise be noticed at the first start only: each exits with 2 for a wrong use.
while read -r -a words; do
  help=$("$cepd" "${words[0]}" --help 2>&1) || fail "cepd has no command ${words[0]}"
  for word in "${words[@]:1}"; do
    [[ $word != --* || $help == *"$word"* ]] || fail "cepd ${words[0]} has no option $word"
  done
done < <(sed -n "s|^Exec[A-Za-z]*=$cepd ||p" "$copy")

if [[ $failures -ne 0 ]]; then exit 1; fi
tail -n 1 <<< "$report"
