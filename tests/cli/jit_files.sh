#!/bin/sh
# SPDX-License-Identifier: MIT
# What a target writes for profilers is nonsense, or too much: one warning, and a whole report.
. "${SOURCE:?}/tests/cli/common.sh"
needs_ptrace

actor park
pid=$actor
map=/tmp/perf-$pid.map
trap 'rm -f "$map"; clean_up' EXIT

# report WARNING: sampled in spite of the map, of which this alone is said
report() {
	run -d 200ms -p "$pid" --full
	expect_status 0
	expect_err "$1"
	[ "$(grep -c "$map" "$err")" = 1 ] || complain "$what: said $(cat "$err")"
	for part in Process Functions 'What the threads were doing' Threads Samples 'Own cost'; do
		expect_in "$out" "$part"
	done
	expect_in "$out" "Failed    none"
	rm -f "$map"
}

head -c 1000000 /dev/urandom >"$map"
report 'lines are not "START SIZE NAME" and are left out'

# overlapping entries are nothing to warn of
awk 'BEGIN { for (i = 0; i < 100000; i++) printf "%x 1000 f%d\n", i * 7919 % 65536, i % 50 }' >"$map"
echo garbage >>"$map"
report '1 of 100001 lines are not "START SIZE NAME" and are left out'

# a billion lines and more
if truncate -s 16G "$map" 2>/dev/null; then
	report 'so is the end, because it is too large'
fi
awk 'BEGIN { for (i = 0; i < 2500000; i++) printf "%x 10 f\n", i * 16 }' >"$map"
report "lines are used, the rest is not"

finish
