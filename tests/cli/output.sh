#!/bin/sh
# SPDX-License-Identifier: MIT
# Where the output goes: names, formats, what may be replaced, and what is told when it
# cannot be written.
. "${SOURCE:?}/tests/cli/common.sh"
needs_ptrace

actor park
pid=$actor
cd "$dir" || exit 99
mkdir here
cd here || exit 99

# sample WORDS…: for a moment
sample() {
	run -d 50ms -p "$pid" "$@"
}

# written FILE FORMAT: whole, alone, and said
written() {
	expect_status 0
	expect_empty "$out"
	[ -f "$1" ] && [ ! -L "$1" ] || complain "$what: no file $1 but $(ls -A)"
	expect_err "wrote $2 to $1: "
	case $2 in
	folded*) grep -qE '^[^ ].* [0-9]+$' "$1" || complain "$what: not folded: $(cat "$1")" ;;
	text*) expect_in "$1" "WHY IT IS SLOW" ;;
	esac
	rm -f "$1"
	[ -z "$(ls -A)" ] || complain "$what: left behind $(ls -A)"
}

sample -o x.folded
written x.folded 'folded stacks'
sample -o x.txt
written x.txt 'text report'
sample -o x.log
written x.log 'text report'
sample -o x
written x 'text report'
sample -o x.1234
written x.1234 'text report'
sample -o x.pdf -f folded
written x.pdf 'folded stacks'
sample -o x.folded -f text
written x.folded 'text report'
sample -o "$dir/here/x.collapsed"
written "$dir/here/x.collapsed" 'folded stacks'

# the parts of a name that are filled in
host=$(uname -n | tr / _)
sample -o "p%p-h%h-%%.txt"
written "p$pid-h$host-%.txt" 'text report'
WALLSAMPLE_TEST=a/../b
export WALLSAMPLE_TEST
sample -o '%{WALLSAMPLE_TEST}.folded'
written 'a_.._b.folded' 'folded stacks'
WALLSAMPLE_TEST=..
sample -o '%{WALLSAMPLE_TEST}'
written '_' 'text report'
sample -q -o 'at-%t.folded'
expect_status 0
expect_empty "$err"
ls | grep -qxE 'at-[0-9]{8}-[0-9]{6}\.folded' || complain "$what: $(ls -A)"
rm -f at-*

# what was there is replaced as a whole; the umask is honoured
echo old >x.folded
chmod 600 x.folded
ln x.folded other-name
sample -o x.folded
expect_status 0
expect_not_in x.folded old
expect_in other-name old
rm -f x.folded other-name
(
	umask 077
	sample -q -o x.folded
	exit "$status"
) || complain "$what: status $?"
[ "$(stat -c %a x.folded)" = 600 ] || complain "$what: mode $(stat -c %a x.folded)"
rm -f x.folded

# refused_output TEXT FILE: before anything is sampled
refused_output() {
	run -p "$pid" -o "$2"
	expect_status 2
	expect_err "cannot write to $2: $1"
	expect_not_in "$err" 'sampling process'
}

echo victim >victim
ln -s victim link
ln -s nowhere dangling
mkdir folder
refused_output 'it is a symbolic link' link
refused_output 'it is a symbolic link' dangling
refused_output 'Is a directory' folder
refused_output 'Is a directory' folder/
refused_output 'No such file or directory' nowhere/x
refused_output 'Not a directory' victim/x
[ "$(cat victim)" = victim ] || complain 'a file was written through a link'
[ ! -e nowhere ] || complain 'a file was made through a link'
if [ -b /dev/loop0 ]; then
	refused_output 'it is no file' /dev/loop0
fi

# links in the folder's own path: root follows those of root alone
ln -s folder good
sample -q -o good/x.folded
expect_status 0
[ -s folder/x.folded ] || complain "$what: nothing in the folder behind the link"
rm -f folder/x.folded
ln -s "$dir/here/good" ./absolute
sample -q -o ./absolute/../folder/x.folded
expect_status 0
[ -s folder/x.folded ] || complain "$what: nothing in the folder behind two links"
rm -f folder/x.folded
ln -s loop loop
refused_output 'Too many levels of symbolic links' loop/x
if is_root; then
	ln -s folder planted
	chown -h 65534 planted
	refused_output "'planted' in it is a symbolic link that does not belong to root" planted/x
	[ -z "$(ls -A folder)" ] || complain 'root followed a link that somebody planted'
fi
rm -rf victim link dangling folder good absolute loop planted

# streams
sample -f folded -o -
expect_status 0
expect_not_in "$err" wrote
grep -q ' [0-9]*$' "$out" || complain "$what: nothing on stdout"
widest() {
	what="wallsample with COLUMNS=$COLUMNS"
	sample -q
	expect_status 0
	[ "$(wc -L <"$out")" -le "$1" ] || complain "$what: wider than $1 columns"
}
COLUMNS=70
export COLUMNS
widest 70
for COLUMNS in 0 -1 x 99999999999999999999; do
	widest 100
done
unset COLUMNS
sample -q -f folded -o /dev/stdout
grep -q ' [0-9]*$' "$out" || complain "$what: nothing on stdout"
sample -q -o /dev/null
expect_status 0
[ -c /dev/null ] || complain '/dev/null was replaced'

mkfifo pipe
"$WALLSAMPLE" -q -d 50ms -p "$pid" -f folded -o pipe 2>"$err" &
begun=$!
cat pipe >"$out"
wait "$begun"
status=$?
begun=
what='wallsample -o pipe'
expect_status 0
[ -p pipe ] || complain 'a pipe was replaced'
grep -q ' [0-9]*$' "$out" || complain "$what: nothing came through"
rm -f pipe

# the end of a pipe that nobody reads
mkfifo pipe
"$WALLSAMPLE" -q -d 50ms -p "$pid" >pipe 2>"$err" &
begun=$!
exec 5<pipe
exec 5<&-
wait "$begun"
status=$?
begun=
what='wallsample | true'
expect_status 2
expect_err 'cannot write to stdout: Broken pipe'
rm -f pipe

if [ -c /dev/full ]; then
	sample -o /dev/full
	expect_status 2
	expect_err 'cannot write to /dev/full: No space left on device'
	what='wallsample >/dev/full'
	"$WALLSAMPLE" -q -d 50ms -p "$pid" >/dev/full 2>"$err"
	status=$?
	expect_status 2
	expect_err 'cannot write to stdout: No space left on device'
fi
what='wallsample >&-'
"$WALLSAMPLE" -p "$pid" >&- 2>"$err"
status=$?
expect_status 2
expect_err 'cannot write to stdout'
expect_not_in "$err" 'sampling process'

expect_unharmed "$pid" S
finish
