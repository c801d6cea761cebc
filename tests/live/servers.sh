#!/bin/sh
# SPDX-License-Identifier: MIT
# A server of two processes: each connection has the process that answers it. One of them was named
# for all connections when the process behind an address was kept.
. "${SOURCE:?}/tests/cli/common.sh"
needs_ptrace

mkfifo "$dir/ready"
"$BUILD/tests/live/bin/causes" pool >"$dir/ready" &
target=$!
actors="$actors $target"
while read -r said; do
	[ "$said" = ready ] && break
done <"$dir/ready"
run -p "$target" -d 2 --max-overhead 100 --max-stopped 100 -f json
[ "$status" -eq 1 ] || expect_status 0
found=$(grep -o '"object":"tcp to 127.0.0.1:[0-9]*, causes ([0-9]*)"' "$out" | sort -u)
[ "$(printf '%s\n' "$found" | grep -c .)" -eq 2 ] ||
	complain "the two connections have not two processes: $found"
kill "$target"
finish
