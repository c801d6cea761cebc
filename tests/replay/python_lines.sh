#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Line tables of each CPython from 3.8 on that is installed, written by it now: our lines are those
# that it says itself. Those of a release that is in python_lines.txt are also the ones kept there.
set -u
here=${SOURCE:?}/tests/replay
test=${BUILD:?}/tests/unit/runtime/test_python_lines
[ -x "$test" ] || { echo "$test is not there"; exit 77; }
dir=$(mktemp -d) || exit 99
trap 'rm -rf "$dir"' EXIT

found=0
failed=0
shopt -s nullglob
IFS=: read -ra path <<<"$PATH"
for python in "${path[@]/%//python3}" "${path[@]/%//python3.}"{8,9,10,11,12,13,14,15} \
	"${PYENV_ROOT:-$HOME/.pyenv}"/versions/3.*/bin/python3; do
	[ -x "$python" ] || continue
	real=$("$python" -I -S -c 'import sys
if sys.implementation.name == "cpython" and sys.version_info >= (3, 8):
	print(sys.version_info[:3], sys.executable)' 2>/dev/null)
	[ -n "$real" ] && [ ! -e "$dir/${real//[^[:alnum:].]/_}" ] || continue
	lines=$dir/${real//[^[:alnum:].]/_}
	"$python" -I -S -B "$here/python_lines.py" >"$lines" ||
		{ echo "$python cannot say its lines"; failed=1; continue; }
	found=$((found + 1))
	PYTHON_LINES=$lines "$test" >"$dir/log" 2>&1 ||
		{ cat "$dir/log"; echo "of $python"; failed=1; }
	release=$(head -n 1 "$lines")
	grep -qxF "$release" "$here/python_lines.txt" || continue
	# From its own line up to that of the next one.
	awk -v release="$release" '/^python / { in_it = $0 == release } in_it' \
		"$here/python_lines.txt" | cmp - "$lines" ||
		{ echo "$release is kept otherwise: see python_lines.py"; failed=1; }
done
echo "$found interpreters"
[ "$found" != 0 ] || [ $failed != 0 ] || exit 77
exit $failed
