#!/bin/sh
# SPDX-License-Identifier: MIT
# What `wallsample causal` predicts of programs of which arithmetic says what is true.
. "${SOURCE:?}/tests/cli/common.sh"

[ "$(nproc)" -ge 2 ] || { echo 'one CPU: nothing runs beside the candidate'; exit 77; }
skip_with_asan 'looks take too long'
python_test causal_check.py "$WALLSAMPLE" "$BUILD/tests/live/bin/causal_kinds"
