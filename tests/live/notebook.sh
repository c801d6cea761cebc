#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The Python package: its own tests, of which some sample the process they run in, and some run
# cells in a real Jupyter kernel.
. "${SOURCE:?}/tests/cli/common.sh"

# Debian's, for which bootstrap installs what is needed, else whatever else has it.
python=
for candidate in /usr/bin/python3 python3; do
	if "$candidate" -c 'import ipykernel, jupyter_client' 2>/dev/null; then
		python=$candidate
		break
	fi
done
[ -n "$python" ] || {
	echo 'ipykernel and jupyter_client are not there (python3-ipykernel, python3-jupyter-client)'
	exit 77
}
needs_ptrace

PYTHONPATH=$SOURCE/contrib/python PYTHONDONTWRITEBYTECODE=1 TMPDIR=$dir \
	timeout 300 "$python" -m unittest discover -v -s "$SOURCE/contrib/python/tests" >"$out" 2>&1 ||
	complain "the tests of contrib/python, by $python: status $?"
cat "$out"
grep "skipped 'WALLSAMPLE" "$out" && complain 'tests of contrib/python did not get the program'
finish
