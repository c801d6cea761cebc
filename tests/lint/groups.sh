#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Object files that use each other's symbols in a ring, by nm(1): such a group can only be read and
# changed as a whole, and there is none. No file uses a symbol of a directory that layering.sh lists
# later. Calls through function pointers are not seen.
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
