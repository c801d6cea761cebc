#!/bin/bash
# SPDX-License-Identifier: MIT
# The golden files of the speedscope format are what its schema wants; their parts agree with one
# another, with the golden folded stacks of the same samples, and at each tick with the golden
# file of the perf format.
set -u
replay=${SOURCE:?}/tests/replay
command -v python3 >/dev/null 2>&1 || { echo 'python3 is not there'; exit 77; }
dir=$(mktemp -d) || exit 99
trap 'rm -rf "$dir"' EXIT
failed=0

cat >"$dir/read.py" <<'PY'
import collections, json, re, sys

file, folded_file, weight, perf = (sys.argv[1:] + [None])[:4]
text = open(file, encoding="utf-8").read()
scope = json.loads(text)

def check(what, holds):
    if not holds:
        print(file + ":", what)
        sys.exit(1)

def only(thing, keys, maybe=()):
    check("keys %s" % list(thing), set(keys) <= set(thing) <= set(keys) | set(maybe))

# The schema, and what the viewer takes for granted.
check("more than printable ASCII", re.fullmatch("[\n -~]*", text))
only(scope, ["$schema", "exporter", "name", "activeProfileIndex", "profiles", "shared"])
only(scope["shared"], ["frames"])
check("schema", scope["$schema"] == "https://www.speedscope.app/file-format-schema.json")
check("active", scope["activeProfileIndex"] == 0)
frames = scope["shared"]["frames"]
for frame in frames:
    only(frame, ["name"], ["file", "line"])
    check("frame %s" % frame, isinstance(frame["name"], str) and frame.get("line", 1) > 0)
used = set()
for profile in scope["profiles"]:
    only(profile, ["type", "name", "unit", "startValue", "endValue", "samples", "weights"])
    check("type", profile["type"] == "sampled" and profile["unit"] == "nanoseconds")
    samples, weights = profile["samples"], profile["weights"]
    check("as many weights as samples", len(samples) == len(weights))
    check("weights", all(isinstance(ns, int) and ns > 0 for ns in weights))
    # samples are laid one behind the other from 0 on: they have to reach the end
    check("begins at 0", profile["startValue"] == 0)
    check("sum of %s" % profile["name"], sum(weights) == profile["endValue"])
    check("one sample for one stack", all(a != b for a, b in zip(samples, samples[1:])))
    for sample in samples:
        used |= set(sample)
check("frames are the ones that are used", used == set(range(len(frames))))

# The state is innermost, where there is one; --by line has a line behind each name.
states = ("[sleeping", "[waiting for", "[uninterruptible", "[stopped")
def names(sample):
    words = [frames[number]["name"] for number in sample]
    if words[-1].startswith(states):
        words.pop()
    words = [re.sub(r" \([^() ]*:[0-9]+\)$", "", word) for word in words]
    return ";".join(word.replace(";", ":") for word in words)

folded = collections.Counter()
by_thread = collections.Counter()
for line in open(folded_file, encoding="utf-8"):
    stack, us = line.rstrip("\n").rsplit(" ", 1)
    if perf:
        thread, stack = stack.split(";", 1)
        by_thread[thread, stack] += int(us) * 1000
    folded[stack] += int(us) * 1000

# All threads: the total of the report. -t puts the thread in front.
whole, *timelines = scope["profiles"]
check("name of the first", whole["name"] == "all threads (%s)" % weight)
threads = [timeline["name"] for timeline in timelines]
mine = collections.Counter()
for sample, ns in zip(whole["samples"], whole["weights"]):
    if threads and frames[sample[0]]["name"] in threads:
        sample = sample[1:]
    mine[names(sample)] += ns
for stack in set(mine) | set(folded):
    # who folds rounds to microseconds, up if there is less than one
    check("%s: %d and not %d" % (stack, mine[stack], folded[stack]),
          abs(mine[stack] - folded[stack]) < (1 if perf else 1000))

# Timelines: one axis, and by wall time all that is in the report.
check("one axis", len(set(timeline["endValue"] for timeline in timelines)) < 2)
if perf and weight == "wall":
    mine = collections.Counter()
    for timeline in timelines:
        for sample, ns in zip(timeline["samples"], timeline["weights"]):
            if sample:
                mine[timeline["name"].replace(";", ":"), names(sample)] += ns
    check("timelines: %s, and not %s" % (mine - by_thread, by_thread - mine), mine == by_thread)

# At each tick of each thread its timeline has the stack that perf's record has.
def at(timeline, ns):
    for sample, length in zip(timeline["samples"], timeline["weights"]):
        if ns < length:
            return sample
        ns -= length

records = 0
for record in open(perf, encoding="utf-8").read().split("\n\n") if perf else ():
    lines = [line for line in record.split("\n") if line and not line.startswith("#")]
    if not lines:
        continue
    tid, seconds, us = re.search(r"4242/(\d+) +(\d+)\.(\d+):", lines[0]).groups()
    # of the tick that ends then; the recording begins at 50.000002
    ns = (int(seconds) - 50) * 1000000000 + int(us) * 1000 - 2000 - 1
    timeline, = [timeline for timeline in timelines if timeline["name"].endswith("-" + tid)]
    sample = at(timeline, ns)
    check("%s at %d: nothing is known" % (tid, ns), sample)
    stack = names(sample).split(";")
    check("%s at %d: %s" % (tid, ns, stack), len(stack) == len(lines) - 1)
    for name, line in zip(reversed(stack), lines[1:]):
        theirs = line[18:].rsplit(" (", 1)[0].replace(";", ":")
        theirs = theirs.replace("[anon", "(anon").replace("ace]", "ace)").replace("- >", "->")
        check("%s at %d: %s and not %s" % (tid, ns, name, theirs),
              name == theirs or theirs == "[unknown]" and "+0x" in name)
    records += 1
print("%s: %d profiles, %d frames, %d records agree" %
      (file.rsplit("/", 1)[-1], len(scope["profiles"]), len(frames), records))
PY

# same WEIGHT SPEEDSCOPE FOLDED [PERF]
same() {
	python3 -W ignore "$dir/read.py" "$replay/$2" "$replay/$3" "$1" ${4:+"$replay/$4"} || failed=1
}
same latency stacks.speedscope.json stacks-latency.folded
same wall time.speedscope.json time.folded time.perf
same latency time-latency.speedscope.json time-latency.folded time-latency.perf
same wall time-part.speedscope.json time-part.folded time-part.perf

# What a thread did asleep: half of its time in one call, half in the other.
for state in '[sleeping in futex]' '[sleeping in epoll_wait]' '[waiting for a CPU]' \
	'[uninterruptible in a page fault]'; do
	grep -qF "{\"name\":\"$state\"}" "$replay/time.speedscope.json" ||
		{ echo "no frame $state"; failed=1; }
done
grep -qF '{"file":"work.h","line":9,"name":"handle<int>::operator-> (work.h:9)"}' \
	"$replay/time-latency.speedscope.json" || { echo 'no line'; failed=1; }
exit $failed
