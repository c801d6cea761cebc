#!/bin/sh
# SPDX-License-Identifier: MIT
# A perf map of root is read only if everyone may read it: in a mount namespace of its own, the
# target's user can mount any file of root over one of its own.
. "${SOURCE:?}/tests/cli/common.sh"
needs_ptrace
is_root || { echo 'root is needed'; exit 77; }
command -v setpriv >/dev/null 2>&1 || { echo 'no setpriv'; exit 77; }
nobody='setpriv --reuid=65534 --regid=65534 --clear-groups'

chmod 711 "$dir"
install -m 755 "$BUILD/tests/live/bin/jitter" "$dir/jitter"
$nobody test -x "$dir/jitter" || { echo "user 65534 cannot execute files of $dir"; exit 77; }

# The program ends when its input does.
mkfifo "$dir/in" "$dir/says"
$nobody "$dir/jitter" <"$dir/in" >"$dir/says" &
program=$!
actors="$actors $program"
map=/tmp/perf-$program.map
trap 'kill -KILL $program; rm -f "$map"; clean_up' EXIT
exec 3>"$dir/in"
read -r said <"$dir/says"
[ "$said" = ready ] || { complain "the program said '$said'"; finish; }

# samples MODE: samples with the same perf map, as a file of root with these permissions.
samples() {
	install -m "$1" "$map" "$dir/map"
	mv -f "$dir/map" "$map"
	run -p "$program" -r 200 -d 1 -f folded -o "$dir/folded"
	expect_late_at_most "$dir/folded"
}

samples 0600
expect_err "$map names no code: it belongs to another user than the process"
expect_in "$dir/folded" '[anon]'
expect_not_in "$dir/folded" jit_first
samples 0604
expect_in "$dir/folded" jit_first
expect_not_in "$err" 'names no code'
finish
