#!/bin/sh
# SPDX-License-Identifier: MIT
# Unwind tables that take for ever, or gigabytes, to read harm neither the run nor the report.
. "${SOURCE:?}/tests/cli/common.sh"

command -v python3 >/dev/null || { echo 'no python3'; exit 77; }
[ "$(uname -m)" = x86_64 ] || { echo 'the programs are written for x86-64'; exit 77; }
if nm "$WALLSAMPLE" 2>/dev/null | grep -q __asan_init; then
	echo 'the address sanitizer needs more memory than the test permits'
	exit 77
fi
needs_ptrace
PYTHONDONTWRITEBYTECODE=1 python3 "$SOURCE/tests/live/hostile_tables.py" "$WALLSAMPLE" \
	"${CC:-cc}" </dev/null
status=$?
[ $status -eq 77 ] && exit 77
[ $status -eq 0 ] || failed=1
finish
