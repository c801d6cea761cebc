#!/bin/bash
# SPDX-License-Identifier: MIT
# go tool pprof reads the golden file of the pprof format, and finds in it what is in the golden
# folded stacks of the same made-up profile: flat and cumulative times of all functions.
set -u
PATH=$PATH:/usr/local/go/bin:/usr/lib/go/bin
replay=${SOURCE:?}/tests/replay
for tool in go python3; do
	command -v $tool >/dev/null 2>&1 || { echo "$tool is not there"; exit 77; }
done
go tool -n pprof >/dev/null 2>&1 || { echo 'this go has no pprof'; exit 77; }
dir=$(mktemp -d) || exit 99
trap 'rm -rf "$dir"' EXIT
PPROF_TMPDIR=$dir
export PPROF_TMPDIR
failed=0

cat >"$dir/compare.py" <<'PY'
import collections, re, sys

folded, top = sys.argv[1:]
flat, cum = collections.Counter(), collections.Counter()
for line in open(folded, encoding="utf-8"):
    stack, weight = line.rstrip("\n").rsplit(" ", 1)
    names = stack.split(";")
    flat[names[-1]] += int(weight)
    for name in set(names):
        cum[name] += int(weight)
seen = set()
order = []
for line in open(top, encoding="utf-8"):
    row = re.match(r" *([\d.]+)(?:us)? +\S+ +\S+ +([\d.]+)(?:us)? +\S+  (.*)$", line)
    if not row:
        continue
    name = row[3].replace(";", ":")
    seen.add(name)
    order.append(float(row[1]))
    # folded stacks are rounded to microseconds, each of them
    for what, mine, theirs in (("flat", flat, row[1]), ("cum", cum, row[2])):
        if abs(mine[name] - float(theirs)) > 2:
            sys.exit("%s of %s: %s in pprof, %d in folded stacks" % (what, name, theirs, mine[name]))
missing = [name for name in cum if name not in seen]
if missing or not seen or order != sorted(order, reverse=True):
    sys.exit("not in pprof, or not in order: %s" % missing)
print("%d functions are the same" % len(seen))
PY

# same WEIGHT FOLDED: what pprof says of that weight is what the folded stacks say, with whole
# names: it would shorten those that it takes for C++
same() {
	timeout 120 go tool pprof -top -nodecount=0 -nodefraction=0 \
		-unit=us $1 "$replay/stacks-latency.pprof" >"$dir/top" 2>"$dir/err" ||
		{ cat "$dir/err"; failed=1; return; }
	grep -q "^Type: $2\$" "$dir/top" || { cat "$dir/top"; failed=1; }
	python3 "$dir/compare.py" "$replay/$3" "$dir/top" || { cat "$dir/top"; failed=1; }
}
same '' latency stacks-latency.folded
same -sample_index=wall wall stacks.folded

timeout 120 go tool pprof -traces -sample_index=wall "$replay/stacks-latency.pprof" \
	>"$dir/traces" 2>&1
for label in 'thread:.*pool;\\x1b\]0;x\\x07' 'tid: *4250' 'state: *sleeping' 'syscall: *futex' \
	'evil;\\x1b\[31m\\x0aname 7\\xff'; do
	grep -q "$label" "$dir/traces" || { echo "no trace has $label"; cat "$dir/traces"; failed=1; }
done
exit $failed
