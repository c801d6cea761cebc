#!/bin/sh
# SPDX-License-Identifier: MIT
# Twenty threads that sleep for 20 ms and then compute for 0.1 ms: the share of the function that
# computes in their CPU time is what their clocks say.
. "${SOURCE:?}/tests/cli/common.sh"

# Fewer exact samples tell too little: the machine is busy.
LEAST_EXACT=60

needs_ptrace
mkfifo "$dir/gate" "$dir/ready"
"$BUILD/tests/live/bin/shares" naps 20 <"$dir/gate" >"$dir/ready" &
naps=$!
actors="$actors $naps"
exec 5>"$dir/gate" 6<"$dir/ready"
read -r said <&6
[ "$said" = ready ] || complain "the target says '$said'"
run record -q -p "$naps" -d 6 -r 300 --max-overhead 100 -o "$dir/naps.wsdb"
expect_late_at_most "$dir/naps.wsdb"
exec 5>&-
read -r _ drudge <&6
read -r _ cpu <&6
wait "$naps" || complain "the target ended with status $?"
run report -f json -o "$dir/naps.json" "$dir/naps.wsdb"
expect_status 0
run report -f folded --state R -o "$dir/naps.folded" "$dir/naps.wsdb"
expect_status 0

# figure NAME: a figure of "cost", "running" in the report as JSON.
figure() {
	grep -o '"running": *{[^}]*}' "$dir/naps.json" | grep -o "\"$1\": *[0-9]*" |
		grep -o '[0-9]*$'
}

samples=$(figure samples)
exact=$(figure exact)
if [ "${exact:-0}" -lt "$LEAST_EXACT" ] || [ $((exact * 2)) -lt "${samples:-0}" ]; then
	[ "$failed" = 0 ] || finish
	echo "the machine is too busy: ${exact:-none} of ${samples:-no} samples are exact"
	exit 77
fi
# Five standard deviations of a share of so many samples, and 0.05 for what is not random.
awk -v drudge="$drudge" -v cpu="$cpu" -v exact="$exact" '
	{ all += $NF }
	/;drudge(;|$| )/ { found += $NF }
	END {
		truth = drudge / cpu
		share = all > 0 ? found / all : 0
		bound = 5 * sqrt(truth * (1 - truth) / exact) + 0.05
		printf("%.3f of the CPU time is in drudge, by the clocks %.3f +- %.3f\n",
		       share, truth, bound)
		exit share < truth - bound || share > truth + bound
	}' "$dir/naps.folded" >"$dir/share" || complain "$(cat "$dir/share")"
cat "$dir/share"
finish
