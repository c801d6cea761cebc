#!/bin/sh
# SPDX-License-Identifier: MIT
# A wallsample that is killed at a random moment leaves no thread traced or stopped, and the program
# continues. `python3 kills.py WALLSAMPLE 200 FOLDER` kills it 1,000 times.
. "${SOURCE:?}/tests/cli/common.sh"

command -v python3 >/dev/null || { echo 'no python3'; exit 77; }
needs_ptrace
PYTHONDONTWRITEBYTECODE=1 GOFLAGS=-mod=mod python3 "$SOURCE/tests/live/kills.py" "$WALLSAMPLE" 10 \
	"$dir" </dev/null || failed=1
finish
