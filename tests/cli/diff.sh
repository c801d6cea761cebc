#!/bin/sh
# SPDX-License-Identifier: MIT
# Two recordings compared: a program of which one function's share doubles and that says itself how
# long it was in each, in every format; and what cannot be compared.
. "${SOURCE:?}/tests/cli/common.sh"

# what is wrong with the words
usage 'two recordings are compared, not 0' diff
usage 'two recordings are compared, not 1' diff x.wsdb
usage 'two recordings are compared, not 3' diff x.wsdb y.wsdb z.wsdb
usage 'does not write the format pprof; it writes: text, folded, json' diff -f pprof x.wsdb y.wsdb
usage 'a comparison is not a recording' diff -f wsdb x.wsdb y.wsdb
usage '--tid' diff --tid 1 x.wsdb y.wsdb
usage "--from must be a time before" diff --from 2 --to 1 x.wsdb y.wsdb
run diff --help
expect_status 0
expect_in "$out" 'Usage: wallsample diff [OPTIONS] BEFORE AFTER'
expect_not_in "$out" 'pprof'
expect_not_in "$out" 'timeline' # of its page, which has none
run diff missing.wsdb missing.wsdb
expect_status 2
expect_err 'cannot read missing.wsdb: No such file or directory'

# recordings that are kept: two programs, one of which has hostile names; and one with itself
kept=$SOURCE/tests/replay/recordings
for format in text folded json markdown html latex man; do
	run diff --debuginfod=off -f $format "$kept/job.wsdb" "$kept/hostile.wsdb"
	grep -q 'was built without' "$err" && continue
	expect_status 0
	[ -s "$out" ] || complain "$what: nothing was written"
	! LC_ALL=C grep -q "$(printf '[\001-\010\016-\037]')" "$out" || complain "$what: control characters"
done
run diff --debuginfod=off "$kept/job.wsdb" "$kept/job.wsdb"
expect_status 0
expect_in "$out" 'Nothing has changed beyond the margin of error'

needs_ptrace
cd "$dir" || exit 99

# record FILE A B: what the program says of itself goes to FILE.said
record() {
	"$WALLSAMPLE" record -q -r 250 --max-overhead 100 -o "$1.wsdb" -- \
		"$BUILD/tests/cli/actor" naps "$2" "$3" 4000 >"$1.said" 2>"$err" </dev/null ||
		complain "recording $1: $(cat "$err")"
	[ -s "$1.said" ] || complain "recording $1: the program said nothing: $(cat "$err")"
}

record before 40 120
record again 40 120
record after 120 120
echo text >text.wsdb
run diff before.wsdb text.wsdb
expect_status 2
expect_err 'text.wsdb is not a recording of wallsample'
run diff text.wsdb before.wsdb
expect_status 2
[ "$(wc -l <"$err")" -eq 1 ] || complain "$what: more than one line"

# the same twice
run diff before.wsdb before.wsdb
expect_status 0
expect_empty "$err"
expect_in "$out" 'Nothing has changed beyond the margin of error'

# a quarter has become a half, a change of +250 ms in each second
run diff before.wsdb after.wsdb
expect_status 0
expect_in "$out" 'actor naps 40 120 4000'
expect_in "$out" 'actor naps 120 120 4000'
grep -q 'before%  *after%  *points  *function (module)' "$out" ||
	complain "$what: no shares in: $(cat "$out")"
grep -qE '^\+[0-9]+ms .* nap_first \(actor\)$' "$out" || complain "$what: $(cat "$out")"
grep -qE '^-[0-9]+ms .* nap_second \(actor\)$' "$out" || complain "$what: $(cat "$out")"
run diff -I nap_first before.wsdb after.wsdb
expect_in "$out" 'of what was sampled, as selected by options'
expect_in "$out" 'nap_first (actor)'
expect_not_in "$out" 'nap_second'
run diff -I no_such_function before.wsdb after.wsdb
expect_status 0
expect_in "$out" 'No sample was selected.'
run diff --from 100 before.wsdb after.wsdb
expect_status 0
expect_in "$out" 'the first recording has no tick here'
run diff -n 1 --by module before.wsdb after.wsdb
expect_status 0
COLUMNS=60
export COLUMNS
run diff before.wsdb after.wsdb
unset COLUMNS
# awk may count bytes: those of characters outside ASCII are more than their cells
sed 's/…/~/g; s/±/~/g' "$out" | awk 'length > 60 { exit 1 }' || complain "$what: wider than 60 columns: $(cat "$out")"
expect_not_in "$out" 'before%'

# every format, by its name or by the ending of the file
for format in folded json markdown html latex man; do
	[ -z "$("$WALLSAMPLE" diff -f $format before.wsdb after.wsdb 2>&1 >x.$format |
		grep 'was built without')" ] || continue
	expect_in x.$format nap
done
[ ! -s x.html ] || expect_in x.html '</html>'
[ ! -s x.html ] || expect_not_in x.html 'id="graph"'
run diff before.wsdb after.wsdb -o x.json
expect_status 0
expect_err 'wrote json of the comparison to x.json: changed are '

run diff -q before.wsdb again.wsdb -o same.json
expect_status 0
expect_empty "$err"

# the change that is told is what the program says of itself, within the margin
if command -v python3 >/dev/null 2>&1; then
	python3 - <<'PY' || complain 'x.json does not say what the program does'
import json

def shares(name):
    first, second = map(int, open(name + ".said").read().split())
    return {"nap_first": first / (first + second), "nap_second": second / (first + second)}

def check(file, before, after, changed):
    diff = json.load(open(file))
    before, after = shares(before), shares(after)
    assert diff["kind"] == "diff" and diff["sort"] == "wall"
    for function in diff["functions"]:
        if function["name"] not in before:
            continue
        cum = function["cum"]
        truth = after[function["name"]] - before[function["name"]]
        print(file, function["name"], truth, cum)
        assert abs(cum["change"] - truth) <= cum["margin"]
        assert abs(cum["rate"][0] - before[function["name"]]) <= cum["margin"]
        assert cum["found"] or not changed

check("x.json", "before", "after", True)
check("same.json", "before", "again", False)
PY
fi

# the examples of the manual, as far as they are ours alone
cp before.wsdb old.wsdb
cp after.wsdb new.wsdb
sed -n '/^\.SH EXAMPLES/,/^\.EE/p' "$SOURCE/man/wallsample-diff.1" |
	sed -n 's/\\-/-/g; s/\\(aq/'"'"'/g; s/ |.*//; s/^wallsample diff/"$WALLSAMPLE" diff/p' >examples
[ "$(wc -l <examples)" -ge 5 ] || complain "the manual has only these: $(cat examples)"
what='the examples of the manual'
sh -e examples >"$out" 2>"$err" || complain "$what: $(cat "$err")"
expect_empty "$err"
if command -v jq >/dev/null 2>&1; then
	jq -r '.functions[] | select(.flat.found or .cum.found) | .name' x.json >names
	expect_in names nap
fi

# stacks with two weights: those of the two recordings, as if they were of one length
what='folded stacks'
awk 'NF < 3 || $NF !~ /^[0-9]+$/ || $(NF - 1) !~ /^[0-9]+$/ { exit 1 }' x.folded ||
	complain "$what: $(cat x.folded)"
run report -f folded after.wsdb
grep nap_ "$out" | sort >after.folded
grep nap_ x.folded | sed 's/ [0-9]* \([0-9]*\)$/ \1/' | grep -v ' 0$' | sort >of_after.folded
[ -s after.folded ] || complain "$what: no nap in $(cat "$out")"
cmp -s after.folded of_after.folded || complain "$what: $(diff after.folded of_after.folded)"
finish
