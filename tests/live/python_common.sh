# SPDX-License-Identifier: MIT
# python_common.sh - shell functions of the tests of Python programs, which read this file with "."
#
#   $pythons             the paths of all CPythons of the machine from version 3.8 on
#   each_python FUNCTION calls the function for each of them, with its path in $python and its
#                        version in $version
#   start_python ARGS…   starts $python with these arguments and waits until it prints "ready". Its
#                        pid is then in $target, and the lines before "ready" are in the file $says.
#   end_python           ends that process, and appends the lines that it still prints to $says
#   record OPTIONS…      runs wallsample record with these options, into the file $recording
#   record_in_part …     like record; exit status 1 (some samples failed) is accepted
#   judge CHECK ARGS…    compares $recording with what is right, by tests/live/python_check.py
. "${SOURCE:?}/tests/cli/common.sh"
set -f # the paths in $pythons are not patterns

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

# Prints the version and the real path of each CPython. A name in PATH may be a script that chooses
# an interpreter.
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

# PYTHON_ONLY, a pattern of versions, limits a test to these versions, for debugging.
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

# Closes the input of the process, upon which it ends. Its last lines are appended to $says.
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
