#!/bin/sh
# SPDX-License-Identifier: MIT
# Several processes are one target: CPU time of each, processes that come and end during the run,
# and those that are too short to be seen.
. "${SOURCE:?}/tests/cli/common.sh"

python3 -c 'import sqlite3' 2>/dev/null || { echo 'no python3 with sqlite3'; exit 77; }
read -r _ _ switches </proc/self/schedstat 2>/dev/null || switches=0
[ "${switches:-0}" -gt 0 ] || { echo 'the kernel does not count the times of threads'; exit 77; }
needs_ptrace

exec python3 "$SOURCE/tests/live/processes.py"
