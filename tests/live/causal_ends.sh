#!/bin/sh
# SPDX-License-Identifier: MIT
# Targets that end, stop, fork or become others in the middle of an experiment, and a wallsample
# that is killed there.
. "${SOURCE:?}/tests/cli/common.sh"

calls=$BUILD/tests/bench/bench_calls
if [ "$(nproc)" -lt 2 ] || ! chrt -f 1 true 2>/dev/null; then
	echo 'left out: ticks that take CPUs, which need two CPUs and a real-time class'
	calls=
elif has_asan; then
	echo 'left out: ticks that take CPUs; with the address sanitizer they are too slow'
	calls=
fi
python_test causal_ends.py "$WALLSAMPLE" "$BUILD/tests/live/bin/causal_kinds" ${calls:+"$calls"}
