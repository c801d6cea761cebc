#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# timed.sh TEST [ARGUMENT…]: runs a test and appends "SECONDS TEST" to $BUILD/test-times, from
# which continuous integration prints the tests that take longest.
start=$EPOCHREALTIME
"$@"
status=$?
end=$EPOCHREALTIME
awk -v a="$start" -v b="$end" -v name="$1" 'BEGIN { printf "%.1f %s\n", b - a, name }' \
	>>"${BUILD:-.}/test-times"
exit $status
