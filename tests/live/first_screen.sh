#!/bin/sh
# SPDX-License-Identifier: MIT
# The first screen of a report names the cause for which a program is slow.
. "${SOURCE:?}/tests/cli/common.sh"

python_test first_screen.py "$WALLSAMPLE" "$BUILD/tests/live/bin/causes" "$PWD"
