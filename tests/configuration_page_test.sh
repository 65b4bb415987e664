#!/usr/bin/env bash
# docs/configuration.md: a head of its own, then exactly what the option tables print. Usage: CEPD PAGE
set -euo pipefail
diff <(sed -n '/^## /,$p' "$2") <("$1" check --config-reference)
