#!/bin/sh
# SPDX-License-Identifier: MIT
# wallsample's own reader of unwind tables finds all callers that libunwind and libdw find.
. "${SOURCE:?}/tests/cli/common.sh"

python_test unwinders.py "$WALLSAMPLE" "$BUILD/tests/live/bin"
