#!/bin/sh
# SPDX-License-Identifier: MIT
# Formats for other programs, of a live process: chosen by the ending of a file, kept from
# terminals, and read by those that they are for.
. "${SOURCE:?}/tests/cli/common.sh"
needs_ptrace
PATH=$PATH:/usr/local/go/bin:/usr/lib/go/bin
PPROF_TMPDIR=$dir
export PPROF_TMPDIR
actor busy
pid=$actor

run -d 300ms -p "$pid" -o "$dir/x.pb.gz"
expect_status 0
expect_err "wrote pprof profile to $dir/x.pb.gz: "
gzip -t "$dir/x.pb.gz" || complain 'x.pb.gz is not compressed'
if command -v go >/dev/null 2>&1 && go tool -n pprof >/dev/null 2>&1; then
	timeout 120 go tool pprof -raw "$dir/x.pb.gz" >"$dir/raw" 2>"$dir/raw.err" ||
		complain "go tool pprof: $(cat "$dir/raw.err")"
	id=$(readelf -n "$BUILD/tests/cli/actor" 2>/dev/null | sed -n 's/.*Build ID: //p')
	what='go tool pprof -raw x.pb.gz'
	expect_in "$dir/raw" 'wall/nanoseconds[dflt] cpu/nanoseconds latency/nanoseconds'
	expect_in "$dir/raw" "/tests/cli/actor $id"
	expect_in "$dir/raw" "tid:[$pid]"
	expect_in "$dir/raw" 'state:[running]'
	grep -q 'parallelism:\[[01] threads\]' "$dir/raw" || complain 'no label parallelism'
else
	echo 'go is not there: x.pb.gz is not read'
fi

run -q -d 300ms -p "$pid" -o "$dir/x.json"
expect_status 0
if command -v python3 >/dev/null 2>&1; then
	python3 -m json.tool "$dir/x.json" >"$dir/pretty" || complain 'x.json is not JSON'
	what='json of a busy thread'
	expect_in "$dir/pretty" "\"tid\": $pid,"
	expect_in "$dir/pretty" '"state": "running"'
	expect_in "$dir/pretty" '"sort": "wall"'
else
	echo 'python3 is not there: x.json is not read'
fi

run -q -d 300ms -t -p "$pid" -o "$dir/x.svg"
expect_status 0
expect_in "$dir/x.svg" "<title>actor-$pid"
if command -v python3 >/dev/null 2>&1; then
	python3 -c 'import sys, xml.dom.minidom; xml.dom.minidom.parse(sys.argv[1])' "$dir/x.svg" ||
		complain 'x.svg is not XML'
fi

# formats that show time, of a live process
run -q -d 300ms -p "$pid" -o "$dir/x.speedscope.json"
expect_status 0
expect_in "$dir/x.speedscope.json" "\"name\":\"actor-$pid\""
run -q -d 300ms -p "$pid" -o "$dir/x.firefox.json"
expect_status 0
expect_in "$dir/x.firefox.json" '"preprocessedProfileVersion":60'
expect_in "$dir/x.firefox.json" "\"tid\":$pid,"
run -q -d 300ms -p "$pid" -o "$dir/x.perf"
expect_status 0
grep -q "^actor  *$pid/$pid  *[0-9]*\.[0-9]*:  *[0-9]* wall:\$" "$dir/x.perf" ||
	complain "no record of actor: $(head -n 12 "$dir/x.perf")"
run -q -d 300ms -p "$pid" --state T -o "$dir/none.perf"
expect_not_in "$dir/none.perf" "wall:"

# a terminal would take the bytes for commands
"$BUILD/tests/cli/actor" terminal 80 sh -c '"$0" -d 100ms -p "$1" -f pprof >&2' \
	"$WALLSAMPLE" "$pid" 2>"$err"
expect_err '-f pprof is binary and not written to a terminal'

# the same recording in two formats: the same function comes first, with the same time
run -q -d 500ms -p "$pid" -o "$dir/x.wsdb"
expect_status 0
run report -q "$dir/x.wsdb" -o "$dir/same.pb.gz"
expect_status 0
run report -q "$dir/x.wsdb" -o "$dir/same.json"
expect_status 0
"$BUILD/tests/cli/actor" terminal 80 sh -c '"$0" report "$1" -f pprof >&2' \
	"$WALLSAMPLE" "$dir/x.wsdb" 2>"$err"
expect_err '-f pprof is binary and not written to a terminal'
if command -v go >/dev/null 2>&1 && command -v python3 >/dev/null 2>&1 &&
	go tool -n pprof >/dev/null 2>&1; then
	first=$(python3 -c 'import json, sys
top = json.load(open(sys.argv[1]))["functions"][0]
print(top["flat"]["wall_ns"] // 1000000, top["name"])' "$dir/same.json")
	timeout 120 go tool pprof -top -unit=ms -symbolize=none "$dir/same.pb.gz" \
		>"$dir/top" 2>"$dir/top.err" || complain "go tool pprof: $(cat "$dir/top.err")"
	other=$(awk 'found { sub(/[.m].*/, "", $1); print $1, $6; exit } $1 == "flat" { found = 1 }' \
		"$dir/top")
	[ "$first" = "$other" ] || complain "json has '$first' first, pprof '$other'"
fi
finish
