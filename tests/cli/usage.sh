#!/bin/sh
# SPDX-License-Identifier: MIT
# Wrong words are answered by one sentence and status 64; help and version go to stdout.
. "${SOURCE:?}/tests/cli/common.sh"

usage 'no process is given'
usage 'no process is given' -d 5
usage "to sample process 1234 say: wallsample -p 1234" 1234
usage 'wallsample --name redis' redis
usage 'wallsample --name recorder' recorder -p 1
usage "'record' must be the first word" -p 1 record
usage '-p is not for wallsample report' report -p 1 x.wsdb
usage 'no recording is given' report
usage 'no recording is given' info
usage '--sort is for reports' -p 1 -o x.wsdb --sort wall
usage '--sort is not for wallsample record' record -p 1 --sort wall
usage 'a recording is a file' record -p 1 -o -
usage 'wallsample report makes' record -p 1 -f folded
usage '--from must be a time before that of --to' report x.wsdb --from 2 --to 1
usage 'is not a time' report x.wsdb --from yesterday
usage 'is not a number or a range' report x.wsdb --parallelism 3-2
usage 'only one of -p PID, --name GLOB and -- CMD' -p 1 --name x
usage 'only one of -p PID, --name GLOB and -- CMD' -p 1 -- true
usage 'a command must follow --' -d 5 --
usage "'x' is not a process id" -p 1,x
usage "'abc' is not a process id" -p abc
usage "'0' is not a process id" -p 0
usage "'99999999999999999999' is not a process id" -p 99999999999999999999
usage '--keep-root goes with -- CMD' -p 1 --keep-root
usage '--stop-all and --nonblocking' -p 1 --stop-all --nonblocking
usage '--realtime has no effect with --nonblocking' -p 1 --realtime --nonblocking
usage '--realtime has no effect with --stop-all' -p 1 --realtime --stop-all
usage '--realtime is not for wallsample dump' dump -p 1 --realtime

usage "did you mean '--duration'?" --dration 5 -p 1
usage "did you mean '--duration'?" --dur=5 -p 1
usage "did you mean '--pid'?" -pid 1
usage "did you mean '-p'?" -P 1
usage "unknown option '--zzzzzzzz'; wallsample --help" --zzzzzzzz
usage "unknown option '-z'; wallsample --help" -qz
usage '-d needs an argument: -d T' -p 1 -d
usage '--rate needs an argument: --rate HZ' -p 1 --rate
usage '--quiet takes no argument' -p 1 --quiet=yes
usage "-d: 'x' is not a time" -p 1 -d x
usage "-d: '0' is not a time" -p 1 -d 0
usage "-d: '-1' is not a time" -p 1 -d -1
usage "from 0.01 to 10000 Hz" -p 1 -r 0
usage "from 0.01 to 10000 Hz" -p 1 -r 10001
usage "-n: '0' is not a whole number" -p 1 -n 0
usage "--max-overhead: '0' is not a number" -p 1 --max-overhead 0
usage "--stack-size: '1' is not a size" -p 1 --stack-size 1
usage "--tid: '1,x' is not a list of thread ids" -p 1 --tid 1,x
usage "--tasks: 'on' is none of auto|off" -p 1 --tasks on
usage "--task: '0' is not a list of tasks" report x.wsdb --task 0
usage "--task: '17;18' is not a list of tasks" report x.wsdb --task '17;18'
usage '--task is not for wallsample record' record -p 1 --task 17
usage '--tasks=off has no tasks, and --task is about them' report x.wsdb --tasks=off --task 17
usage '--tasks=off has no tasks, and --created-by is about them' -p 1 --tasks=off --created-by
usage "--gil: 'all' is none of none, has, wait, handover" -p 1 --gil all
usage "--runtime: 'none' stands alone, not in a list" -p 1 --runtime python,none
usage "'W' is not a state; states are: R running, Q waiting for a CPU" -p 1 --state R,W
usage 'none of auto|libunwind|libdw' -p 1 --unwinder gdb
usage "-I: '(' is not a regular expression: " -p 1 -I '('
usage "-X: '[a' is not a regular expression: " -p 1 -X '[a'
usage "--focus: '(' is not a regular expression: " -p 1 --focus '('
usage '--tree is for the text report, not for folded' -p 1 --tree -f folded
usage '--focus is for the text report, not for folded' -p 1 --focus x -f folded
usage '--full is for the text report, not for folded' -p 1 --full -f folded
for format in perf perf-data hotspot firefox chrome pprof; do
	usage "--by lock has no effect on the format $format: leave it out" -p 1 --by lock -f $format
	usage "-t has no effect on the format $format: leave it out" -p 1 -t -f $format
done
usage '--lines has no effect on the format pprof: leave it out' -p 1 --lines -f pprof
usage '-n has no effect on the format folded: leave it out' -p 1 -n 3 -f folded
usage '-n has no effect on the format json: leave it out' -p 1 -n 3 -f json
usage '--sort has no effect on the format firefox: leave it out' -p 1 --sort cpu -f firefox
usage 'none of wall|cpu|latency' -p 1 --sort load
usage "'pdf' is not a format; there are: text, folded" -p 1 -f pdf
usage "no format has the ending '.pdf'" -p 1 -o x.pdf
usage '-o needs a FILE' -p 1 -o ''
usage "has an unknown '%'" -p 1 -o 'x%q'
usage "a '%{' without its '}'" -p 1 -o '%{HOME'
unset WALLSAMPLE_NOT_SET
usage 'WALLSAMPLE_NOT_SET, which is not set' -p 1 -o '%{WALLSAMPLE_NOT_SET}'
usage '--blame is about time that others waited, which has no latency' --blame --sort latency -p 1
usage '--blame sums up, and chrome shows when things happened' --blame -f chrome -p 1
usage 'is not for wallsample dump' dump --blame -p 1

# foreign bytes do not reach the terminal
usage "unknown option '--\\x1b[31m'" "--$(printf '\033[31m')"
usage "'a\\x0a' is not a process id" -p 'a
'

# The short help fits a terminal, and leads to the whole one.
for command in '' record report dump diff causal info help completion; do
	# shellcheck disable=SC2086
	run $command -h
	expect_status 0
	expect_in "$out" 'Usage: wallsample'
	expect_in "$out" "wallsample ${command:+$command }--help"
	[ "$(wc -l <"$out")" -le 24 ] || complain "$command -h has more than 24 lines"
	[ "$(wc -L <"$out")" -le 80 ] || complain "$command -h is wider than 80 columns"
done
run -h --no-such-option
expect_status 0

run --help
expect_status 0
expect_empty "$err"
expect_in "$out" 'Usage: wallsample'
expect_in "$out" 'Which samples are shown:'
expect_in "$out" 'Examples:'
expect_in "$out" 'Exit status:'
expect_in "$out" '  folded '
expect_not_in "$out" '--unwinder'
[ "$(wc -L <"$out")" -le 80 ] || complain 'the help is wider than 80 columns'
cp "$out" "$dir/help"
run --help --no-such-option
expect_status 0
cmp -s "$out" "$dir/help" || complain 'what follows --help changes it'

run -V
expect_status 0
expect_empty "$err"
grep -qE '^wallsample [0-9]+\.[0-9]+' "$out" || complain "version: $(cat "$out")"

what='wallsample -h >/dev/full'
if [ -c /dev/full ]; then
	"$WALLSAMPLE" -h >/dev/full 2>"$err"
	status=$?
	expect_status 2
	expect_err 'cannot write to stdout: No space left on device'
fi

finish
