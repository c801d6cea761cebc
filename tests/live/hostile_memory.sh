#!/bin/sh
# SPDX-License-Identifier: MIT
# A stack in a file that never answers harms neither the run nor the thread.
. "${SOURCE:?}/tests/cli/common.sh"

command -v python3 >/dev/null || { echo 'no python3'; exit 77; }
[ "$(uname -m)" = x86_64 ] || { echo 'the program is written for x86-64'; exit 77; }
[ "$(id -u)" -eq 0 ] || { echo 'only root can mount'; exit 77; }
needs_ptrace
PYTHONDONTWRITEBYTECODE=1 unshare -m python3 "$SOURCE/tests/live/hostile_memory.py" "$WALLSAMPLE" \
	"${CC:-cc}" </dev/null
status=$?
[ $status -eq 77 ] && exit 77
[ $status -eq 0 ] || failed=1
finish
