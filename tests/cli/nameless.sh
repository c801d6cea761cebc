#!/bin/sh
# SPDX-License-Identifier: MIT
# What has no names is listed, by whatever frames are told apart, with what would help: true of
# the servers as they are.
. "${SOURCE:?}/tests/cli/common.sh"
needs_ptrace
if ! command -v strip >/dev/null 2>&1; then
	echo 'strip is not there'
	exit 77
fi

# A program without symbols, of which no server knows.
strip -s -o "$dir/nameless" "$BUILD/tests/cli/actor" || exit 99
ACTOR=$dir/nameless
actor busy
unset DEBUGINFOD_URLS DEBUGINFOD_PROGRESS DEBUGINFOD_VERBOSE
DEBUGINFOD_CACHE_PATH=$dir/cache
no_proxy=127.0.0.1
export DEBUGINFOD_CACHE_PATH no_proxy

# report WORDS…: lines are joined, because they are broken where the width ends
report() {
	run -d 200ms -p "$actor" --full "$@"
	expect_status 0
	tr -s ' \n' '  ' <"$out" >"$dir/joined"
}

# The first screen says that there are such functions, and names their file.
run -d 200ms -p "$actor"
expect_in "$out" '[nameless]'
tr -s ' \n' '  ' <"$out" >"$dir/joined"
expect_in "$dir/joined" 'of the time is in code without symbols'

for by in function line module source; do
	report --by "$by"
	expect_in "$dir/joined" ' symbols are missing in '
	expect_in "$dir/joined" "($dir/nameless"
	expect_in "$dir/joined" 'Names come with the debug packages of these files'
done
report --by function
expect_in "$dir/joined" '(share of the time, and as innermost frame)'
report --by module
expect_in "$dir/joined" '(--by function shows the share of the time)'

# Views of a recording and reports name such code alike, also where its file is missing later.
if command -v sqlite3 >/dev/null 2>&1 && command -v python3 >/dev/null 2>&1; then
	run record -d 300ms -p "$actor" -o "$dir/x.wsdb"
	expect_late_at_most "$dir/x.wsdb"
	sqlite3 -readonly "$dir/x.wsdb" 'SELECT function FROM top_functions' | sort -u >"$dir/views"
	# Each look at the loop finds another address, but there is one row for the function.
	expect_in "$dir/views" 'nameless+0x'
	for file in present missing; do
		[ $file = present ] || rm "$dir/nameless"
		run report -q -f json "$dir/x.wsdb"
		python3 -c 'import json, sys
for at in json.load(sys.stdin)["functions"]: print(at["name"])' <"$out" |
			sort -u >"$dir/reported"
		cmp -s "$dir/views" "$dir/reported" ||
			complain "$file file: $(diff "$dir/views" "$dir/reported")"
	done
	run info "$dir/x.wsdb"
	expect_status 0
	strip -s -o "$dir/nameless" "$BUILD/tests/cli/actor"
fi

report --debuginfod=net
if grep -q 'built without libdebuginfod' "$err"; then
	expect_not_in "$dir/joined" DEBUGINFOD_URLS
	end_actor "$actor"
	finish
fi
expect_in "$dir/joined" ', which is not set now.'
# Nobody listens there.
DEBUGINFOD_URLS=http://127.0.0.1:1
export DEBUGINFOD_URLS
report --debuginfod=cache
expect_in "$dir/joined" ' and --debuginfod=net.'
if readelf -n "$dir/nameless" 2>/dev/null | grep -q 'Build ID'; then
	report --debuginfod=net
	expect_err 'no server is asked any more'
	expect_in "$dir/joined" 'the servers of $DEBUGINFOD_URLS were not asked further: a request failed or took too long.'
fi
end_actor "$actor"
finish
