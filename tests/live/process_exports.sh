#!/bin/sh
# SPDX-License-Identifier: MIT
# Exports of several processes: each thread is in its process, in every format; filters by process;
# recordings of different processes that were made at the same time.
. "${SOURCE:?}/tests/cli/common.sh"

command -v python3 >/dev/null 2>&1 || { echo 'python3 is not there'; exit 77; }
needs_ptrace

exec python3 "$SOURCE/tests/live/process_exports.py"
