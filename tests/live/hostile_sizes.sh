#!/bin/sh
# SPDX-License-Identifier: MIT
# Thousands of mapped files, and symbol tables of hundreds of megabytes, cost bounded memory.
. "${SOURCE:?}/tests/cli/common.sh"

[ "$(uname -m)" = x86_64 ] || { echo 'the programs are written for x86-64'; exit 77; }
skip_with_asan 'wallsample needs more memory than the test permits'
python_test hostile_sizes.py "$WALLSAMPLE" "${CC:-cc}" "$BUILD/tests/live/bin/many_files"
