#!/bin/bash
# SPDX-License-Identifier: MIT
# The perf format, read as others read such text: stackcollapse-perf.pl where it is installed, and
# always by the rules of four readers, which are not the same. What they find in the golden files
# has to be what is in the golden folded stacks of the same recording, to the nanosecond. Of the
# recordings that are kept here, whose names are worse, they have to find the same as one another.
set -u
: "${WALLSAMPLE:?}"
replay=${SOURCE:?}/tests/replay
command -v python3 >/dev/null 2>&1 || { echo 'python3 is not there'; exit 77; }
dir=$(mktemp -d) || exit 99
trap 'rm -rf "$dir"' EXIT
failed=0

cat >"$dir/read.py" <<'PY'
import collections, re, sys

perf, folded_file, weight = sys.argv[1:4]
collapsed_file = sys.argv[4] if len(sys.argv) > 4 else None
text = open(perf, encoding="utf-8", newline="\n").read()

def fail(*words):
    print(perf + ":", *words)
    sys.exit(1)

# What such text looks like to everybody: comments, then records with an empty line behind each.
if not text.startswith("# ========\n") or not text.endswith("\n\n"):
    fail("no head, or no end")
body = "".join(line for line in text.splitlines(True) if not line.startswith("#"))
if re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029]", body):
    fail("control characters")
records = body[:-2].split("\n\n")

# Rules of readers for the line of a record: thread's name, pid, tid, seconds, period, event.
def by_first_number(line, flags=0):  # speedscope; FlameGraph, to which only ASCII is white space
    comm, pid, tid = re.match(r"(\S.+?)\s+(\d+)/*(\d+)*\s+", line, flags).groups()
    period, event = re.search(r":\s*(\d+)\s+(\S+):$", line, flags).groups()
    seconds = re.search(r"\s(\d+\.\d+):\s", line, flags).group(1)
    return comm, pid, tid, seconds, period, event

def by_last_number(line):            # Firefox Profiler
    before, seconds = re.match(r"(.*)\s+([\d.]+):", line).groups()
    comm, pid, tid = re.match(r"(.*)\s+(\d+)/(\d+)\b", before).groups()
    return comm.strip(), pid, tid, seconds

def by_words(line):                  # inferno
    at = 0
    for word in line.split(" "):
        if at > 0 and word and not word.strip("0123456789/"):
            pid, tid = word.split("/")
            time, rest, end = line[at + len(word):].split(":")
            period, event = rest.split()
            return line[:at].strip(), pid, tid, time.strip(), period, event
        at += len(word) + 1
    fail("no thread in", line)

# And for a frame's: name and module.
def by_parenthesis(line):            # three of them, as far as they agree
    name, module = re.match(r"\s*\w+\s*(.+) \(([^)\s]*)\)$", line).groups()
    return name, module

def by_last_word(line):              # inferno
    name, module = line.lstrip().split(" ", 1)[1].rsplit(" ", 1)
    if not module.startswith("(") or not module.endswith(")"):
        fail("no module in", line)
    return name.strip(), module[1:-1]

stacks = collections.Counter()
collapsed = collections.Counter()
last = 0.0
for record in records:
    head, *frames = record.split("\n")
    first = by_first_number(head)
    if not first == by_words(head) == by_first_number(head, re.ASCII) or \
            first[:4] != by_last_number(head):
        fail("readers differ about", head)
    comm, pid, tid, seconds, period, event = first
    if event != weight or pid != "4242" or not frames:
        fail("wrong:", head)
    if float(seconds) < last:
        fail("not in the order of time:", head)
    last = float(seconds)
    names = []
    for frame in frames:
        name, module = by_parenthesis(frame)
        if (name, module) != by_last_word(frame) or not frame.startswith("\t"):
            fail("readers differ about", frame)
        if name.startswith("(") or "->" in name:
            fail("a reader would skip or part", frame)
        if name == "[unknown]":
            name = "[" + module.rsplit("/", 1)[-1] + "]"
        names.insert(0, name)
    stacks[tid, ";".join(name.replace(";", ":") for name in names)] += int(period)
    tidy = []
    for name in names:
        name = name.replace(";", ":")
        if not re.search(r"\.\(.*\)\.", name):     # of Go
            name = re.sub(r"\((?!anonymous namespace\)).*", "", name)
        tidy.append(re.sub("[\"']", "", name))
    collapsed["%s-%s/%s;%s" % (comm.replace(" ", "_"), pid, tid, ";".join(tidy))] += int(period)

# Folded stacks are in microseconds. What differs by design is in wallsample-formats(5).
folded = collections.Counter()
for line in open(folded_file, encoding="utf-8") if folded_file != "-" else ():
    stack, us = line.rstrip("\n").rsplit(" ", 1)
    thread, stack = stack.split(";", 1)
    names = []
    for name in stack.split(";"):
        name = re.sub(r"^([^/]*)\+0x[0-9a-f]+$", r"[\1]", name)
        name = re.sub(r"^\((.*?)\)", r"[\1]", name)
        names.append(name.replace("->", "- >"))
    folded[thread.rsplit("-", 1)[1], ";".join(names)] += int(us) * 1000
if folded and stacks != folded:
    fail("is not what is in folded stacks:", stacks - folded, folded - stacks)

if collapsed_file:
    theirs = collections.Counter()
    for line in open(collapsed_file, encoding="utf-8"):
        stack, count = line.rstrip("\n").rsplit(" ", 1)
        theirs[stack] += int(count)
    if theirs != collapsed:
        fail("stackcollapse-perf.pl has", theirs - collapsed, "and not", collapsed - theirs)
print("%s: %d records, %d stacks agree%s" % (perf.rsplit("/", 1)[-1], len(records), len(stacks),
      ", with stackcollapse-perf.pl, too" if collapsed_file else ""))
PY

# same WEIGHT PERF FOLDED
same() {
	collapse=$(command -v stackcollapse-perf.pl || command -v stackcollapse-perf) || collapse=
	if [ -n "$collapse" ]; then
		"$collapse" --tid "$2" >"$dir/collapsed" 2>"$dir/err" || failed=1
		[ ! -s "$dir/err" ] || { cat "$dir/err"; failed=1; }
	fi
	python3 "$dir/read.py" "$2" "$3" "$1" ${collapse:+"$dir/collapsed"} || failed=1
}
for name in time time-part; do
	same wall "$replay/$name.perf" "$replay/$name.folded"
done
same latency "$replay/time-latency.perf" "$replay/time-latency.folded"
for name in job hostile; do
	for weight in wall cpu latency; do
		"$WALLSAMPLE" report -q --debuginfod=off --sort $weight -o "$dir/$name-$weight.perf" \
			"$replay/recordings/$name.wsdb" || failed=1
		same $weight "$dir/$name-$weight.perf" -
	done
done

# a word that looks like an id, or like a comment, is part of a name
for comm in 'pool_3/4:x     4242/4243 ' ':4245     4242/4245 ' '_\x0a     4242/4244 '; do
	grep -qF "$comm" "$replay/time.perf" || { echo "no thread $comm"; failed=1; }
done
grep -qF '	               0 [failed: not stopped in 20 ms] ([wallsample])' "$replay/time.perf" ||
	{ echo 'no failure'; failed=1; }
exit $failed
