#!/bin/sh
# SPDX-License-Identifier: MIT
# -- CMD ARGS: what the command inherits, whom it runs as, and how its end is told.
. "${SOURCE:?}/tests/cli/common.sh"
needs_ptrace

cd "$dir" || exit 99

what='what a command inherits'
inherited='pwd; umask; ulimit -n; ulimit -Hn; ls /proc/self/fd'
ulimit -n 512
sh -c "$inherited" >expected </dev/null 2>/dev/null
run -o x -- sh -c "$inherited"
cmp -s "$out" expected || complain "$what: $(cat "$out") instead of $(cat expected)"

# neither mask nor dispositions of signals are ours
what='the signals of a command'
for signals in '' 'USR2 PIPE HUP CHLD'; do
	(
		# shellcheck disable=SC2086  # several words
		[ -z "$signals" ] || trap '' $signals
		grep -E '^Sig(Blk|Ign|Cgt)' /proc/self/status >expected
		run -o x -- grep -E '^Sig(Blk|Ign|Cgt)' /proc/self/status
	)
	cmp -s "$out" expected || complain "$what: $(cat "$out") instead of $(cat expected)"
done

run -- "$dir/no-such-command"
expect_status 2
expect_err "cannot run '$dir/no-such-command'"
expect_empty "$out"
run -- no-such-command-anywhere
expect_status 2
expect_err "cannot run 'no-such-command-anywhere': there is no such command in PATH"
run -o no/where -- touch "$dir/ran"
expect_status 2
expect_not_in "$err" 'sampling process'
[ ! -e "$dir/ran" ] || complain "$what: the command was run though nothing could be written"

# A command that goes on is left alone. It does not call exec after it has said who it is: the
# sample of a thread in exec may fail, and one of few is more than 1 %.
mkfifo announced never
"$WALLSAMPLE" -d 100ms -r 1000 -o x.folded -- \
	sh -c 'echo $$; read -r line <never' >announced 2>"$err" &
begun=$!
read -r pid <announced
actors=$pid
wait "$begun"
status=$?
begun=
what='a command that outlives -d'
expect_status 0
expect_err "the command continues as process $pid"
expect_unharmed "$pid" S

# one that job control has stopped is not waited for, nor set going
"$WALLSAMPLE" -d 300ms -r 1000 -o x.folded -- \
	sh -c 'echo $$; kill -STOP $$; read -r line <never' >announced 2>"$err" &
begun=$!
read -r pid <announced
actors="$actors $pid"
wait "$begun"
status=$?
begun=
what='a command that stops itself'
expect_status 0
expect_err "the command continues as process $pid"
expect_unharmed "$pid" T

# A command that ends before the first tick: how it ended is told all the same, and there is
# no report.
ends_at_once() {
	run -r 1 --no-jitter -- sh -c "$1"
	expect_status 2
	expect_empty "$out"
	expect_err "nothing was sampled: the command $2 before it could be sampled"
}

ends_at_once 'exit 7' 'ended with exit status 7'
ends_at_once 'kill -TERM $$' 'was ended by signal 15 (Terminated)'

# ends_with COMMANDS: the command runs them once it has been sampled
ends_with() {
	rm -f gate
	mkfifo gate
	begin -r 1000 -o x.folded -- sh -c "read -r line <gate; $1"
	until_sampled
	echo go >gate
	end_begun
	what="a command that does '$1'"
	expect_err 'wrote folded stacks to x.folded: '
	# of few samples, one of a process that comes to its end may have failed
	[ "$status" -le 1 ] || complain "$what: status $status"
}

ends_with 'exit 3'
expect_err 'the command ended with exit status 3'
ends_with 'kill -TERM $$'
expect_err 'the command was ended by signal 15'
ends_with 'exit 0'
expect_not_in "$err" 'the command '

if is_root; then
	SUDO_UID=65534 SUDO_GID=65534
	export SUDO_UID SUDO_GID
	run -o x -- sh -c 'id -u; id -g; id -G'
	[ "$(tr '\n' ' ' <"$out")" = '65534 65534 65534 ' ] ||
		complain "under sudo it ran as $(cat "$out")"
	run -o x --keep-root -- id -u
	[ "$(cat "$out")" = 0 ] || complain "with --keep-root it ran as $(cat "$out")"
fi

finish
