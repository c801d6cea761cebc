#!/bin/sh
# SPDX-License-Identifier: MIT
# wallsample's own reader of unwind tables finds all callers that libunwind and libdw find.
. "${SOURCE:?}/tests/cli/common.sh"

command -v python3 >/dev/null || { echo 'no python3'; exit 77; }
needs_ptrace
PYTHONDONTWRITEBYTECODE=1 python3 "$SOURCE/tests/live/unwinders.py" "$WALLSAMPLE" \
	"$BUILD/tests/live/bin" </dev/null || failed=1
finish
