#!/bin/bash
# SPDX-License-Identifier: MIT
# The format perf-data, read by perf itself: periods of each event add up to the times of the report,
# each frame that no file explains has its name, and call chains have the right order. If Hotspot is
# installed, its parser has to read both formats without a warning about the file.
set -u
: "${WALLSAMPLE:?}"
replay=${SOURCE:?}/tests/replay
command -v perf >/dev/null 2>&1 && perf version >/dev/null 2>&1 || { echo 'perf is not there'; exit 77; }
command -v python3 >/dev/null 2>&1 || { echo 'python3 is not there'; exit 77; }
dir=$(mktemp -d) || exit 99
trap 'rm -rf "$dir"' EXIT
failed=0
export LC_ALL=C.UTF-8 HOME=$dir DEBUGINFOD_URLS=''

complain() {
	printf '%s\n' "$*"
	failed=1
}

# report FILE OPTIONS…
report() {
	local file=$1
	shift
	"$WALLSAMPLE" report -q --debuginfod=off -o "$file" "$@" || failed=1
}

# The sums of periods, and of the times in the report: a line "EVENT NANOSECONDS" for each event.
cat >"$dir/times.py" <<'PY'
import collections, json, sys

times = collections.Counter()
for stack in json.load(open(sys.argv[1], encoding="utf-8"))["stacks"]:
    event = {"running": "cpu", "waiting for a CPU": "cpu-wait"}.get(stack["state"], "wait")
    times[event] += stack["wall_ns"]
for event in sorted(times):
    print(event, times[event])
PY
for name in job hostile workers; do
	report "$dir/$name.perf.data" "$replay/recordings/$name.wsdb"
	report "$dir/$name.json" "$replay/recordings/$name.wsdb"
	python3 "$dir/times.py" "$dir/$name.json" >"$dir/times" || failed=1
	perf script -f -i "$dir/$name.perf.data" -F event,period 2>"$dir/err" |
		awk '{ sum[$2] += $1 } END { for (e in sum) printf "%s %.0f\n", e, sum[e] }' |
		sed 's/://' | LC_ALL=C sort >"$dir/sums"
	LC_ALL=C sort "$dir/times" | diff - "$dir/sums" || complain "$name: other times"
	[ ! -s "$dir/err" ] || complain "$name: $(cat "$dir/err")"
done

# Processes: perf has the process and name of each thread, and a mapping in each process.
python3 - "$dir/workers.json" >"$dir/wanted" <<'PY' || failed=1
import json, sys

report = json.load(open(sys.argv[1], encoding="utf-8"))
for thread in report["threads"]:
    print(thread["name"], f'{report["targets"][thread["process"]]["pid"]}/{thread["tid"]}')
PY
perf script -f -i "$dir/workers.perf.data" -F comm,pid,tid 2>/dev/null |
	awk 'NF == 2 && $2 ~ "/" { print $1, $2 }' | LC_ALL=C sort -u >"$dir/found"
LC_ALL=C sort "$dir/wanted" | diff - "$dir/found" || complain 'other processes'
perf script -f -i "$dir/workers.perf.data" --show-task-events 2>/dev/null |
	sed -n 's|.*PERF_RECORD_COMM: \([a-z]*:[0-9]*/[0-9]*\)$|\1|p' | LC_ALL=C sort -u >"$dir/found"
sed 's/ /:/' "$dir/wanted" | LC_ALL=C sort | diff - "$dir/found" || complain 'other names'

# Context switches, from which "perf report --latency" knows the parallelism: at each sample, as many
# threads are on a CPU as at its tick in the recording.
cat >"$dir/switches.py" <<'PY'
import re, sqlite3, sys

ticks = {start + span: parallelism for start, span, parallelism in
         sqlite3.connect(sys.argv[1]).execute("SELECT start_ns, span_ns, parallelism FROM ticks")}
running, first, samples = 1, None, 0
for line in sys.stdin:
    seconds, ns = re.search(r" (\d+)\.(\d{9}): ", line + " ").groups()
    at = int(seconds) * 10**9 + int(ns)
    if "PERF_RECORD_SWITCH" in line:
        running += -1 if "OUT" in line else 1
        continue
    first = first if first is not None else at - min(ticks)
    samples += 1
    if ticks.get(at - first) != running:
        sys.exit(f"{line.strip()}: {running} on a CPU, in the recording {ticks.get(at - first)}")
print(samples, "samples with the parallelism of their ticks")
sys.exit(samples < 1000)
PY
perf script -f -i "$dir/job.perf.data" --show-switch-events -F time,event --ns 2>/dev/null |
	python3 "$dir/switches.py" "$replay/recordings/job.wsdb" || complain 'another parallelism'
if perf report --latency -h 2>&1 | grep -q 'unknown option'; then
	echo 'perf has no --latency: not tried'
else
	perf report -f -i "$dir/job.perf.data" --stdio --latency -g none 2>/dev/null |
		grep -qE '^# Latency +Overhead|^# Overhead +Latency' || complain 'no latency'
fi
report "$dir/latency.perf.data" --sort latency "$replay/recordings/job.wsdb"
! perf script -f -i "$dir/latency.perf.data" --show-switch-events 2>/dev/null |
	grep -q PERF_RECORD_SWITCH || complain 'switches beside periods of latency'

# without the first event
report "$dir/wait.perf.data" --state Q,S "$replay/recordings/job.wsdb"
events=$(perf script -f -i "$dir/wait.perf.data" -F event 2>"$dir/err" | tr -d ' ' | sort -u | xargs)
[ "$events" = 'cpu-wait: wait:' ] || complain "events of other states: $events"
[ ! -s "$dir/err" ] || complain "$(cat "$dir/err")"

# Frames of a file that perf does not find have no name; all others have.
perf script -f -i "$dir/job.perf.data" --no-inline -F ip,sym,dso 2>/dev/null >"$dir/frames"
grep -F '[unknown]' "$dir/frames" | grep -v '(/' && complain 'frames without a name'
for frame in 'hash_document (jobserver)' 'worker_main (jobserver)'; do
	grep -qF " $frame (" "$dir/frames" || complain "no frame $frame"
done

# the outermost function first
perf report -f -i "$dir/job.perf.data" --stdio --no-inline --children -g caller --sort sym \
	2>/dev/null >"$dir/graph"
awk '/worker_main/ && !outer { outer = NR }
	/run_job/ && !middle { middle = NR }
	/hash_document/ && !inner { inner = NR }
	END { exit !(outer && outer < middle && middle < inner) }' "$dir/graph" ||
	complain "another order: $(head -n 40 "$dir/graph")"

# functions of interpreted programs, names of every kind
records=$(grep -c ' wall:$' "$replay/time.perf")
perf script -f -i "$replay/time.perf-data" -F tid,event,ip,sym 2>"$dir/err" >"$dir/time"
[ "$(grep -cE ' (cpu|cpu-wait|wait):' "$dir/time")" = "$records" ] ||
	complain "not $records samples: $(head -n 20 "$dir/time")"
[ ! -s "$dir/err" ] || complain "$(cat "$dir/err")"
! grep -F '[unknown]' "$dir/time" || complain 'a name is missing'
grep -qF '[failed: not stopped in 20 ms]' "$dir/time" || complain 'no failure'

for parser in /usr/lib/*/libexec/hotspot-perfparser /usr/libexec/hotspot-perfparser; do
	[ -x "$parser" ] || continue
	for file in "$dir/job.perf.data" "$replay/time.perf-data" "$replay/time.hotspot"; do
		"$parser" --input "$file" --output "$dir/parsed" 2>"$dir/err" ||
			complain "$parser: status $?"
		grep -vE 'SAMPLE_TIME|KSYMBOL|FINISHED_ROUND|MissingElfFile|InvalidKallsyms|^$' "$dir/err" &&
			complain "$parser has read $file"
	done
	strings "$dir/parsed" | grep -qF 'failed: not stopped in 20 ms' ||
		complain "$parser has no name of a frame"
	echo "$parser has read the files"
done
perf version
exit $failed
