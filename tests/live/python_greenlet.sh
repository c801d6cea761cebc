#!/bin/sh
# SPDX-License-Identifier: MIT
# The stack of a greenlet is whole and ends with "[greenlet]": it has the Python functions of the
# greenlet, and no frames of other greenlets. The exit status is 0.
#
# GREENLET_PATH: a directory with the libraries for each version, as in VERSION/greenlet.
. "${SOURCE:?}/tests/live/python_common.sh"

tried=

# Shows the folded stacks with "burn" that are not those of a greenlet alone.
wrong_stacks() {
	grep -E '(^|;)burn[; ]' "$dir/folded" |
		grep -vE '^\[greenlet\];(.*;)?outer;inner;burn[; ]|g_initialstub' || :
	grep -E 'g_initialstub.*;burn[; ]' "$dir/folded"
}

greenlet_of() {
	start_python "$SOURCE/tests/live/targets/python_greenlet.py" "$1"
	if grep -q '^none$' "$says" 2>/dev/null; then
		end_python
		return
	fi
	tried=yes
	what="$version: $1: wallsample"
	run -f folded -o "$dir/folded" -p "$target" -r 200 -d 1
	end_python
	expect_late_at_most "$dir/folded"
	expect_in "$dir/folded" '[greenlet];'
	expect_not_in "$dir/folded" '[truncated'
	[ -z "$(wrong_stacks)" ] || {
		complain "$what: stacks of burn that do not begin with the greenlet:"
		wrong_stacks
	}
}

greenlets() {
	PYTHONPATH=${GREENLET_PATH:+$GREENLET_PATH/$version}
	export PYTHONPATH
	greenlet_of greenlet
	greenlet_of gevent
}

each_python greenlets
if [ -z "$tried" ]; then
	echo 'no CPython has the module greenlet'
	exit 77
fi
finish
