#!/bin/sh
# SPDX-License-Identifier: MIT
# Unwind tables that take for ever, or gigabytes, to read harm neither the run nor the report.
. "${SOURCE:?}/tests/cli/common.sh"

[ "$(uname -m)" = x86_64 ] || { echo 'the programs are written for x86-64'; exit 77; }
skip_with_asan 'wallsample needs more memory than the test permits'
python_test hostile_tables.py "$WALLSAMPLE" "${CC:-cc}"
