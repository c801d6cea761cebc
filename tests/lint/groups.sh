#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Strongly connected groups of object files: files of one directory that call each other in a
# ring, by the symbols that nm(1) lists. A group can only be read and changed as a whole. None may
# grow beyond what the table in groups.py allows, and no call may go up the layers.
set -u
cd "${SOURCE:-$(dirname "$0")/../..}" || exit 99
for tool in python3 nm; do
	command -v "$tool" >/dev/null 2>&1 || { echo "$tool is missing"; exit 77; }
done
[ -e "${BUILD:?}/libwallsample.a" ] || { echo "$BUILD/libwallsample.a is missing"; exit 99; }
if nm "$BUILD/libwallsample.a" 2>/dev/null | grep -q __asan_init; then
	echo 'the plain build is checked'
	exit 77
fi
exec python3 tests/lint/groups.py "$BUILD"
