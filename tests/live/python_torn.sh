#!/bin/sh
# SPDX-License-Identifier: MIT
# The Python stack of a thread that runs is one that there can be: a target goes from one call path
# to another as fast as it can on one CPU, and is sampled from another; then it is looked at after
# each single instruction of some rounds.
. "${SOURCE:?}/tests/live/python_common.sh"

# These are for those who look for a bug.
seconds=${TORN_SECONDS:-2.2}
steps=${TORN_STEPS:-20000}

python_runs_on=
sampler_runs_on=
cpus=$("$judging" -c 'import os; print(*sorted(os.sched_getaffinity(0))[:2])')
case $cpus in *' '*)
	if command -v taskset >/dev/null; then
		python_runs_on="taskset -c ${cpus#* }"
		sampler_runs_on="taskset -c ${cpus% *}"
	fi
	;;
esac

steps() {
	if ${sampler_runs_on:-} "$BUILD/tests/live/python_steps" "$target" "$says" "$steps" \
		>"$out" 2>&1; then
		printf '%s: steps: %s\n' "$version" "$(tail -n 1 "$out")"
	else
		complain "$version: after single instructions stacks of $python are wrong"
		cat "$out"
	fi
}

torn() {
	start_python "$SOURCE/tests/live/targets/python_torn.py"
	steps
	# On a machine that is busy some stops come too late.
	record_in_part -p "$target" -r 1000 --max-overhead 100 --max-stopped 100 -d "$seconds"
	end_python
	judge torn "$says"
}

each_python torn
finish
