# SPDX-License-Identifier: MIT
# python_common.sh - what the tests of Python programs share; read by them with "."
#
#   $pythons             every CPython of the machine that can be read: 3.8 and later
#   each_python FUNCTION calls it with each of them; $python is it, $version is its version
#   start_python WORDS…  starts $python with them, until it says "ready"; its process is $target,
#                        what it said is in $says. end_python ends it.
#   record WORDS…        a recording of it in $recording; record_in_part: some samples may fail
#   judge WORDS…         tests/live/python_check.py says whether that is right
. "${SOURCE:?}/tests/cli/common.sh"
set -f # words of $pythons are paths

says=$dir/says
recording=$dir/recording.wsdb
target=

paths() {
	(
		set +f
		IFS=:
		for folder in $PATH; do
			ls -d "$folder"/python3 "$folder"/python3.[0-9] "$folder"/python3.[0-9][0-9] \
				"$folder"/python3.[0-9][0-9][dt]
		done
		ls -d "${HOME:-/nowhere}"/.pyenv/versions/*/bin/python3
	) 2>/dev/null
}

# Each prints its version and where it really is: names in PATH may be scripts that choose one.
candidates() {
	paths | while read -r path; do
		"$path" -c 'import os, platform, sys
if sys.implementation.name == "cpython" and sys.version_info >= (3, 8):
    print(platform.python_version(), os.path.realpath(sys.executable))' </dev/null 2>/dev/null
	done | sort -t ' ' -k 2 -u
}

found=$(candidates)
pythons=$(printf '%s\n' "$found" | cut -d ' ' -f 2-)
judging=
for path in $pythons; do
	"$path" -c 'import sqlite3' 2>/dev/null || continue
	judging=$path
	break
done
if [ -z "$judging" ]; then
	echo 'no CPython 3.8 or later with sqlite3'
	exit 77
fi
needs_ptrace

# PYTHON_ONLY, a pattern of versions, is for those who look for a bug.
each_python() {
	for python in $pythons; do
		version=$(printf '%s\n' "$found" | sed -n "s|^\([^ ]*\) $python\$|\1|p")
		case $version in ${PYTHON_ONLY:-*}) "$1" ;; esac
	done
}

start_python() {
	what="$python $*"
	rm -f "$dir/in" "$dir/line" "$says"
	mkfifo "$dir/in" "$dir/line"
	${python_runs_on:-} "$python" "$@" <"$dir/in" >"$dir/line" 2>"$dir/said" &
	target=$!
	actors="$actors $target"
	exec 5>"$dir/in" 6<"$dir/line"
	while IFS= read -r line <&6; do
		[ "$line" != ready ] || return
		printf '%s\n' "$line" >>"$says"
	done
	complain "$what: never said 'ready'"
	sed 's/^/    /' "$dir/said"
	finish
}

# It may say something at its end, which comes to what it has said before.
end_python() {
	exec 5>&-
	cat <&6 >>"$says"
	exec 6<&-
	wait "$target" 2>/dev/null
}

record_in_part() {
	rm -f "$recording"
	${sampler_runs_on:-} "$WALLSAMPLE" record -o "$recording" "$@" >"$out" 2>"$err" </dev/null
	status=$?
	what="$version: wallsample record $*"
	[ "$status" -eq 1 ] || expect_status 0
}

record() {
	record_in_part "$@"
	expect_status 0
}

judge() {
	judged=$1
	shift
	"$judging" -B "$SOURCE/tests/live/python_check.py" "$judged" "$recording" "$version" "$@" &&
		return
	complain "$version: $judged is wrong, of $python"
	[ -z "${PYTHON_KEEP:-}" ] || cp "$recording" "$says" "$PYTHON_KEEP"
}
