#!/bin/sh
# SPDX-License-Identifier: MIT
# Goroutines that wait in Go's poller: for which descriptor, and what is at its other end.
. "${SOURCE:?}/tests/live/go_common.sh"

# expect_text WHAT TEXT: in the JSON
expect_text() {
	grep -qF "$2" "$out" && return
	complain "$1: not found: $2"
	grep -aE '"function":"main|"kind":"' "$out" | cut -c 1-300
}

peers() {
	how=$1
	rm -f "$dir/in" "$dir/line"
	mkfifo "$dir/in" "$dir/line"
	"$2" <"$dir/in" >"$dir/line" &
	target=$!
	actors="$actors $target"
	exec 5>"$dir/in"
	read -r server quiet <"$dir/line"
	run -p "$target" -d 2 --max-overhead 100 --max-stopped 100 -f json
	[ "$status" -eq 1 ] || expect_status 0
	expect_text "$how: a connection that stays" \
		"\"kind\":\"socket receive\",\"object\":\"tcp to 127.0.0.1:$server, "
	expect_text "$how: a listener" \
		"\"kind\":\"socket accept\",\"object\":\"tcp port $quiet on 127.0.0.1\""
	grep -q '"function":"main.ask".*"waits_for":"socket receive' "$out" ||
		complain "$how: short connections: $(grep '"function":"main.ask"' "$out")"
	exec 5>&-
	wait "$target"
}

each_go peers go_peers
finish
