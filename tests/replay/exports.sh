#!/bin/bash
# SPDX-License-Identifier: MIT
# What every exporter makes of the recordings kept here, byte for byte: exports/NAME.FORMAT.
# After a change that is meant: UPDATE_GOLDEN=1 make check TESTS=tests/replay/exports.sh, then
# read the difference as a user would.
set -u
replay=${SOURCE:?}/tests/replay
dir=$(mktemp -d) || exit 99
trap 'rm -rf "$dir"' EXIT
failed=0 count=0
unset COLUMNS DEBUGINFOD_URLS
export TZ=UTC LC_ALL=C

# The registry, as the program names it to who asks for something else.
formats=$("${WALLSAMPLE:?}" report -f none "$replay/recordings/job.wsdb" 2>&1 |
	sed -n 's/.*there are: //p' | tr -d ',')
[ -n "$formats" ] || { echo 'no formats found'; exit 1; }

# strip_assets FILE: has the line "@PATH@" in place of a style or script that is embedded, and
# "@style@" and "@script@" in place of their hashes.
strip_assets() {
	local text asset name
	head -c 20 "$1" | grep -qE '^<(!DOCTYPE|\?xml|svg)' || return 0
	text=$(cat "$1" && printf x)
	for name in src/web/{palette,report,timeline}.css src/web/{labels,report,timeline}.js \
		src/format/{flame.css,flame.js,causal.css}; do
		asset=$(cat "$SOURCE/$name" && printf x)
		text=${text//"${asset%x}"/@$name@$'\n'}
	done
	printf '%s' "${text%x}" |
		sed -E "s/(style|script)-src 'sha256-[A-Za-z0-9+\/=]{44}'/\1-src 'sha256-@\1@'/g" >"$1"
}

# compare NAME OPTIONS…: the output against exports/NAME. The files that code came from are looked
# for in a folder that there is not: whether this machine has them makes no difference.
compare() {
	local name=$1 golden=$replay/exports/$1
	shift
	"$WALLSAMPLE" report -q --debuginfod=off --symfs="$dir/none" "$@" -o "$dir/out" 2>"$dir/err" || {
		if grep -q 'cannot be written: ' "$dir/err"; then
			return
		fi
		echo "$name: $(cat "$dir/err")"
		failed=1
		return
	}
	count=$((count + 1))
	# zlib's bytes are not the same everywhere, what they stand for is
	if gzip -t "$dir/out" 2>/dev/null; then
		gzip -dc <"$dir/out" >"$dir/plain" && mv "$dir/plain" "$dir/out"
	fi
	strip_assets "$dir/out"
	if [ -n "${UPDATE_GOLDEN:-}" ]; then
		mkdir -p "$replay/exports" && cp "$dir/out" "$golden"
	elif ! cmp "$dir/out" "$golden"; then
		diff -a "$golden" "$dir/out" | cut -c 1-200 | head -n 10
		failed=1
	fi
}

for format in $formats; do
	[ "$format" != wsdb ] || continue
	# code has an address or a name, by the files that this machine has: see perf_data.sh
	[ "$format" != perf-data ] && [ "$format" != hotspot ] || continue
	part=
	# a record for each thread and tick: the beginning is enough of it
	[ "$format" != perf ] || part='--to 0.1'
	[ "$format" != text ] || part='--full'
	for recording in job hostile workers; do
		compare "$recording.$format" -f "$format" $part "$replay/recordings/$recording.wsdb"
	done
done
# Options that go through every exporter.
compare job-part.json -f json --from 0.5 --to 1 --parallelism 1-2 "$replay/recordings/job.wsdb"
compare job-latency.folded -f folded -t --sort latency "$replay/recordings/job.wsdb"
compare both.text -f text --full "$replay/recordings/job.wsdb" "$replay/recordings/hostile.wsdb"
# Several processes, kept apart.
for format in text folded svg pprof speedscope; do
	threads='-t' part=
	[ "$format" != pprof ] || threads=
	[ "$format" != text ] || part='--full --tree'
	# shellcheck disable=SC2086  # words, or none
	compare "workers-apart.$format" -f "$format" --processes $threads $part \
		"$replay/recordings/workers.wsdb"
done
compare workers-process.json -f json --process 'logger,*serve 2' "$replay/recordings/workers.wsdb"
compare workers-excluded.text -f text --full --exclude-process 'log*' \
	"$replay/recordings/workers.wsdb"
"$WALLSAMPLE" diff -q --debuginfod=off --symfs="$dir/none" -o "$dir/diff.txt" \
	"$replay/recordings/workers.wsdb" "$replay/recordings/job.wsdb" || failed=1
golden=$replay/exports/workers-diff.text
if [ -n "${UPDATE_GOLDEN:-}" ]; then
	cp "$dir/diff.txt" "$golden"
else
	diff -a "$golden" "$dir/diff.txt" || failed=1
fi
# First screens, which name the recording in the commands that they suggest.
cd "$replay/recordings" || exit 99
for recording in job hostile workers; do
	compare "$recording.screen" -f text $recording.wsdb
	COLUMNS=60 compare "$recording-60.screen" -f text $recording.wsdb
done
compare both.screen -f text job.wsdb hostile.wsdb
compare job-part.screen -f text --from 0.5 --to 1 job.wsdb
compare job-asked.screen -f text -n 3 --tree --focus take_job job.wsdb
echo "$count outputs compared"
exit $failed
