#!/bin/sh
# SPDX-License-Identifier: MIT
# Recordings: made with and without a verb, asked again, killed while they are made, without room,
# in folders that cannot be written, by two at once; and what SQL says of them.
. "${SOURCE:?}/tests/cli/common.sh"
needs_ptrace

actor park
pid=$actor
cd "$dir" || exit 99
mkdir here
cd here || exit 99

# alone FILE: it is there, and nothing beside it
alone() {
	[ "$(ls -A)" = "$1" ] || complain "$what: there is $(ls -A) instead of $1"
}

run record -p "$pid" -d 300ms -o x.wsdb
expect_status 0
expect_empty "$out"
expect_err 'wrote recording to x.wsdb: '
alone x.wsdb
run info x.wsdb
expect_status 0
expect_in "$out" "Process    $pid "
expect_in "$out" 'State      whole'
run report x.wsdb
expect_status 0
expect_in "$out" " ($pid)  "
expect_in "$out" 'Recorded 20'
run report --full x.wsdb
expect_status 0
expect_in "$out" "Process   $pid "
expect_in "$out" 'Recorded  '
expect_in "$out" 'Cost and quality of sampling'
run report -f folded x.wsdb
expect_status 0
total=$(awk '{ sum += $NF } END { print sum }' "$out")
[ "${total:-0}" -gt 200000 ] || complain "$what: $total microseconds of 300000"
run report --from -100ms --parallelism 0-4 x.wsdb
expect_status 0
expect_in "$out" 'Part shown: while 0 to 4 threads were on a CPU, from 100 ms before the end'
run report --from 100s x.wsdb
expect_status 0
expect_err 'no sample is among those that were asked for'

# without the verb, and in place of what was there
run -q -p "$pid" -d 100ms -o x.wsdb
expect_status 0
expect_empty "$err"
run -q -p "$pid" -d 100ms -f wsdb -o other
expect_status 0
run report -o both.folded -f folded x.wsdb other
expect_status 0
expect_in "$err" 'wrote folded stacks to both.folded'
run report -t x.wsdb other
expect_in "$out" "Thread $pid (actor)"
rm -f both.folded other
(cd "$dir" && mkdir -p named && cd named && "$WALLSAMPLE" record -q -p "$pid" -d 50ms)
ls "$dir/named" | grep -qxE "wallsample-$pid-[0-9]{8}-[0-9]{6}\.wsdb" ||
	complain "without -o there is $(ls "$dir/named")"

# a run that comes to nothing leaves what was there
cp x.wsdb "$dir/before"
run record -o x.wsdb -- /nowhere/program
expect_status 2
run record -p "$pid" --thread-name 'no such' -d 50ms -o x.wsdb
expect_status 2
cmp -s x.wsdb "$dir/before" || complain "$what: x.wsdb is not what it was"
alone x.wsdb

# a live run of a part; the first tick, which reads the program, may take 0.2 s
run -p "$pid" -d 900ms --from 300ms --to 600ms --max-overhead 100 -f folded
expect_status 0
total=$(awk '{ sum += $NF } END { print sum }' "$out")
[ "${total:-0}" -gt 60000 ] && [ "$total" -lt 600000 ] ||
	complain "$what: $total microseconds, not some 300000"
alone x.wsdb

# killed: what was written is there; the names are found on this machine. The recording is written
# once a second, without a message, and so the file is read until it has samples. USR1 would bring a
# message, but also write the file.
begin record -p "$pid" -o killed.wsdb
i=0
while [ $((i += 1)) -le 600 ]; do
	run info killed.wsdb
	grep -q 'Sampled .*: [1-9]' "$out" && break
	sleep 0.1
done
kill -KILL "$begun"
end_begun 2>/dev/null
run report killed.wsdb
expect_status 0
expect_in "$out" 'never finished'
run info killed.wsdb
expect_in "$out" 'State      never finished'
grep -q 'Own cost .* [1-9][0-9.]* MiB of memory' "$out" ||
	complain "$what: the recording does not have wallsample's own cost up to its end"
expect_unharmed "$pid" S
rm -f killed.wsdb killed.wsdb-wal

# two at once
begin record -p "$pid" -o two.wsdb
run record -p "$pid" -d 50ms -o two.wsdb
expect_status 2
expect_err 'cannot write to two.wsdb: another wallsample is writing it'
run info two.wsdb
expect_status 0
expect_in "$out" 'being written at this moment'
# and it is taken away: sampling ends, and says so
rm two.wsdb
end_begun
expect_status 2
expect_err 'cannot write to two.wsdb: the file was removed or replaced while it was written'
alone x.wsdb

# one with experiments
run info "$SOURCE/tests/fuzz/corpus/recording/causal.wsdb"
expect_status 0
expect_in "$out" 'Causal     2 candidates, 16 experiments in 16 s, of which 2 s held; progress: requests'

# no room: the file stays whole
(
	ulimit -f 260
	"$WALLSAMPLE" record -r 2000 --max-overhead 100 -p "$pid" -d 20 -o little.wsdb 2>"$err"
)
what='a recording that does not fit'
expect_in "$err" 'cannot write to little.wsdb'
if [ -e little.wsdb-wal ]; then
	said='the samples of the first .* are in two files, little.wsdb and little.wsdb-wal'
else
	said='the recording has the samples of the first '
fi
grep -q "$said" "$err" || complain "what is left is not mentioned: $(cat "$err")"
run info little.wsdb
expect_status 0
rm -f little.wsdb little.wsdb-wal

# a folder that cannot be written, links, streams
if ! is_root; then
	mkdir closed
	chmod 555 closed
	run record -p "$pid" -o closed/x.wsdb
	expect_status 2
	expect_err 'cannot write to closed/x.wsdb: Permission denied'
	rmdir closed
fi
ln -s nowhere link.wsdb
run record -p "$pid" -d 50ms -o link.wsdb
expect_status 2
expect_err 'cannot write to link.wsdb: it is no regular file'
rm link.wsdb
run record -p "$pid" -o nowhere/x.wsdb
expect_status 2
expect_err 'cannot write to nowhere/x.wsdb: No such file or directory'
run record -p "$pid" -o /dev/null
expect_status 2
expect_err 'it is no regular file'
[ -c /dev/null ] || complain '/dev/null was replaced'

# what is no recording
echo text >text.wsdb
run report text.wsdb
expect_status 2
expect_err 'text.wsdb is not a recording of wallsample'
[ "$(wc -l <"$err")" -eq 1 ] || complain "$what: more than one line"
run report missing.wsdb
expect_status 2
expect_err 'cannot read missing.wsdb: No such file or directory'
rm text.wsdb

# the queries of the manual
if command -v sqlite3 >/dev/null 2>&1; then
	sed -n '/^\.SH EXAMPLES/,/^\.SH SEE/p' "$SOURCE/man/wallsample-recording.5" |
		sed -n '/^\.EX/,/^\.EE/p' | sed 's/\\-/-/g; s/^\.E[XE]$//' >"$dir/queries"
	queries=$(grep -c ';$' "$dir/queries")
	[ "$queries" -ge 10 ] || complain "the manual has only $queries queries"
	what='the queries of the manual'
	sqlite3 -readonly -bail x.wsdb <"$dir/queries" >"$out" 2>"$err" ||
		complain "$what: $(cat "$err")"
	[ "$(wc -l <"$out")" -ge 10 ] || complain "$what: $(cat "$out")"
	[ "$(sqlite3 -readonly x.wsdb 'PRAGMA integrity_check')" = ok ] ||
		complain "$what: no integrity"
	# whoever describes a recording has read all of it
	cp x.wsdb "$dir/names.wsdb"
	sqlite3 "$dir/names.wsdb" "INSERT INTO symbols VALUES(1 << 30, 0, 'f', '', 0, 0, '')"
	run info "$dir/names.wsdb"
	expect_status 2
	expect_err 'is damaged: its names cannot be right'
fi
alone x.wsdb
finish
