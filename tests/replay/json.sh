#!/bin/bash
# SPDX-License-Identifier: MIT
# The golden files of the json format are JSON, their parts agree with one another, and with the
# golden folded stacks of the same made-up profile.
set -u
replay=${SOURCE:?}/tests/replay
command -v python3 >/dev/null 2>&1 || { echo 'python3 is not there'; exit 77; }
failed=0

for file in report.json report-latency.json; do
	python3 -m json.tool "$replay/$file" >/dev/null || failed=1
	# control characters, and text that turns the direction, are escaped
	if LC_ALL=C grep -q '[^ -~]' "$replay/$file"; then
		echo "$file has more than printable ASCII"
		failed=1
	fi
done

# same WEIGHT JSON FOLDED
same() {
	python3 - "$1" "$replay/$2" "$replay/$3" <<'PY' || failed=1
import collections, json, sys

weight, file, folded_file = sys.argv[1:]
report = json.load(open(file))
key = weight + "_ns"
failed = False

def check(what, mine, theirs, most=0):
    global failed
    if abs(mine - theirs) > most:
        print("%s: %s: %s, not %s" % (file, what, mine, theirs))
        failed = True

assert report["schema"] == 1 and report["sampling"]["sort"] == weight
folded = collections.Counter()
for line in open(folded_file, encoding="utf-8"):
    stack, us = line.rstrip("\n").rsplit(" ", 1)
    folded[stack] += int(us)
stacks = collections.Counter()
flat = collections.Counter()
cum = collections.Counter()
threads = collections.Counter()
functions = report["functions"]
for stack in report["stacks"]:
    numbers = stack["functions"]
    for each in ("wall_ns", "cpu_ns", "overhead_ns", "latency_ns"):
        flat[numbers[0], each] += stack[each]
        for number in set(numbers):
            cum[number, each] += stack[each]
        threads[stack["thread"], each] += stack[each]
        check("negative", min(stack[each], 0), 0)
    names = [functions[number]["name"].replace(";", ":") for number in reversed(numbers)]
    stacks[";".join(names)] += stack[key]
for stack in set(stacks) | set(folded):
    check(stack, stacks[stack] / 1000, folded[stack], 1)
for number, function in enumerate(functions):
    for each in ("wall_ns", "cpu_ns", "overhead_ns", "latency_ns"):
        check("flat of " + function["name"], function["flat"][each], flat[number, each])
        check("cum of " + function["name"], function["cum"][each], cum[number, each])
for number, thread in enumerate(report["threads"]):
    for each in ("wall_ns", "cpu_ns", "overhead_ns", "latency_ns"):
        check("thread %d" % thread["tid"], thread[each], threads[number, each])
for each in ("wall_ns", "cpu_ns", "overhead_ns", "latency_ns"):
    check("sum of states", sum(state[each] for state in report["states"]), report["total"][each])
    check("sum of stacks", sum(stack[each] for stack in report["stacks"]), report["total"][each])
order = [function["flat"][key] for function in functions if function["cum"][key] > 0]
check("order", order, sorted(order, reverse=True)) if order != sorted(order, reverse=True) else 0
print("%d stacks and %d functions agree" % (len(stacks), len(functions)))
sys.exit(failed)
PY
}
same wall report.json stacks.folded
same latency report-latency.json stacks-latency.folded
exit $failed
