#!/bin/sh
# SPDX-License-Identifier: MIT
# The driver of the fuzz targets fails when it has nothing to feed them.
target=${BUILD:?}/tests/fuzz/fuzz_module
dir=$(mktemp -d) || exit 99
trap 'rm -rf "$dir"' EXIT
failed=0

# refused STATUS WORDS…
refused() {
	want=$1
	shift
	"$target" "$@" 2>"$dir/said"
	status=$?
	[ "$status" -eq "$want" ] && [ "$want" -eq 64 ] && return
	[ "$status" -eq "$want" ] && [ -s "$dir/said" ] && return
	printf 'FAILED: %s: status %s, said: %s\n' "$*" "$status" "$(cat "$dir/said")"
	failed=1
}

mkdir "$dir/empty" "$dir/hidden"
: >"$dir/hidden/.file"
refused 64
refused 64 -r 1
refused 99 "$dir/empty"
refused 99 "$dir/hidden"
refused 99 "$dir/not_there"
refused 99 "${SOURCE:?}/tests/fuzz/corpus/module/dwarf4.so" "$dir/empty"
if [ "$(id -u)" -ne 0 ]; then
	chmod 0 "$dir/hidden"
	refused 99 "$dir/hidden"
	chmod 700 "$dir/hidden"
fi
exit "$failed"
