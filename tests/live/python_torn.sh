#!/bin/sh
# SPDX-License-Identifier: MIT
# The Python stack of a thread that runs is one that there can be: a target goes from one call path
# to another as fast as it can on one CPU, and is sampled from another.
. "${SOURCE:?}/tests/live/python_common.sh"

# TORN_SECONDS is for those who look for a bug.
seconds=${TORN_SECONDS:-2.5}

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

torn() {
	start_python "$SOURCE/tests/live/targets/python_torn.py"
	record -p "$target" -r 1000 --max-overhead 100 -d "$seconds"
	end_python
	judge torn "$says"
}

each_python torn
finish
