#!/bin/sh
# SPDX-License-Identifier: MIT
# Targets that end, stop, fork or become others in the middle of an experiment, and a wallsample
# that is killed there.
. "${SOURCE:?}/tests/cli/common.sh"

command -v python3 >/dev/null || { echo 'no python3'; exit 77; }
needs_ptrace

PYTHONDONTWRITEBYTECODE=1
export PYTHONDONTWRITEBYTECODE
python3 "$SOURCE/tests/live/causal_ends.py" "$WALLSAMPLE" "$BUILD/tests/live/bin/causal_kinds" \
	</dev/null || failed=1
finish
