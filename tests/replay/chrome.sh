#!/bin/bash
# SPDX-License-Identifier: MIT
# Traces made of the recordings kept here: their slices nest, each thread is in one state at a
# time, and time in states and functions is that of the json report of the same recording.
set -u
recordings=${SOURCE:?}/tests/replay/recordings
command -v python3 >/dev/null 2>&1 || { echo 'python3 is not there'; exit 77; }
dir=$(mktemp -d) || exit 99
trap 'rm -rf "$dir"' EXIT
failed=0

cat >"$dir/check.py" <<'PY'
import collections, json, sys

trace = json.load(open(sys.argv[1]))["traceEvents"]
report = json.load(open(sys.argv[2]))
begin_us, end_us = (float(word) for word in sys.argv[3:5])
problems = []

def check(what, holds):
    if not holds:
        problems.append(what)

slices = collections.defaultdict(list)
for event in trace:
    if event["ph"] == "X":
        slices[event["tid"]].append(event)
        check("a slice before the beginning", event["ts"] >= begin_us)
        check("a slice after the end", event["ts"] + event["dur"] <= end_us)
states, functions = collections.Counter(), collections.Counter()
for tid, events in slices.items():
    # as readers do it: by time, and what begins together in the order of the file
    events.sort(key=lambda e: (e["ts"], -e["dur"]))
    open_slices = []
    for event in events:
        end = event["ts"] + event["dur"]
        while open_slices and open_slices[-1][0] <= event["ts"]:
            open_slices.pop()
        check("slices cross", not open_slices or end <= open_slices[-1][0])
        check("states are outermost", (event["cat"] == "state") == (not open_slices))
        if event["cat"] == "state":
            states[event["name"]] += event["dur"]
        elif event["name"] not in [name for _, name in open_slices]:
            functions[event["name"]] += event["dur"]
        open_slices.append((end, event["name"]))
named = {e["tid"]: e["args"]["name"] for e in trace if e["name"] == "thread_name"}
check("every thread has its name", named == {t["tid"]: t["name"] for t in report["threads"]})

def state_of(row):
    call = row["syscall"]
    if call is None:
        return row["state"]
    return row["state"] + " in " + call

# Corrections and late looks have a weight but no place: a few ticks.
slack = 8 * report["sampling"]["elapsed_ns"] / report["sampling"]["ticks"] / 1000
wall = collections.Counter()
for row in report["states"]:
    wall[state_of(row)] += row["wall_ns"] / 1000
for state in set(wall) | set(states):
    check("%s: %d us, not %d" % (state, states[state], wall[state]),
          abs(states[state] - wall[state]) <= slack)
cum = collections.Counter()
for stack in report["stacks"]:
    for name in set(report["functions"][n]["name"] for n in stack["functions"]):
        cum[name] += stack["wall_ns"] / 1000
for name in set(cum) | set(functions):
    check("%s: %d us, not %d" % (name, functions[name], cum[name]),
          abs(functions[name] - cum[name]) <= slack)

# The counter holds from event to event; its mean is that of the histogram.
busy, last = 0, None
for event in trace:
    if event["ph"] == "C":
        if last is not None:
            busy += last[1] * (event["ts"] - last[0])
        last = event["ts"], event["args"]["on a CPU"]
check("no thread is on a CPU after the end", last[1] == 0)
cpu = sum(row["cpu_ns"] for row in report["parallelism"]) / 1000
check("%d us of CPU time, not %d" % (busy, cpu), abs(busy - cpu) <= len(trace))

for problem in problems[:20]:
    print(problem)
print("%d slices, %d problems" % (sum(map(len, slices.values())), len(problems)))
sys.exit(bool(problems))
PY

# same NAME BEGIN END OPTIONS…
same() {
	local file=$recordings/$1.wsdb begin=$2 end=$3
	shift 3
	"${WALLSAMPLE:?}" report -q "$@" -f chrome "$file" >"$dir/trace" &&
		"$WALLSAMPLE" report -q "$@" -f json "$file" >"$dir/report" &&
		LC_ALL=C grep -vq '[^ -~]' "$dir/trace" &&
		python3 "$dir/check.py" "$dir/trace" "$dir/report" "$begin" "$end" || {
		echo "$file $*"
		failed=1
	}
}

# They began at 1,000 s of the clock and took 1.5 s.
same job 1000000000 1001500500
same hostile 1000000000 1001500500
same job 1000400000 1000850000 --from 0.45 --to 0.85
same job 1000000000 1001500500 --state R
same job 1000000000 1001500500 -I hash_document

# Two recordings are two processes, each with the threads of its own.
"$WALLSAMPLE" report -q -f chrome "$recordings/job.wsdb" "$recordings/hostile.wsdb" >"$dir/two"
python3 - "$dir/two" <<'PY' || failed=1
import json, sys
names = [e for e in json.load(open(sys.argv[1]))["traceEvents"] if e["name"] == "process_name"]
assert len({e["pid"] for e in names}) == 2, names
assert names[0]["args"]["name"] == "jobserver 4242 on build", names
PY
exit $failed
