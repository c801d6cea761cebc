#!/bin/sh
# SPDX-License-Identifier: MIT
# The first screen of a Go program that waits for replies over HTTP: the goroutines of the program
# wait for those of net/http, and the answer is the server.
. "${SOURCE:?}/tests/live/go_common.sh"

export CGO_ENABLED=0
build_go "$dir/client" go_client || exit 77
# waits_for_server NAME [ARGUMENT]
waits_for_server() {
	rm -f "$dir/in" "$dir/line"
	mkfifo "$dir/in" "$dir/line"
	what=$1
	shift
	"$dir/client" "$@" <"$dir/in" >"$dir/line" &
	target=$!
	actors="$actors $target"
	exec 5>"$dir/in"
	read -r port <"$dir/line"
	run -p "$target" -d 2 --max-overhead 100 --max-stopped 100
	[ "$status" -eq 1 ] || expect_status 0
	tr -s ' \n' ' ' <"$out" >"$dir/words"
	for text in ' Socket ' "mostly in socket receive: tcp to 127.0.0.1:$port" \
		'waits in main.loadPrice go_client.go:' 'readLoop '; do
		grep -qF "$text" "$dir/words" || complain "$what: not found: $text: $(cat "$out")"
	done
	exec 5>&-
	wait "$target"
}

waits_for_server 'a client'
waits_for_server 'a proxy' proxy
finish
