#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# wallsample help CMD, and the scripts with which shells complete commands, options and arguments.
. "${SOURCE:?}/tests/cli/common.sh"

run help record
expect_status 0
cp "$out" "$dir/help.record"
run record --help
cmp -s "$dir/help.record" "$out" || complain 'help record is not record --help'
run help nothing
expect_status 64
expect_err 'not a command or topic'

# A topic is a page of the manual, which man(1) shows.
for page in "$SOURCE"/man/wallsample-*.7; do
	topic=${page##*/wallsample-}
	printf '#!/bin/sh\necho "$@"\n' >"$dir/man"
	chmod +x "$dir/man"
	PATH=$dir:$PATH run help "${topic%.7}"
	expect_status 0
	expect_in "$out" "7 wallsample-${topic%.7}"
	run help --help
	expect_in "$out" "${topic%.7}"
done
PATH=$dir/nowhere run help python
expect_status 2
expect_err 'cannot start man'
run completion ksh
expect_status 64
run completion
expect_status 64

# completed WANTED WORDS…: bash completes the last of these words so
completed() {
	wanted=$1
	shift
	COMP_WORDS=("$@")
	COMP_CWORD=$(($# - 1))
	COMPREPLY=()
	_wallsample
	[ "${COMPREPLY[*]}" = "$wanted" ] || complain "bash completes '$*' as '${COMPREPLY[*]}'"
}

run completion bash
expect_status 0
. "$out"
completed 'record report' wallsample re
completed '--sort' wallsample report --so
completed 'wall cpu latency' wallsample report --sort ''
completed 'speedscope' wallsample -f spe
completed '' wallsample record --sor
completed 'causal' wallsample help ca
completed 'python' wallsample help py
completed 'tutorial' wallsample help tu
completed '' wallsample tu
completed 'bash zsh fish' wallsample completion ''
completed '' wallsample --rate 1
touch "$dir/one.wsdb"
completed "$dir/one.wsdb" wallsample report "$dir/one"
completed "$dir/one.wsdb" wallsample -o "$dir/one"
completed 'json' wallsample --format = js
completed 'wsdb' wallsample record -f ''
completed 'coz' wallsample causal -f co
completed '' wallsample diff -f pp
completed '' wallsample help record re
touch "$dir/a b.wsdb"
completed "$dir/a b.wsdb" wallsample report "$dir/a"
COMP_WORDS=(wallsample -p $$)
COMP_CWORD=2
_wallsample
case " ${COMPREPLY[*]} " in
*" $$ "*) ;;
*) complain "bash does not complete -p with $$" ;;
esac

# The name of a process is foreign text: it is completed, and not expanded.
(
	echo '$(touch ran)' >/proc/self/comm 2>/dev/null || printf '%s' '$(touch ran)' >/proc/$BASHPID/comm
	cd "$dir" || exit 1
	COMP_WORDS=(wallsample --name '')
	COMP_CWORD=2
	_wallsample
	[ ! -e ran ] || exit 1
) || complain 'bash runs a command in the name of a process'

# Each option of each command, with its help in zsh and fish.
for shell in bash zsh fish; do
	run completion "$shell"
	cp "$out" "$dir/script.$shell"
	for command in '' record report dump diff causal info; do
		"$WALLSAMPLE" $command --help | sed -n 's/^  \(-., \|    \)\(--[a-z-]*\).*/\2/p'
	done | sort -u | while read -r option; do
		case $shell in
		fish) option="-l ${option#--}" ;;
		esac
		grep -q -e "$option" "$dir/script.$shell" || echo "$shell: $option"
	done >"$dir/lacks"
	[ ! -s "$dir/lacks" ] || complain "missing: $(cat "$dir/lacks")"
done
bash -n "$dir/script.bash" || complain 'bash: wrong syntax'
if command -v zsh >/dev/null; then
	zsh -n "$dir/script.zsh" || complain 'zsh: wrong syntax'
fi
if command -v fish >/dev/null; then
	fish -n "$dir/script.fish" || complain 'fish: wrong syntax'
	words=$(cd "$dir" && fish -c 'source script.fish; complete -C "wallsample report --sor"')
	[ "${words%%	*}" = --sort ] || complain "fish completes --sor as '$words'"
	words=$(cd "$dir" && fish -c 'source script.fish; complete -C "wallsample -p 1 --dur"')
	[ "${words%%	*}" = --duration ] || complain "fish completes -p 1 --dur as '$words'"
fi
finish
