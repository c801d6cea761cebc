#!/bin/sh
# SPDX-License-Identifier: MIT
# A perf map that belongs to root is read only if everyone may read it: in a mount namespace of its
# own, the target's user can mount any file of root over one of its own.
. "${SOURCE:?}/tests/cli/common.sh"
needs_ptrace
is_root || { echo 'root is needed'; exit 77; }
command -v setpriv >/dev/null 2>&1 || { echo 'no setpriv'; exit 77; }

# The program ends when its input does.
mkfifo "$dir/in" "$dir/says"
cp "$BUILD/tests/live/bin/jitter" "$dir/jitter"
chmod 711 "$dir"
setpriv --reuid=65534 --regid=65534 --clear-groups "$dir/jitter" <"$dir/in" >"$dir/says" &
program=$!
actors="$actors $program"
exec 3>"$dir/in"
read -r said <"$dir/says"
[ "$said" = ready ] || { complain "the program said '$said'"; finish; }
map=/tmp/perf-$program.map
what='a perf map of root'

# samples MODE: samples with a perf map of root that has these permissions.
samples() {
	cp "$map" "$dir/map"
	rm "$map"
	(umask 077; cp "$dir/map" "$map")
	chmod "$1" "$map"
	run -p "$program" -d 0.3 -f folded -o "$dir/folded"
}

samples 0600
expect_err "$map names no code: it belongs to root, and not everyone may read it"
expect_not_in "$dir/folded" jit_first
samples 0604
expect_in "$dir/folded" jit_first
expect_not_in "$err" 'names no code'
rm -f "$map"
finish
