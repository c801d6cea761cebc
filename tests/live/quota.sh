#!/bin/sh
# SPDX-License-Identifier: MIT
# A wallsample with a quota of CPU time, as in a container, does not keep threads stopped while it
# waits for the next period.
. "${SOURCE:?}/tests/cli/common.sh"

command -v python3 >/dev/null || { echo 'no python3'; exit 77; }
needs_ptrace
if nm "$WALLSAMPLE" 2>/dev/null | grep -q __asan_init; then
	echo 'with the address sanitizer, starting uses up the quota'
	exit 77
fi
PYTHONDONTWRITEBYTECODE=1 python3 "$SOURCE/tests/live/quota.py" "$WALLSAMPLE" \
	"$BUILD/tests/live/bin/crowd" </dev/null
status=$?
[ $status -eq 77 ] && exit 77
[ $status -eq 0 ] || failed=1
finish
