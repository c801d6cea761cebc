#!/bin/sh
# SPDX-License-Identifier: MIT
# 50,000 threads alive: all are seen, none is stopped, and the report is complete.
. "${SOURCE:?}/tests/cli/common.sh"
needs_ptrace
[ "$(id -u)" -eq 0 ] || { echo 'only root can raise the limits'; exit 77; }
awk '$1 == "MemAvailable:" { exit $2 > 4000000 }' /proc/meminfo && {
	echo 'less than 4 GB of memory'
	exit 77
}

# raise FILE LEAST: stores the old value in $old
raise() {
	old=$(cat "$1") || old=0
	[ "$old" -ge "$2" ] || echo "$2" >"$1"
}
raise /proc/sys/kernel/pid_max 120000 && pid_max=$old || { echo 'pid_max is fixed'; exit 77; }
raise /proc/sys/vm/max_map_count 250000 && map_count=$old || { echo 'limits are fixed'; exit 77; }
restore() {
	clean_up
	echo "$pid_max" >/proc/sys/kernel/pid_max
	echo "$map_count" >/proc/sys/vm/max_map_count
}
trap restore EXIT

mkfifo "$dir/throng"
"$BUILD/tests/live/bin/throng" 50000 <"$dir/throng" >"$dir/ready" &
target=$!
actors="$actors $target"
exec 5>"$dir/throng"
until [ -s "$dir/ready" ] || ! kill -0 "$target" 2>/dev/null; do sleep 0.1; done
there=$(find "/proc/$target/task" -mindepth 1 -maxdepth 1 | wc -l)
if [ "$there" -lt 50001 ]; then
	echo "left out: only $there threads could be started"
	exec 5>&-
	exit 77
fi
run -q -p "$target" -d 3 --full
expect_late_at_most "$out"
expect_in "$out" "Threads   $(printf '%s' "$there" | sed 's/...$/,&/') seen"
expect_in "$out" 'Stops     no thread was stopped'
exec 5>&-
wait "$target" || complain 'the target did not exit with status 0'
finish
