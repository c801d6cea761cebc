#!/bin/sh
# SPDX-License-Identifier: MIT
# A wallsample with a quota of CPU time, as in a container, does not keep threads stopped while it
# waits for the next period.
. "${SOURCE:?}/tests/cli/common.sh"

skip_with_asan 'starting uses up the quota'
python_test quota.py "$WALLSAMPLE" "$BUILD/tests/live/bin/crowd"
