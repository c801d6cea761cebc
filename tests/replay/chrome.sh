#!/bin/bash
# SPDX-License-Identifier: MIT
# Traces made of the recordings kept here: on the track of a thread the slices of functions nest and
# are whole, below it is the track with its states, which follow one another; time in functions, and
# in each state of each thread, is that of the json report of the same recording.
set -u
recordings=${SOURCE:?}/tests/replay/recordings
command -v python3 >/dev/null 2>&1 || { echo 'python3 is not there'; exit 77; }
dir=$(mktemp -d) || exit 99
trap 'rm -rf "$dir"' EXIT
failed=0

cat >"$dir/check.py" <<'PY'
import collections, json, sqlite3, sys

trace = json.load(open(sys.argv[1]))["traceEvents"]
report = json.load(open(sys.argv[2]))
begin_us, end_us = (float(word) for word in sys.argv[3:5])
problems = []

def check(what, holds):
    if not holds:
        problems.append(what)

STATES = 1 << 30  # number of the track of states less that of the first track of the thread
tids = [thread["tid"] for thread in report["threads"]]
slices = collections.defaultdict(list)
for event in trace:
    if event["ph"] == "X" and event["cat"] != "gil":
        slices[event["tid"]].append(event)
        check("a slice before the beginning", event["ts"] >= begin_us)
        check("a slice after the end", event["ts"] + event["dur"] <= end_us)
check("tracks are those of threads and of their states",
      set(slices) <= set(tids) | {STATES + tid for tid in tids})

# Functions nest. One that goes on in the next sample, in the same functions, is one slice.
functions = collections.Counter()
for tid in tids:
    # as readers do it: by time, and what begins together in the order of the file
    open_slices, ended = [], {}
    for event in sorted(slices[tid], key=lambda e: (e["ts"], -e["dur"])):
        check("only functions are on the track of a thread", event["cat"] == "stack")
        end = event["ts"] + event["dur"]
        while open_slices and open_slices[-1][0] <= event["ts"]:
            open_slices.pop()
        check("slices cross", not open_slices or end <= open_slices[-1][0])
        callers = tuple(name for _, name in open_slices)
        if event["name"] not in callers:
            functions[event["name"]] += event["dur"]
        where = callers + (event["name"],)
        # a caller that ended and began again there has ended its callees
        again = event["ts"] == ended.get(where) and event["ts"] != ended.get(where[:-1])
        check("%d: %s is cut at %d" % (tid, event["name"], event["ts"]), not again)
        ended[where] = end
        open_slices.append((end, event["name"]))

# States follow one another, and two that do so differ.
states = collections.Counter()
for tid in tids:
    last, name = 0, None
    for event in sorted(slices[STATES + tid], key=lambda e: e["ts"]):
        check("only states are on a track of states", event["cat"] == "state")
        check("states overlap", event["ts"] >= last)
        check("a state is cut", event["ts"] > last or event["name"] != name)
        last, name = event["ts"] + event["dur"], event["name"]
        # without the awaited object and the relation to the interpreter's lock
        states[tid, name.split(": ")[0].split(" (GIL")[0]] += event["dur"]

# Threads of several processes are on tracks of their own process.
if "targets" in report:
    targets = report["targets"]
    pids = {t["tid"]: targets[t["process"]]["pid"] for t in report["threads"]}
    for event in trace:
        if event["ph"] == "X" or event["name"].startswith("thread_"):
            check("process of a track", event["pid"] == pids[event["tid"] % STATES])
    named = {e["pid"]: e["args"]["name"] for e in trace if e["name"] == "process_name"}
    check("every process has its title",
          named == {t["pid"]: t["command_line"] for t in targets})
    check("counters say that they are of all processes",
          {e["name"] for e in trace if e["ph"] == "C"} == {"threads of all processes"})

names, places = {}, {}
for event in trace:
    if event["name"] == "thread_name" and event["args"]["name"] != "GIL":
        names[event["tid"]] = event["args"]["name"]
    if event["name"] == "thread_sort_index" and event["args"]["sort_index"] >= 0:
        places[event["tid"]] = event["args"]["sort_index"]
wanted = {t["tid"]: t["name"] for t in report["threads"]}
wanted.update({STATES + t["tid"]: "%(name)s-%(tid)d: state" % t for t in report["threads"]})
check("every track has its name", names == wanted)
check("every track has its place", set(places) == set(wanted))
check("places differ", len(set(places.values())) == len(places))
order = sorted(places, key=places.get)
check("states are below their thread", order[1::2] == [STATES + tid for tid in order[::2]])
check("threads are in the order of their ids", order[::2] == sorted(order[::2]))

# Corrections and late looks have a weight but no place: a few ticks.
slack = 8 * report["sampling"]["elapsed_ns"] / report["sampling"]["ticks"] / 1000
wall, cum = collections.Counter(), collections.Counter()
for stack in report["stacks"]:
    call = stack["syscall"]
    state = stack["state"] + (" in " + call if call is not None else "")
    wall[tids[stack["thread"]], state] += stack["wall_ns"] / 1000
    for name in set(report["functions"][n]["name"] for n in stack["functions"]):
        cum[name] += stack["wall_ns"] / 1000
for state in set(wall) | set(states):
    check("%s: %d us, not %d" % (state, states[state], wall[state]),
          abs(states[state] - wall[state]) <= slack)
for name in set(cum) | set(functions):
    check("%s: %d us, not %d" % (name, functions[name], cum[name]),
          abs(functions[name] - cum[name]) <= slack)

# The counter holds from event to event; its mean is that of the histogram or, where the histogram
# agrees with the kernel's count of CPU time and not with the ticks, that of the ticks.
busy, last = 0, None
for event in trace:
    if event["ph"] == "C":
        if last is not None:
            busy += last[1] * (event["ts"] - last[0])
        last = event["ts"], event["args"]["on a CPU"]
check("no thread is on a CPU after the end", last[1] == 0)
cpu = sum(row["cpu_ns"] for row in report["parallelism"]) / 1000
if len(sys.argv) > 5:
    cpu, = sqlite3.connect(sys.argv[5]).execute(
        "SELECT sum(parallelism * span_ns) / 1000.0 FROM ticks").fetchone()
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
		python3 "$dir/check.py" "$dir/trace" "$dir/report" "$begin" "$end" $ticks || {
		echo "$file $*"
		failed=1
	}
}

ticks=
# They began at 1,000 s of the clock and took 1.5 s.
same job 1000000000 1001500500
same hostile 1000000000 1001500500
same job 1000400000 1000850000 --from 0.45 --to 0.85
same job 1000000000 1001500500 --state R
same job 1000000000 1001500500 -I hash_document
same locks-v7 0 1e15
same python-v7 0 1e15
ticks=$recordings/workers.wsdb
same workers 1000000000 1000800100

# Two recordings are two processes, each with the threads of its own.
"$WALLSAMPLE" report -q -f chrome "$recordings/job.wsdb" "$recordings/hostile.wsdb" >"$dir/two"
python3 - "$dir/two" <<'PY' || failed=1
import json, sys
names = [e for e in json.load(open(sys.argv[1]))["traceEvents"] if e["name"] == "process_name"]
assert len({e["pid"] for e in names}) == 2, names
assert names[0]["args"]["name"] == "jobserver 4242 on build", names
PY
exit $failed
