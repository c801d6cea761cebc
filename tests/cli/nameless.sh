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

# A program without symbols, and without a build-id: no server can be asked for it.
strip -s -R .note.gnu.build-id -o "$dir/nameless" "$BUILD/tests/cli/actor" || exit 99
ACTOR=$dir/nameless
actor busy
unset DEBUGINFOD_URLS DEBUGINFOD_PROGRESS DEBUGINFOD_VERBOSE
DEBUGINFOD_CACHE_PATH=$dir/cache
export DEBUGINFOD_CACHE_PATH

# report WORDS…: lines are joined, because they are broken where the width ends
report() {
	run -d 200ms -p "$actor" "$@"
	expect_status 0
	tr -s ' \n' '  ' <"$out" >"$dir/joined"
}

for by in function line module source; do
	report --by "$by"
	expect_in "$dir/joined" ' frames without a symbol ('
	expect_in "$dir/joined" "($dir/nameless"
	expect_in "$dir/joined" 'Names come with the debug packages of these files'
done
report --by function
expect_in "$dir/joined" '(share of the time, and as innermost)'
report --by module
expect_in "$dir/joined" '(--by function tells their share of the time)'
end_actor "$actor"
finish
