#!/bin/sh
# SPDX-License-Identifier: MIT
# A stack in a file that never answers harms neither the run nor the thread.
. "${SOURCE:?}/tests/cli/common.sh"

[ "$(uname -m)" = x86_64 ] || { echo 'the program is written for x86-64'; exit 77; }
[ "$(id -u)" -eq 0 ] || { echo 'only root can mount'; exit 77; }
python_test hostile_memory.py "$WALLSAMPLE" "${CC:-cc}"
