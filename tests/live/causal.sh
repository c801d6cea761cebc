#!/bin/sh
# SPDX-License-Identifier: MIT
# What `wallsample causal` predicts of programs of which arithmetic says what is true.
. "${SOURCE:?}/tests/cli/common.sh"

command -v python3 >/dev/null || { echo 'no python3'; exit 77; }
[ "$(nproc)" -ge 2 ] || { echo 'one CPU: nothing runs beside the candidate'; exit 77; }
if nm "$WALLSAMPLE" 2>/dev/null | grep -q __asan_init; then
	echo "left out: looks take too long with the address sanitizer"
	exit 77
fi
needs_ptrace

PYTHONDONTWRITEBYTECODE=1
export PYTHONDONTWRITEBYTECODE
python3 "$SOURCE/tests/live/causal_check.py" "$WALLSAMPLE" "$BUILD/tests/live/bin/causal_kinds" \
	</dev/null || { [ $? -ne 77 ] || exit 77; failed=1; }
finish
