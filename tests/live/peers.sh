#!/bin/sh
# SPDX-License-Identifier: MIT
# Processes that wait for one another: what the awaited process does has the waiting time.
. "${SOURCE:?}/tests/cli/common.sh"

command -v python3 >/dev/null || { echo 'no python3'; exit 77; }
needs_ptrace

exec python3 "$SOURCE/tests/live/peers.py"
