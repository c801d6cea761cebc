#!/bin/bash
# SPDX-License-Identifier: MIT
# The formats perf-data and hotspot, read by a decoder of its own (perf_data.py): periods have to add
# up to the times of the JSON report to the nanosecond, and records have to be those of the perf
# format.
set -u
: "${WALLSAMPLE:?}"
replay=${SOURCE:?}/tests/replay
command -v python3 >/dev/null 2>&1 || { echo 'python3 is not there'; exit 77; }
dir=$(mktemp -d) || exit 99
trap 'rm -rf "$dir"' EXIT
failed=0

# report FILE OPTIONS…
report() {
	local file=$1
	shift
	"$WALLSAMPLE" report -q --debuginfod=off -o "$file" "$@" || failed=1
}

for name in job hostile workers; do
	recording=$replay/recordings/$name.wsdb
	report "$dir/$name.json" "$recording"
	for weight in wall cpu latency; do
		report "$dir/$name.perf" --sort $weight "$recording"
		for ending in perf.data hotspot; do
			report "$dir/$name-$weight.$ending" --sort $weight "$recording"
			python3 "$replay/perf_data.py" "$dir/$name-$weight.$ending" \
				"$dir/$name.json" "$dir/$name.perf" $weight || failed=1
		done
	done
done

# to a pipe, and a part of the time
report "$dir/part.perf.data" --from 0.5 --to 1 "$replay/recordings/job.wsdb"
report "$dir/part.json" --from 0.5 --to 1 "$replay/recordings/job.wsdb"
report "$dir/part.perf" --from 0.5 --to 1 "$replay/recordings/job.wsdb"
python3 "$replay/perf_data.py" "$dir/part.perf.data" "$dir/part.json" "$dir/part.perf" wall ||
	failed=1
"$WALLSAMPLE" report -q --debuginfod=off -f perf-data --from 0.5 --to 1 \
	"$replay/recordings/job.wsdb" | cmp - "$dir/part.perf.data" || failed=1
exit $failed
