#!/bin/sh
# SPDX-License-Identifier: MIT
# Targets that end, stop, fork or become others in the middle of an experiment, and a wallsample
# that is killed there.
. "${SOURCE:?}/tests/cli/common.sh"

command -v python3 >/dev/null || { echo 'no python3'; exit 77; }
needs_ptrace

PYTHONDONTWRITEBYTECODE=1
export PYTHONDONTWRITEBYTECODE
calls=$BUILD/tests/bench/bench_calls
if [ "$(nproc)" -lt 2 ] || ! chrt -f 1 true 2>/dev/null; then
	echo 'left out: ticks that take CPUs, which need two CPUs and a real-time class'
	calls=
elif nm "$WALLSAMPLE" 2>/dev/null | grep -q __asan_init; then
	echo 'left out: ticks that take CPUs; with the address sanitizer they are too slow'
	calls=
fi
python3 "$SOURCE/tests/live/causal_ends.py" "$WALLSAMPLE" "$BUILD/tests/live/bin/causal_kinds" \
	${calls:+"$calls"} </dev/null || failed=1
finish
