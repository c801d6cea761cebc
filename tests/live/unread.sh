#!/bin/sh
# SPDX-License-Identifier: MIT
# Of an interpreter whose functions are not shown, a report, its JSON, a dump, a recording and its
# report have one sentence, which names the interpreter and its file. A report on an interpreter
# gives no advice to install debug packages, which would name no function of the program.
. "${SOURCE:?}/tests/cli/common.sh"
needs_ptrace

program=

# until_in FILE PATTERN COMMAND: waits until a line of the file matches the pattern, while the
# program lives. COMMAND is for the message if it has ended.
until_in() {
	until grep -qs "$2" "$1"; do
		kill -0 "$program" || { complain "$3: has ended"; finish; }
	done
}

# start FILE COMMAND…: starts the program in the background, and waits until it has mapped the file.
start() {
	file=$1
	shift
	"$@" >/dev/null 2>&1 </dev/null &
	program=$!
	actors="$actors $program"
	until_in "/proc/$program/maps" "$file" "$*"
}

# start_loop COMMAND…: starts the program in the background, and waits until it has printed "ready":
# a sample of its start may be in a library without symbols that is not its interpreter, and the
# report then advises to install the symbols of that library.
start_loop() {
	: >"$dir/printed"
	"$@" >"$dir/printed" 2>/dev/null </dev/null &
	program=$!
	actors="$actors $program"
	until_in "$dir/printed" ready "$*"
}

# says_once FILE TEXT: exactly one line of the file contains the text, white space apart.
says_once() {
	[ "$(tr -s ' \n' '  ' <"$1" | grep -oF -e "$2" | wc -l)" -eq 1 ] && return
	complain "$what: not once '$2' in:"
	sed 's/^/    /' "$1"
}

# Folded stacks have no sentences; the status is 0 or, if machine code of the interpreter cannot be
# unwound, 1.
sentence() {
	[ "$status" -le 1 ] || expect_status 0
	says_once "$1" "$2"
}

# is_unread FILE TEXT COMMAND…
is_unread() {
	unread_file=$1 text=$2
	shift 2
	start "$unread_file" "$@"
	what="$*: wallsample"
	run -p "$program" -d 0.3 --full -o "$dir/report"
	sentence "$dir/report" "Not read $text"
	says_once "$err" "$text"
	expect_not_in "$dir/report" 'debug packages'
	run -p "$program" -d 0.1 -f json -o "$dir/json"
	sentence "$dir/json" "\"runtimes_not_read\":\"$text\""
	run dump -p "$program"
	sentence "$out" "$text"
	run record -p "$program" -d 0.1 -o "$dir/recording.wsdb"
	run report --full "$dir/recording.wsdb"
	sentence "$out" "Not read $text"
	run info "$dir/recording.wsdb"
	sentence "$out" "Not read $text"
	run -p "$program" -d 0.1 --runtime none --full -o "$dir/report"
	expect_not_in "$dir/report" 'Not read'
	rm -f "$dir/recording.wsdb"
	kill -KILL "$program"
	wait "$program" 2>/dev/null
}

# library NAME [SYMBOL]: makes a library, which has the function SYMBOL.
library() {
	printf 'int %s(void) { return 0; }\n' "${2:-nothing}" >"$dir/library.c"
	cc -shared -fPIC -o "$dir/$1" "$dir/library.c"
}

# These have the names and symbols of interpreters, and no interpreter in them.
if command -v cc >/dev/null 2>&1; then
	old='its version is'
	library libj9vm29.so
	is_unread libj9vm29.so \
		'Java methods are not shown: wallsample does not read OpenJ9 (libj9vm29.so)' \
		env LD_PRELOAD="$dir/libj9vm29.so" sleep 60
	library libruby-9.1.so.9.1
	is_unread libruby-9.1 \
		'Ruby functions are not shown: wallsample does not read Ruby (libruby-9.1.so.9.1)' \
		env LD_PRELOAD="$dir/libruby-9.1.so.9.1" sleep 60
	library libpython2.7.so.1.0 PyEval_EvalFrameEx
	is_unread libpython2.7 \
		"Python functions are not shown: the CPython in libpython2.7.so.1.0 cannot be read: $old 2.7, and 3.8 is the oldest that is known" \
		env LD_PRELOAD="$dir/libpython2.7.so.1.0" sleep 60
	library libpypy9-c.so pypy_execute_source
	is_unread libpypy9 \
		'Python functions are not shown: the PyPy in libpypy9-c.so cannot be read: only CPython is, from version 3.8 on' \
		env LD_PRELOAD="$dir/libpypy9-c.so" sleep 60
	# These names are those of no interpreter.
	for name in librubyists.so libluaxx.so libRx.so; do
		library "$name"
		start "$name" env LD_PRELOAD="$dir/$name" sleep 60
		what="$name: wallsample"
		run -p "$program" -d 0.1 --full -o "$dir/report"
		expect_status 0
		expect_not_in "$dir/report" 'Not read'
	done
fi

# The interpreters of this machine, in programs that use CPU time.
loop='
import sys
def work(count):
    for number in range(count):
        pass
work(100000)
print("ready")
sys.stdout.flush()
while True:
    work(1000)
'
for python in pypy3 "${HOME:-/nowhere}"/.pyenv/versions/2.7.*/bin/python \
	"${HOME:-/nowhere}"/.pyenv/versions/3.[67].*/bin/python; do
	command -v "$python" >/dev/null 2>&1 || continue
	file=$("$python" -c 'import sys
print("libpypy" if "PyPy" in sys.version else "libpython%d.%d" % sys.version_info[:2])')
	start_loop "$python" -c "$loop"
	what="$python: wallsample"
	run -p "$program" -d 0.5 --full -o "$dir/report"
	sentence "$dir/report" 'Not read Python functions are not shown: the '
	says_once "$dir/report" "in $file"
	expect_not_in "$dir/report" 'debug packages'
	kill -KILL "$program"
	wait "$program" 2>/dev/null
done
if command -v ruby >/dev/null 2>&1; then
	start_loop ruby -e 'puts "ready"; $stdout.flush; loop { 1000.times { |n| n + 1 } }'
	what='ruby: wallsample'
	run -p "$program" -d 0.5 --full -o "$dir/report"
	sentence "$dir/report" 'Not read Ruby functions are not shown: wallsample does not read Ruby ('
	expect_not_in "$dir/report" 'debug packages'
fi
finish
