#!/bin/sh
# SPDX-License-Identifier: MIT
# Waits for locks of files and for objects of System V, and who holds them.
. "${SOURCE:?}/tests/cli/common.sh"

python3 -c 'import sqlite3, ctypes' 2>/dev/null || { echo 'no python3 with sqlite3'; exit 77; }
[ -r /proc/locks ] || { echo 'the kernel has no /proc/locks'; exit 77; }
needs_ptrace

exec python3 "$SOURCE/tests/live/file_locks.py" "$@"
