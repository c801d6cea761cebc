#!/bin/bash
# SPDX-License-Identifier: MIT
# The first screens of recordings of programs that are slow for one known reason, at 80 and 60
# columns: causes/KIND-COLUMNS.screen. The programs are those of tests/live/targets/causes.c, and
# contend.py for the kind "gil"; tests/live/first_screen.sh samples the running programs. After an
# intended change: UPDATE_GOLDEN=1 make check TESTS=tests/replay/causes.sh, then read the difference
# as a user would.
set -u
causes=${SOURCE:?}/tests/replay/causes
dir=$(mktemp -d) || exit 99
trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit 99
unset DEBUGINFOD_URLS
export TZ=UTC LC_ALL=C
failed=0 count=0

for recording in "$causes"/*.wsdb.gz; do
	kind=$(basename "$recording" .wsdb.gz)
	gzip -dc "$recording" >"$kind.wsdb" || exit 99
	for columns in 80 60; do
		golden=$causes/$kind-$columns.screen
		# The files that code came from are not looked for: this machine may have others.
		# 1: samples of the recording have no stack
		COLUMNS=$columns "${WALLSAMPLE:?}" report -q --debuginfod=off --symfs="$dir/none" \
			"$kind.wsdb" >out 2>err || [ $? -eq 1 ] || {
			echo "$kind: $(cat err)"
			failed=1
			continue
		}
		count=$((count + 1))
		if [ "$(wc -l <out)" -gt 24 ] && [ $columns -eq 80 ]; then
			echo "$kind: more than 24 lines"
			failed=1
		fi
		if [ -n "${UPDATE_GOLDEN:-}" ]; then
			cp out "$golden"
		elif ! diff "$golden" out; then
			echo "$kind at $columns columns is not $golden"
			failed=1
		fi
	done
done
echo "$count screens compared"
[ "$count" -gt 0 ] || failed=1
exit $failed
