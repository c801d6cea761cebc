#!/bin/sh
# SPDX-License-Identifier: MIT
# The sums of a recording, beside the times that the kernel has counted for each thread.
. "${SOURCE:?}/tests/cli/common.sh"

python3 -c 'import sqlite3' 2>/dev/null || { echo 'no python3 with sqlite3'; exit 77; }
read -r _ _ switches </proc/self/schedstat 2>/dev/null || switches=0
[ "${switches:-0}" -gt 0 ] || { echo 'the kernel does not count the times of threads'; exit 77; }
needs_ptrace

exec python3 "$SOURCE/tests/live/accounting.py" "$BUILD/tests/live/bin/accounted"
